#include "core/analysis/speedup.h"

namespace pallascope::analysis {

Timed timed(const Report& report)
{
    return {report.chip, report.time, report.band};
}

Timed timed(const Alternative& alternative, const Report& report)
{
    return {report.chip, alternative.time, alternative.band};
}

std::optional<Speedup> speedup(const Timed& one, const Timed& other)
{
    if (one.time <= Picoseconds(0) || other.time <= Picoseconds(0)) {
        return std::nullopt;
    }
    Speedup found{ratio(other.time, one.time), std::nullopt};
    if (!one.band || !other.band) {
        return found;
    }
    const std::optional<double>& off = one.band->support.ratio;
    // Both runs have the same timings as support and, even if these are of "other" work, the same
    // kind of work.
    if (one.chip == other.chip && one.band->work == other.band->work
        && one.band->support == other.band->support && off) {
        found.range = {found.times / (1 + *off), found.times * (1 + *off), off};
    } else {
        const auto share = [](const Band& band) {
            return std::pair(1 + band.support.low, 1 + band.support.high);
        };
        const auto [oneLow, oneHigh] = share(*one.band);
        const auto [otherLow, otherHigh] = share(*other.band);
        found.range = {found.times * otherLow / oneHigh, found.times * otherHigh / oneLow, {}};
    }
    return found;
}

std::string certaintyText(const Alternative& alternative, const Report& report)
{
    const std::optional<Speedup> found = speedup(timed(alternative, report), timed(report));
    if (!found || !found->range) {
        return {};
    }
    return !found->isSure()        ? "too close for the model to tell"
           : found->range->low > 1 ? "surely faster"
                                   : "surely slower";
}

} // namespace pallascope::analysis
