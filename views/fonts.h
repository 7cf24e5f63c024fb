// Loads the bundled fonts. Views never use the system's fonts: pictures and windows look the same
// everywhere, and figures are tabular, so that numbers that change keep their width.
#pragma once

#include "views/layout/scene/scene.h"

#include <QFont>
#include <QString>

#include <string_view>

namespace pallascope::views {

// Needs a QGuiApplication. The first call loads the fonts.
[[nodiscard]] QFont font(int pixelSize, layout::Weight weight = layout::Weight::Regular);

// Scenes and traces hold UTF-8; this makes Qt's text of it.
[[nodiscard]] QString text(std::string_view utf8);

} // namespace pallascope::views
