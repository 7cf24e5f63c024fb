// The head of a picture with its title and caption: two rows (42 px), or one row (26 px) if the
// picture is wider than 900 px.
#pragma once

#include "views/layout/scene/scene.h"

namespace pallascope::layout {

// The scene of a view with its head on top; the content moves down.
[[nodiscard]] Scene withHeader(const Scene& content);
[[nodiscard]] double headerHeight(double width);

} // namespace pallascope::layout
