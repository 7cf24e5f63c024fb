// The look of ordinary widgets: Fusion with a palette and a short style sheet, both made from the
// theme table, so that fields and menus share the colours of the views.
#pragma once

#include "views/layout/theme.h"

#include <QPalette>
#include <QString>

namespace pallascope::views {

[[nodiscard]] QPalette palette(layout::Theme theme);
[[nodiscard]] QString styleSheet(layout::Theme theme);

} // namespace pallascope::views
