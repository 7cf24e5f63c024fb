#include "core/analysis/figures.h"

#include "core/analysis/band.h"
#include "core/analysis/speedup.h"
#include "core/base/format.h"

#include <cmath>
#include <fmt/format.h>

namespace pallascope::analysis {

namespace {

Figure timeFigure(const char* name, const char* key, Picoseconds a, Picoseconds b)
{
    return {name, key, toSeconds(a).value(), toSeconds(b).value(), timeText(a), timeText(b)};
}

Figure asCounted(Figure figure)
{
    figure.isCounted = true;
    return figure;
}

Figure bytesFigure(const char* name, const char* key, Bytes a, Bytes b)
{
    return asCounted({name, key, static_cast<double>(a.value()), static_cast<double>(b.value()),
                      bytesText(a), bytesText(b)});
}

Figure rare(Figure figure)
{
    figure.always = false;
    return figure;
}

Figure neither(Figure figure)
{
    figure.better = Figure::Better::Neither;
    return figure;
}

// Says why the range is what it is.
std::string reasonText(const Report& a, const Report& b, const Speedup::Range& range)
{
    if (range.ratio) {
        return fmt::format("as ratios of {} are off by up to {}", timingsText(*a.band),
                           percentText(*range.ratio, 1));
    }
    const bool isOneChip = a.chip == b.chip;
    const bool isOneKind = a.band->work == b.band->work;
    return fmt::format("by the bands of both together, as {}",
                       !isOneChip   ? "they are of different chips"
                       : !isOneKind ? "they are different kinds of work"
                                    : "no timings say how far their ratio is off");
}

} // namespace

std::vector<Figure> figuresOf(const Report& a, const Report& b)
{
    const auto split = [&](const char* name, const char* key, Picoseconds TimeSplit::*part) {
        return timeFigure(name, key, a.split.*part, b.split.*part);
    };
    // Grids of GPUs are of blocks, which no pipeline steps through.
    const auto ofSteps = [&](Figure figure) {
        return a.isGpu && b.isGpu ? rare(std::move(figure)) : figure;
    };
    return {
        timeFigure("time", "time_s", a.time, b.time),
        ofSteps(neither(
            asCounted({"steps", "steps", static_cast<double>(a.steps), static_cast<double>(b.steps),
                       countText(a.steps), countText(b.steps)}))),
        split("compute", "time_split_s.compute", &TimeSplit::compute),
        split("exposed copies", "time_split_s.exposed_copies", &TimeSplit::exposedCopies),
        ofSteps(split("step overhead", "time_split_s.step_overhead", &TimeSplit::stepOverhead)),
        ofSteps(split("prologue", "time_split_s.prologue", &TimeSplit::prologue)),
        ofSteps(split("epilogue", "time_split_s.epilogue", &TimeSplit::epilogue)),
        rare(split("launches", "time_split_s.launches", &TimeSplit::launches)),
        rare(split("fusions", "time_split_s.fusions", &TimeSplit::fusions)),
        rare(split("waits for products", "time_split_s.products", &TimeSplit::products)),
        rare(split("waits for other agents", "time_split_s.other_agents", &TimeSplit::otherAgents)),
        rare(split("idle", "time_split_s.idle", &TimeSplit::idle)),
        bytesFigure("HBM read", "hbm_read_bytes", a.hbmRead, b.hbmRead),
        bytesFigure("HBM written", "hbm_write_bytes", a.hbmWritten, b.hbmWritten),
        neither(bytesFigure(a.isGpu != b.isGpu ? "on chip"
                            : a.isGpu          ? "SMEM of an SM"
                                               : "VMEM",
                            "vmem_peak_bytes", a.vmemPeak, b.vmemPeak)),
        {"of peak", "utilization", a.utilization, b.utilization, percentText(a.utilization, 1),
         percentText(b.utilization, 1), Figure::Better::More}};
}

std::string changeText(const Figure& figure)
{
    if (figure.a == figure.b) {
        return "same";
    }
    if (figure.a == 0) {
        return "new";
    }
    const double percent = 100 * (figure.b / figure.a - 1);
    return std::abs(percent) < 0.05 ? "under 0.1 %" : fmt::format("{:+.1f} %", percent);
}

std::string fasterText(const Report& a, const Report& b, RunNames names)
{
    if (a.isStopped() || b.isStopped()) {
        return fmt::format("{} stopped at a finding, so neither is called faster",
                           a.isStopped() && b.isStopped()
                               ? fmt::format("{} and {}", names.a, names.b)
                               : std::string(a.isStopped() ? names.a : names.b));
    }
    const bool isA = a.time < b.time;
    const std::optional<Speedup> speedup =
        isA ? analysis::speedup(timed(a), timed(b)) : analysis::speedup(timed(b), timed(a));
    if (!speedup || a.time == b.time) {
        return fmt::format("{} and {} take equally long", names.a, names.b);
    }
    const std::string head = fmt::format("{} is {} times as fast as {}", isA ? names.a : names.b,
                                         significant(speedup->times, 3), isA ? names.b : names.a);
    if (!speedup->range) {
        return head + "; no timings say how far that is off";
    }
    return fmt::format("{}, {}: {} to {} times, {}", head,
                       speedup->isSure() ? "surely"
                                         : "which is within what the model cannot tell apart",
                       significant(speedup->range->low, 3), significant(speedup->range->high, 3),
                       reasonText(a, b, *speedup->range));
}

} // namespace pallascope::analysis
