// Writes, as text and JSON, how many times as fast one run is and how sure that is.
#include "core/study/faster.h"

#include "core/analysis/band.h"
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

// Says why the range is what it is.
std::string reasonText(const Comparison& comparison, const analysis::Speedup::Range& range)
{
    const analysis::Band& a = *comparison.a.band;
    if (range.ratio) {
        return fmt::format("as ratios of {} are off by up to {}", analysis::timingsText(a),
                           percentText(*range.ratio, 1));
    }
    const bool isOneChip = comparison.a.chip == comparison.b.chip;
    const bool isOneKind = a.work == comparison.b.band->work;
    return fmt::format("by the bands of both together, as {}",
                       !isOneChip   ? "they are of different chips"
                       : !isOneKind ? "they are different kinds of work"
                                    : "no timings say how far their ratio is off");
}

} // namespace

std::string bandLines(const analysis::Report& a, const analysis::Report& b)
{
    if (!a.band && !b.band) {
        return {};
    }
    const auto line = [&](const char* name, Picoseconds analysis::Band::*end) {
        const auto cell = [&](const analysis::Report& report) {
            return report.band ? timeText((*report.band).*end) : std::string("-");
        };
        return fmt::format("{:<15} {:>12} {:>12}\n", name, cell(a), cell(b));
    };
    return line("  from", &analysis::Band::low) + line("  to", &analysis::Band::high);
}

std::string fasterText(const Comparison& comparison)
{
    const std::optional<analysis::Speedup> speedup = speedupOf(comparison);
    if (!speedup || comparison.a.time == comparison.b.time) {
        return "A and B take as long.\n";
    }
    const bool isA = comparison.a.time < comparison.b.time;
    const std::string head = fmt::format("{} is {} times as fast as {}", isA ? "A" : "B",
                                         significant(speedup->times, 3), isA ? "B" : "A");
    if (!speedup->range) {
        return head + "; no timings say how far that is off.\n";
    }
    return fmt::format("{}, {}: {} to {} times, {}.\n", head,
                       speedup->isSure() ? "surely"
                                         : "which is within what the model cannot tell apart",
                       significant(speedup->range->low, 3), significant(speedup->range->high, 3),
                       reasonText(comparison, *speedup->range));
}

std::string fasterJson(const Comparison& comparison)
{
    const std::optional<analysis::Speedup> speedup = speedupOf(comparison);
    if (!speedup) {
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
