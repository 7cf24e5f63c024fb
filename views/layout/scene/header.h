// The head of a picture: title and caption on two rows (42 px), on one (26 px) when the picture is
// wider than 900 px.
#pragma once

#include "views/layout/scene/scene.h"

namespace pallascope::layout {

// A view's content below its head.
[[nodiscard]] Scene withHeader(const Scene& content);
[[nodiscard]] double headerHeight(double width);

} // namespace pallascope::layout
