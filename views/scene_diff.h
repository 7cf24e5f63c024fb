// What changed between two scenes of one view, so that a frame repaints only that: while playing,
// most of a view stands still.
#pragma once

#include "views/layout/scene/scene.h"

#include <QRectF>
#include <QRegion>

namespace pallascope::views {

// What an item covers, antialiasing and line width included; text gets a margin for overhangs. Clip
// items cover everything.
[[nodiscard]] QRectF bounds(const layout::Item& item);

// The region to repaint when `after` replaces `before`; empty when both look the same.
[[nodiscard]] QRegion changed(const layout::Scene& before, const layout::Scene& after);

} // namespace pallascope::views
