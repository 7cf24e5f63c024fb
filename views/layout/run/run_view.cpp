#include "views/layout/run/run_view.h"

#include <algorithm>

namespace pallascope::layout {

namespace {

constexpr std::size_t kFramedSteps = 4;

// The range of `count` steps from `first` on, with a little of the next step, which shows that the
// run goes on.
TimeRange frameOf(const trace::Trace& trace, const trace::LeadingSteps& leading, std::size_t first,
                  std::size_t count)
{
    const trace::Steps& steps = trace.steps();
    const auto row = [&](std::size_t number) { return leading.row(number).index(); };
    const std::size_t last = std::min(leading.size(), first + count) - 1;
    const std::int64_t begin = first == 0 ? 0 : steps.begin[row(first)];
    std::int64_t end = steps.end[row(last)];
    if (last + 1 < leading.size()) {
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
    return frameOf(trace, trace::LeadingSteps(trace), 0, kFramedSteps);
}

TimeRange frameAround(const trace::Trace& trace, Picoseconds t)
{
    const trace::LeadingSteps leading(trace);
    if (leading.size() == 0) {
        return firstFrame(trace);
    }
    // The frame has one step before the current one and two after it, because what comes next
    // matters more.
    const std::size_t at = leading.at(t);
    const std::size_t latest = leading.size() > kFramedSteps ? leading.size() - kFramedSteps : 0;
    return frameOf(trace, leading, std::min(at > 0 ? at - 1 : 0, latest), kFramedSteps);
}

} // namespace pallascope::layout
