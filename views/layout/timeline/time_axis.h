// The axis of the time line, for zooming, panning and clicks.
#pragma once

#include "views/layout/run/kept_run.h"
#include "views/layout/run/run_view.h"

#include <memory>

namespace pallascope::layout {

// Converts between x and time within the plot.
struct TimeAxis
{
    double left = 0, width = 1; // px
    TimeRange range;            // of times of its run
    // Where times lie on the axis that two runs share (KeptRun::bySteps), and what of that axis is
    // in sight. Null and unused where places are times.
    std::shared_ptr<const Alignment> alignment{};
    TimeRange places{};

    [[nodiscard]] double toX(Picoseconds t) const;
    [[nodiscard]] Picoseconds toTime(double x) const;
};

[[nodiscard]] TimeAxis timelineAxis(const ViewState& state, Size size);
// The same part of the axis for the kept run.
[[nodiscard]] TimeAxis keptAxis(const ViewState& state, Size size);
// The range after zooming by `factor` (over 1: closer) while the time under x stays there, and the
// range after panning by px. Both stay inside the run and keep at least 1 ns.
[[nodiscard]] TimeRange zoomed(const TimeAxis& axis, double x, double factor, Picoseconds end);
[[nodiscard]] TimeRange panned(const TimeAxis& axis, double px, Picoseconds end);

} // namespace pallascope::layout
