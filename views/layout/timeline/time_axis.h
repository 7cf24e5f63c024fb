// The time line's axis, for zoom, pan and clicks.
#pragma once

#include "views/layout/run/run_view.h"

namespace pallascope::layout {

// x <-> time within the plot.
struct TimeAxis
{
    double left = 0, width = 1; // px
    TimeRange range;
    [[nodiscard]] double toX(Picoseconds t) const;
    [[nodiscard]] Picoseconds toTime(double x) const;
};

[[nodiscard]] TimeAxis timelineAxis(const ViewState& state, Size size);
// Zoom by `factor` (> 1: closer) keeping the time under x; pan by px. Clamped to the run, at least
// 1 ns.
[[nodiscard]] TimeRange zoomed(const TimeAxis& axis, double x, double factor, Picoseconds end);
[[nodiscard]] TimeRange panned(const TimeAxis& axis, double px, Picoseconds end);

} // namespace pallascope::layout
