#include "views/navigation/ranges.h"

#include "views/layout/timeline/time_axis.h"
#include "views/navigation/times.h"

#include <algorithm>

namespace pallascope::navigation {

using layout::RunView;
using layout::TimeRange;
using layout::ViewState;

namespace {

// Of a time line whose zoom and pan are shares of its width.
constexpr layout::Size kAnySize{1124, 200};

} // namespace

NextRange zoomedBy(double factor)
{
    return [factor](const RunView& run, const ViewState& state) {
        const layout::TimeAxis axis = layout::timelineAxis(state, kAnySize);
        const double x = axis.toX(state.now);
        const bool inView = x >= axis.left && x <= axis.left + axis.width;
        return layout::zoomed(axis, inView ? x : axis.left + axis.width / 2, factor,
                              layout::axisEnd(run, state));
    };
}

NextRange pannedBy(double share)
{
    return [share](const RunView& run, const ViewState& state) {
        const layout::TimeAxis axis = layout::timelineAxis(state, kAnySize);
        return layout::panned(axis, -share * axis.width, layout::axisEnd(run, state));
    };
}

NextRange framed(Frame frame)
{
    return [frame](const RunView& run, const ViewState& state) {
        switch (frame) {
        case Frame::Operation:
            return stepRange(*run.index, state.now);
        case Frame::Steps:
            return layout::frameAround(*run.trace, state.now);
        case Frame::Run:
            break;
        }
        return TimeRange{Picoseconds(0), layout::axisEnd(run, state)};
    };
}

TimeRange within(const RunView& run, const ViewState& state, Picoseconds begin, Picoseconds length)
{
    const Picoseconds end = layout::axisEnd(run, state);
    length = std::min(length, end);
    begin = std::clamp(begin, Picoseconds(0), end - length);
    return {begin, begin + length};
}

} // namespace pallascope::navigation
