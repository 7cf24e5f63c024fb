#include "core/analysis/band.h"

#include <algorithm>
#include <cmath>

namespace pallascope::analysis {

std::string workOf(const Report& report, const chip::Chip& chip)
{
    constexpr double kMostOfAttention = 2048; // FLOPs for each transcendental
    double flops = 0;
    for (const auto& [name, count] : report.flopsByUnit) {
        const bool isMatrix =
            std::any_of(chip.units.begin(), chip.units.end(), [&](const chip::Unit& unit) {
                return unit.name == name && unit.kind == chip::UnitKind::Matrix;
            });
        flops += isMatrix ? static_cast<double>(count.value()) : 0;
    }
    if (flops == 0) {
        return "other";
    }
    const bool attends = static_cast<double>(report.transcendentals) * kMostOfAttention >= flops;
    return attends ? "attention" : "products";
}

std::optional<Band> bandOf(const Report& report, const chip::Chip& chip)
{
    const auto known = [&](const std::string& work) {
        return std::find_if(chip.residuals.begin(), chip.residuals.end(),
                            [&](const chip::Residual& one) { return one.work == work; });
    };
    const std::string work = workOf(report, chip);
    auto found = known(work);
    found = found == chip.residuals.end() ? known("other") : found;
    if (found == chip.residuals.end() || report.time == Picoseconds(0)) {
        return std::nullopt;
    }
    const auto scaled = [&](double share) {
        const double time = static_cast<double>(report.time.value()) * (1 + share);
        constexpr double kMost = 9e18; // of an int64
        return Picoseconds(static_cast<std::int64_t>(std::min(std::round(time), kMost)));
    };
    return Band{scaled(found->low), scaled(found->high), *found};
}

} // namespace pallascope::analysis
