// Writes what a tooltip says about a ceiling of the roofline.
#include "core/base/format.h"
#include "views/layout/roofline/levels.h"
#include "views/layout/tooltip/parts.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout::tips {

namespace {

// How long the units of a ceiling have been busy, on average of all.
Lines busyLines(const RunView& run, const std::string& unit, Picoseconds now)
{
    const std::vector<trace::Unit>& units = run.trace->info().units;
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (units[i].name == unit && now > Picoseconds(0)) {
            const Picoseconds all = run.index->unitBusy(trace::UnitRow::at(i), now);
            const Picoseconds busy(all.value()
                                   / run.index->agents().unitCount(trace::UnitRow::at(i)));
            return {unit + " busy " + timeText(busy) + " so far, "
                        + percentText(ratio(busy, now), 1),
                    countText(busy.value()) + " ps of " + countText(now.value()) + " ps"};
        }
    }
    return {};
}

} // namespace

Lines ceilingLines(const RunView& run, const analysis::Ceiling& ceiling, Picoseconds now)
{
    const double rate = ceiling.datasheet.value();
    Lines lines = {ceiling.name + ", at most " + bandwidthText(rate)};
    if (const auto& peak = run.report.roofline.peak) {
        lines.push_back("reaches the peak at " + intensityText(peak->flopsPerSecond / rate)
                        + " FLOP per byte");
    }
    const double bytes = roofline::movedOver(run, ceiling, now);
    if (bytes <= 0) {
        const Lines busy = busyLines(run, ceiling.of, now);
        lines.insert(lines.end(), busy.begin(), busy.end());
        return lines;
    }
    const double flops = run.index->flops(now);
    const double seconds = toSeconds(now).value();
    lines.push_back("so far " + intensityText(flops / bytes) + " FLOP per byte, "
                    + bandwidthText(bytes / seconds) + ", " + percentText(bytes / seconds / rate, 1)
                    + " of it");
    lines.push_back(countText(std::llround(flops)) + " FLOPs, " + countText(std::llround(bytes))
                    + " bytes");
    return lines;
}

} // namespace pallascope::layout::tips
