#include "views/navigation/times_of_events.h"

#include "core/trace/columns.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pallascope::navigation {

std::vector<std::int64_t> sortedOnce(std::vector<std::int64_t> times)
{
    if (!std::is_sorted(times.begin(), times.end())) { // several links or agents mix their times
        std::sort(times.begin(), times.end());
    }
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
}

std::optional<std::int64_t> firstAfter(const std::vector<std::int64_t>& times, std::int64_t t)
{
    const auto it = std::upper_bound(times.begin(), times.end(), t);
    return it == times.end() ? std::nullopt : std::optional(*it);
}

std::optional<std::int64_t> lastBefore(const std::vector<std::int64_t>& times, std::int64_t t)
{
    const auto it = std::lower_bound(times.begin(), times.end(), t);
    return it == times.begin() ? std::nullopt : std::optional(*(it - 1));
}

// Columns are nearly sorted, and most ends are also begins, so merging one after the other is
// cheap.
std::vector<std::int64_t> timesOfEvents(const trace::Trace& trace)
{
    std::vector<std::int64_t> segmentEnds;
    for (std::size_t row = 0; row < trace.segments().size(); ++row) {
        const auto id = trace::at(trace.segments().templateId[row]);
        segmentEnds.push_back(trace.segments().begin[row]
                              + trace.info().templates[id].duration.value());
    }
    const trace::Steps& steps = trace.steps();
    const trace::Copies& copies = trace.copies();
    std::vector<std::int64_t> times{0};
    for (const auto* column : {&steps.begin, &steps.bodyBegin, &steps.bodyEnd, &steps.end,
                               &trace.segments().begin, &std::as_const(segmentEnds), &copies.issue,
                               &copies.start, &copies.end, &trace.waits().begin, &trace.waits().end,
                               &trace.rounds().begin, &trace.rounds().end, &trace.signals().time}) {
        const std::vector<std::int64_t> more = sortedOnce(*column);
        std::vector<std::int64_t> merged;
        merged.reserve(times.size() + more.size());
        std::set_union(times.begin(), times.end(), more.begin(), more.end(),
                       std::back_inserter(merged));
        times = std::move(merged);
    }
    return times;
}

} // namespace pallascope::navigation
