// The bundled fonts, never the system's: pictures and windows look the same everywhere, and figures
// are tabular, so that live numbers keep their width.
#pragma once

#include "views/layout/scene/scene.h"

#include <QFont>
#include <QString>

#include <string_view>

namespace pallascope::views {

// Needs a QGuiApplication. The fonts are loaded on the first call.
[[nodiscard]] QFont font(int pixelSize, layout::Weight weight = layout::Weight::Regular);

// Scenes and traces hold UTF-8.
[[nodiscard]] QString text(std::string_view utf8);

} // namespace pallascope::views
