#include "views/layout/run/run_view.h"

#include <algorithm>

namespace pallascope::layout {

namespace {

constexpr std::size_t kFramedSteps = 4;

// The range of `count` steps from `first` on, with a little of the next step, which shows that the
// run goes on.
TimeRange frameOf(const trace::Trace& trace, std::size_t first, std::size_t count)
{
    const trace::Steps& steps = trace.steps();
    const std::size_t last = std::min(steps.size(), first + count) - 1;
    const std::int64_t begin = first == 0 ? 0 : steps.begin[first];
    std::int64_t end = steps.end[last];
    if (last + 1 < steps.size()) {
        end += (end - begin) / static_cast<std::int64_t>(count * 6);
    } else {
        end = trace.end().value();
    }
    return {Picoseconds(begin), Picoseconds(std::max(begin + 1, end))};
}

} // namespace

TimeRange firstFrame(const trace::Trace& trace)
{
    if (trace.steps().size() == 0) {
        return {Picoseconds(0), std::max(Picoseconds(1), trace.end())};
    }
    return frameOf(trace, 0, kFramedSteps);
}

TimeRange frameAround(const trace::Trace& trace, Picoseconds t)
{
    const std::int32_t step = trace::stepAt(trace, t);
    if (step == trace::kNone) {
        return firstFrame(trace);
    }
    // The frame has one step before the current one and two after it, because what comes next
    // matters more.
    const auto size = trace.steps().size();
    const auto at = static_cast<std::size_t>(step);
    const std::size_t latest = size > kFramedSteps ? size - kFramedSteps : 0;
    return frameOf(trace, std::min(at > 0 ? at - 1 : 0, latest), kFramedSteps);
}

} // namespace pallascope::layout
