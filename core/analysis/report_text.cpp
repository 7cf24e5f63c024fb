#include "core/analysis/report.h"
#include "core/base/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::analysis {

namespace {

std::string timeLine(const Report& report, const trace::Info& info)
{
    std::string text = fmt::format("{} on {}: {}, {}", report.kernel, info.chipName,
                                   timeText(report.time), counted(report.steps, "step", "steps"));
    if (report.roofline.peak) {
        text += fmt::format(", {}, {} of the {} peak of {}", flopRateText(report.flopsPerSecond),
                            percentText(report.utilization, 1), report.roofline.peak->name,
                            flopRateText(report.peakFlopsPerSecond));
    }
    const trace::Check& check = report.check;
    if (check.checked) {
        const std::string error =
            std::isfinite(check.maxRelError)
                ? fmt::format("error {:.2g} of the largest value", check.maxRelError)
                : std::string("it holds NaN or infinity");
        text += fmt::format("; result {}: {} ({})", check.passed ? "checked" : "WRONG", error,
                            check.method);
    }
    return text;
}

// Copies by hand of the same arrays, from several places of a program, as one.
std::vector<Traffic> byArrays(const std::vector<Traffic>& rows)
{
    std::vector<Traffic> all;
    for (const Traffic& row : rows) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const Traffic& one) {
            return one.operand == row.operand && one.way == row.way;
        });
        if (same == all.end()) {
            all.push_back(row);
            continue;
        }
        same->copies += row.copies;
        same->bytes += row.bytes;
        same->refetchFactor += row.refetchFactor;
    }
    return all;
}

std::string trafficLine(const Report& report)
{
    constexpr std::array kWays{"read", "written", "moved on chip"};
    std::string text = "copies  ";
    const std::vector<Traffic> rows = byArrays(report.traffic);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Traffic& row = rows[i];
        text += fmt::format("{}{} {} {} in {} ({:.3g}\u00d7 its array)", i > 0 ? ", " : "",
                            row.operand, bytesText(row.bytes), kWays[row.way],
                            counted(row.copies, "copy", "copies"), row.refetchFactor);
    }
    return rows.empty() ? text + "none" : text;
}

std::string memoryLine(const Report& report)
{
    std::string text =
        fmt::format("VMEM    {} of {}, scoped limit {}", bytesText(report.vmemPeak),
                    bytesText(report.vmemCapacity), bytesText(report.vmemScopedLimit));
    for (std::size_t i = 0; i < report.vmemByOperand.size(); ++i) {
        text += fmt::format("{}{} {}", i > 0 ? ", " : ": ", report.vmemByOperand[i].operand,
                            bytesText(report.vmemByOperand[i].bytes));
    }
    return text
           + fmt::format("; temporaries about {} (estimate)",
                         bytesText(report.vmemTemporariesEstimate));
}

std::string splitLine(const Report& report)
{
    const TimeSplit& split = report.split;
    const auto share = [&](Picoseconds time) {
        return timeText(time) + " (" + percentText(ratio(time, report.time), 1) + ")";
    };
    return fmt::format(
        "exposed {} of copies in {}; compute {}, step overhead {}, prologue {}, epilogue {}",
        share(split.exposedCopies), counted(report.stalledSteps, "step", "steps"),
        share(split.compute), share(split.stepOverhead), timeText(split.prologue),
        timeText(split.epilogue));
}

std::string helpLine(const Report& report, const std::vector<Alternative>& alternatives)
{
    const Alternative* better = best(report, alternatives);
    if (better == nullptr) {
        return alternatives.empty()
                   ? "try     nothing: this kernel has no other blocks to try"
                   : "try     nothing: none of the other blocks that fit is faster";
    }
    return fmt::format("try     {}: {}, {} less, {}, {} of VMEM", better->name,
                       timeText(better->time), percentText(1 - ratio(better->time, report.time), 1),
                       better->boundBy, bytesText(better->vmem));
}

} // namespace

std::string toText(const Report& report, const trace::Info& info,
                   const std::vector<Alternative>& alternatives)
{
    return timeLine(report, info) + "\nbound   " + plain(verdict(report, info, alternatives)) + "\n"
           + trafficLine(report) + "\n" + memoryLine(report) + "\n" + splitLine(report) + "\n"
           + helpLine(report, alternatives) + "\n";
}

} // namespace pallascope::analysis
