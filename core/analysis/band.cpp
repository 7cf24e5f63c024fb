#include "core/analysis/band.h"

#include "core/base/format.h"

#include <nlohmann/json.hpp>

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
                return unit.name == name && unit.kind == UnitKind::Matrix;
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
    return bandOf(report.time, work, *found);
}

Band bandOf(Picoseconds time, const std::string& work, const chip::Residual& support)
{
    const auto scaled = [&](double share) {
        constexpr double kMost = 9e18; // within int64
        const double at = static_cast<double>(time.value()) * (1 + share);
        return Picoseconds(static_cast<std::int64_t>(std::clamp(std::round(at), -kMost, kMost)));
    };
    return {scaled(support.low), scaled(support.high), work, support};
}

std::string bandText(const Band& band)
{
    return timeText(band.low) + " to " + timeText(band.high);
}

std::string timingsText(const Band& band)
{
    return counted(band.support.rows, "timing", "timings") + " of " + band.support.work
           + (band.support.work == "other" ? " work" : "");
}

std::string supportText(const Band& band, const std::string& chip)
{
    constexpr std::int64_t kFew = 10; // nine tenths of fewer are all of them
    const std::string most = band.support.rows < kFew ? "all of " : "9 of 10 of ";
    if (band.support.work != "other") {
        return most + timingsText(band) + " on " + chip + " lie within";
    }
    const std::string none =
        band.work == "other" ? "" : "; none on " + chip + " is of " + band.work;
    return most + timingsText(band) + " lie as near" + none;
}

std::string supportJson(const std::optional<Band>& band)
{
    nlohmann::ordered_json json;
    if (band) {
        const chip::Residual& support = band->support;
        json = {{"kind", band->work},      {"work", support.work}, {"timings", support.rows},
                {"low", support.low},      {"high", support.high}, {"ratio", nullptr},
                {"source", support.source}};
        if (support.ratio) {
            json["ratio"] = *support.ratio;
        }
    }
    return json.dump();
}

} // namespace pallascope::analysis
