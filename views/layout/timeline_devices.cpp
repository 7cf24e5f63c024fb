// Lanes of one device each, where several devices run a program. Their rows are few: they are
// looked at one by one.
#include "views/layout/timeline.h"
#include "views/layout/timeline_plot.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout::timeline {

namespace {

constexpr std::size_t kMostRows = 20'000;

// Calls f(row) for each copy of the lane's device that takes time.
template<class F>
void forCopies(const trace::Trace& trace, const Lane& lane, F f)
{
    const trace::Info& info = trace.info();
    const trace::Copies& copies = trace.copies();
    const std::size_t each = info.links.size() / static_cast<std::size_t>(info.deviceCount());
    for (std::size_t row = 0; row < copies.size(); ++row) {
        const std::size_t device = static_cast<std::size_t>(copies.link[row]) / each;
        if (device == static_cast<std::size_t>(lane.device)
            && copies.start[row] < copies.end[row]) {
            f(row);
        }
    }
}

} // namespace

bool hasDeviceLanes(const trace::Trace& trace)
{
    const auto devices = static_cast<std::size_t>(trace.info().deviceCount());
    return devices > 1 && trace.info().agents.size() >= devices // a file may say otherwise
           && trace.copies().size() + trace.waits().size() <= kMostRows;
}

Picoseconds deviceBusy(const trace::Trace& trace, const Lane& lane, Picoseconds t)
{
    std::int64_t sum = 0, last = 0; // what several links do at once counts once
    forCopies(trace, lane, [&](std::size_t row) {
        const std::int64_t from = std::max(trace.copies().start[row], last);
        const std::int64_t to = std::min(trace.copies().end[row], t.value());
        sum += std::max<std::int64_t>(0, to - from);
        last = std::max(last, to);
    });
    return Picoseconds(sum);
}

std::vector<Bar> deviceBars(const trace::Trace& trace, const Lane& lane, const TimeAxis& axis)
{
    const trace::Copies& copies = trace.copies();
    const Plot plot(axis);
    std::vector<Bar> bars;
    forCopies(trace, lane, [&](std::size_t row) {
        if (copies.end[row] <= plot.begin || copies.start[row] >= plot.end) {
            return;
        }
        Bar bar;
        bar.begin = copies.start[row];
        bar.end = copies.end[row];
        bar.target = {TargetKind::Copy, static_cast<std::int64_t>(row), -1};
        bar.color = operandRole(copies.operand[row]);
        bar.labels = {trace::copyName(trace, row)};
        (void)append(bars, plot, std::move(bar));
    });
    return bars;
}

} // namespace pallascope::layout::timeline
