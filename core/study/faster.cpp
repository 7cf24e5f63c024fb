// Writes, as text and JSON, how many times as fast one run is and how sure that is.
#include "core/study/faster.h"

#include "core/analysis/band.h"
#include "core/analysis/figures.h"
#include "core/analysis/speedup.h"
#include "core/base/format.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace pallascope::study {

namespace {

using Json = nlohmann::ordered_json;

// How many times as fast the faster run is, at least 1.
std::optional<analysis::Speedup> speedupOf(const Comparison& comparison)
{
    const analysis::Timed a = analysis::timed(comparison.a), b = analysis::timed(comparison.b);
    return a.time < b.time ? analysis::speedup(a, b) : analysis::speedup(b, a);
}

} // namespace

std::string bandLines(const analysis::Report& a, const analysis::Report& b, std::size_t width)
{
    if (!a.band && !b.band) {
        return {};
    }
    const auto line = [&](const char* name, Picoseconds analysis::Band::*end) {
        const auto cell = [&](const analysis::Report& report) {
            return report.band ? timeText((*report.band).*end) : std::string("-");
        };
        return fmt::format("{:<{}} {:>12} {:>12}\n", name, width, cell(a), cell(b));
    };
    return line("  from", &analysis::Band::low) + line("  to", &analysis::Band::high);
}

std::string fasterText(const Comparison& comparison)
{
    return analysis::fasterText(comparison.a, comparison.b) + ".\n";
}

std::string fasterJson(const Comparison& comparison)
{
    const std::optional<analysis::Speedup> speedup = speedupOf(comparison);
    if (!speedup || comparison.a.isStopped() || comparison.b.isStopped()) {
        return "null";
    }
    const bool isA = comparison.a.time < comparison.b.time;
    const bool isSame = comparison.a.time == comparison.b.time;
    Json json = {{"run", isSame ? Json(nullptr) : Json(isA ? "a" : "b")},
                 {"times", speedup->times},
                 {"low", nullptr},
                 {"high", nullptr},
                 {"surely", nullptr},
                 {"ratio", nullptr}};
    if (speedup->range) {
        json["low"] = speedup->range->low;
        json["high"] = speedup->range->high;
        json["surely"] = speedup->isSure();
        json["ratio"] = speedup->range->ratio ? Json(*speedup->range->ratio) : Json(nullptr);
    }
    return json.dump();
}

} // namespace pallascope::study
