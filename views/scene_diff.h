// Finds what changed between two scenes of one view, so that a frame repaints only that. While a
// run plays, most of a view stands still.
#pragma once

#include "views/layout/scene/scene.h"

#include <QRectF>
#include <QRegion>

namespace pallascope::views {

// The rectangle that an item covers, including antialiasing and line width; text gets a margin for
// overhangs. A clip item counts as covering everything.
[[nodiscard]] QRectF bounds(const layout::Item& item);

// The region to repaint when `after` replaces `before`. It is empty if both look the same.
[[nodiscard]] QRegion changed(const layout::Scene& before, const layout::Scene& after);

} // namespace pallascope::views
