// Lanes of one device each, where several devices run a program, or of one core each. Their rows
// are few: they are looked at one by one.
#include "core/analysis/report.h"
#include "core/base/format.h"
#include "views/layout/timeline.h"
#include "views/layout/timeline_plot.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout::timeline {

namespace {

constexpr std::size_t kMostRows = 20'000;

// Calls f(row, begin, end) for each copy, or wait, of the lane's device or core that takes time.
template<class F>
void forRows(const trace::Trace& trace, const Lane& lane, F f)
{
    const trace::Info& info = trace.info();
    const auto devices = static_cast<std::size_t>(info.deviceCount());
    const bool byCore = lane.kind == LaneKind::CoreWait;
    const auto number = static_cast<std::size_t>(byCore ? lane.core : lane.device);
    const bool waits = lane.kind != LaneKind::DeviceCopy;
    const std::vector<std::int32_t>& owner = waits ? trace.waits().agent : trace.copies().link;
    const auto& begin = waits ? trace.waits().begin : trace.copies().start;
    const auto& end = waits ? trace.waits().end : trace.copies().end;
    const std::size_t each =
        byCore ? 1 : (waits ? info.agents.size() : info.links.size()) / devices;
    for (std::size_t row = 0; row < owner.size(); ++row) {
        if (static_cast<std::size_t>(owner[row]) / each == number && begin[row] < end[row]) {
            f(row, begin[row], end[row]);
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

bool hasCoreWaits(const trace::Trace& trace)
{
    return trace.info().deviceCount() == 1 && analysis::agentsUsed(trace.info()) > 1
           && trace.waits().size() <= kMostRows;
}

Picoseconds deviceBusy(const trace::Trace& trace, const Lane& lane, Picoseconds t)
{
    std::int64_t sum = 0, last = 0; // what several links do at once counts once
    forRows(trace, lane, [&](std::size_t, std::int64_t begin, std::int64_t end) {
        const std::int64_t from = std::max(begin, last), to = std::min(end, t.value());
        sum += std::max<std::int64_t>(0, to - from);
        last = std::max(last, to);
    });
    return Picoseconds(sum);
}

std::vector<Bar> deviceBars(const trace::Trace& trace, const Lane& lane, const TimeAxis& axis)
{
    const bool waits = lane.kind != LaneKind::DeviceCopy;
    const Plot plot(axis);
    std::vector<Bar> bars;
    forRows(trace, lane, [&](std::size_t row, std::int64_t begin, std::int64_t end) {
        if (end <= plot.begin || begin >= plot.end) {
            return;
        }
        Bar bar;
        bar.begin = begin;
        bar.end = end;
        bar.target = {waits ? TargetKind::Wait : TargetKind::Copy, static_cast<std::int64_t>(row),
                      -1};
        bar.color = Role::Wait;
        const std::string name = waits ? trace::awaitedName(trace, static_cast<std::int32_t>(row))
                                       : trace::copyName(trace, row);
        if (waits) {
            const std::string time = timeText(Picoseconds(end - begin));
            bar.labels = name.empty()
                             ? std::vector{time}
                             : std::vector{"for " + name + " " + time, "for " + name, time};
        } else {
            bar.labels = {name};
            bar.color = operandRole(trace.copies().operand[row]);
        }
        (void)append(bars, plot, std::move(bar));
    });
    return bars;
}

} // namespace pallascope::layout::timeline
