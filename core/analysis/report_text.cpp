#include "core/analysis/band.h"
#include "core/analysis/block_grids.h"
#include "core/analysis/fresh_waits.h"
#include "core/analysis/losses.h"
#include "core/analysis/speedup.h"
#include "core/analysis/used_memory.h"
#include "core/base/format.h"
#include "core/trace/pipelines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <numeric>

namespace pallascope::analysis {

namespace {

std::string timeLine(const Report& report, const trace::Info& info)
{
    const std::string band = report.band ? " (" + bandText(*report.band) + ")" : std::string();
    const std::string ran = report.hasSteps() || report.blocks == 0
                                ? counted(report.steps, "step", "steps")
                                : counted(report.blocks, "block", "blocks");
    std::string text = fmt::format("{} on {}: {}{}, {}", report.kernel, info.chipName,
                                   timeText(report.time), band, ran);
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

// The rows that move most, in their original order. It drops rows below a thousandth of `all` if
// there are more rows than a reader can take in, as for a program around a kernel.
std::vector<ArrayTraffic> largest(const std::vector<ArrayTraffic>& rows, Bytes all)
{
    constexpr std::size_t kMost = 8;
    constexpr std::int64_t kLeast = 1000;
    if (rows.size() <= kMost) {
        return rows;
    }
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return rows[i].bytes; });
    order.resize(kMost - 1);
    std::ranges::sort(order);
    std::vector<ArrayTraffic> kept;
    for (const std::size_t i : order) {
        if (rows[i].bytes.value() >= all.value() / kLeast) {
            kept.push_back(rows[i]);
        }
    }
    return kept;
}

// What part of an array is padding, if that is worth knowing: ", 50 % of it padding".
std::string paddingText(double share)
{
    constexpr double kLeast = 0.05;
    return share < kLeast ? "" : fmt::format(", {} of it padding", percentText(share, 0));
}

// Who moves it, if it is moved several times: " in each of 2 pipelines", " with each of 3
// launches".
std::string pipelinesText(const ArrayTraffic& row)
{
    if (row.pipelines > 1) {
        return fmt::format(" {} {} pipelines", row.isAlike ? "in each of" : "on average over",
                           row.pipelines);
    }
    return row.launches > 1 ? fmt::format(" with each of {} launches", row.launches) : "";
}

// "0.00195", "27.4", "3000"
std::string timesText(double factor)
{
    constexpr double kMany = 100;
    return factor < kMany ? fmt::format("{:.3g}", factor) : fmt::format("{:.0f}", factor);
}

std::string trafficLine(const Report& report)
{
    const std::array kWays{"read", "written", report.l2 ? "from L2" : "moved outside HBM"};
    const std::vector<ArrayTraffic>& rows = report.arrays;
    if (rows.empty()) {
        return "copies  none";
    }
    std::vector<std::string> shown;
    std::int64_t copies = 0;
    Bytes bytes;
    for (const ArrayTraffic& row : rows) {
        copies += row.copies;
        bytes += row.bytes;
    }
    for (const ArrayTraffic& row : largest(rows, bytes)) {
        shown.push_back(fmt::format(
            "{}{} {} {} in {} ({}\u00d7 its array{}{})", row.operand,
            row.kernel.empty() ? "" : " of " + row.kernel, bytesText(row.bytes), kWays[row.way],
            counted(row.copies, "copy", "copies"), timesText(row.refetchFactor), pipelinesText(row),
            paddingText(row.paddingShare)));
        copies -= row.copies;
        bytes -= row.bytes;
    }
    if (shown.size() < rows.size()) {
        shown.push_back(fmt::format("and {} more: {} in {}", rows.size() - shown.size(),
                                    bytesText(bytes), counted(copies, "copy", "copies")));
    }
    return fmt::format("copies  {}", fmt::join(shown, ", "));
}

std::string cacheLine(const CacheReads& l2)
{
    return fmt::format(
        "L2      holds {} of {} that kernels read ({}){}", bytesText(l2.hit),
        bytesText(l2.hit + l2.missed), percentText(l2.rate(), 1),
        l2.fromL1 > Bytes(0) ? ", beside " + bytesText(l2.fromL1) + " that loads find in L1" : "");
}

std::string usedText(const std::vector<UsedMemory>& used)
{
    std::string text;
    for (const UsedMemory& one : used) {
        text += fmt::format("{}{} {}", text.empty() ? ": " : ", ",
                            one.operand.empty() ? "scratch" : one.operand, bytesText(one.bytes));
    }
    return text;
}

// One line, and one for each other memory that the run uses.
std::string memoryLines(const Report& report, const trace::Info& info)
{
    const std::string blocks = report.blocksTogether > 1
                                   ? fmt::format(" for {} blocks on an SM", report.blocksTogether)
                                   : "";
    const std::string limit =
        report.blockLimit ? fmt::format("a block may have {}", bytesText(*report.blockLimit))
                          : fmt::format("scoped limit {}", bytesText(report.vmemScopedLimit));
    std::string text =
        fmt::format("{:<7} {} of {}{}, {}", report.onChipName, bytesText(report.vmemPeak),
                    bytesText(report.vmemCapacity), blocks, limit);
    text += usedText(report.vmemByOperand);
    if (!report.isGpu) { // whose values are in registers
        text += fmt::format("; temporaries about {} (estimate)",
                            bytesText(report.vmemTemporariesEstimate));
    }
    for (const OtherMemory& other : otherMemories(report, info)) {
        text += fmt::format("\n{:<7} {} of {}{}", other.name, bytesText(other.peak),
                            bytesText(other.capacity), usedText(other.byOperand));
    }
    return text;
}

// Where there are several core_maps, each with its place.
std::string blockLines(const trace::Info& info)
{
    std::string text;
    for (const trace::BlockGrid& grid : info.blockGrids) {
        if (info.blockGrids.size() > 1) {
            text += fmt::format("blocks  of the core_map at {}:\n", sourceText(info, grid.source));
        }
        text += gridText(grid) + "\n";
    }
    return text;
}

// "norm 3 times 12.3 µs (32.1 %, memory(HBM) for 92.0 % of it)"
std::string pieceText(const PieceTime& piece, Picoseconds whole)
{
    const std::string times =
        piece.times > 1 ? " " + countText(piece.times) + " times" : std::string();
    const std::string bound = piece.bound
                                  ? fmt::format(", {} for {} of it", toString(piece.bound->by),
                                                percentText(piece.bound->share, 0))
                                  : std::string();
    return fmt::format("{}{} {} ({}{})", piece.name, times, timeText(piece.time),
                       percentText(ratio(piece.time, whole), 1), bound);
}

// Those that take longest, in their original order.
std::string programLine(const Report& report)
{
    constexpr std::size_t kMost = 8;
    std::vector<std::size_t> order(report.pieces.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(),
                             [&](std::size_t i) { return report.pieces[i].time; });
    const std::size_t shown = order.size() > kMost ? kMost - 1 : order.size();
    Picoseconds others;
    for (std::size_t i = shown; i < order.size(); ++i) {
        others += report.pieces[order[i]].time;
    }
    const std::size_t left = order.size() - shown;
    order.resize(shown);
    std::ranges::sort(order);
    std::vector<std::string> texts;
    for (const std::size_t i : order) {
        texts.push_back(pieceText(report.pieces[i], report.time));
    }
    if (left > 0) {
        texts.push_back(fmt::format("and {} more {} ({})", left, timeText(others),
                                    percentText(ratio(others, report.time), 1)));
    }
    return fmt::format("program {}\n", fmt::join(texts, ", "));
}

std::string splitLine(const Report& report)
{
    const TimeSplit& split = report.split;
    const auto share = [&](Picoseconds time) {
        return timeText(time) + " (" + percentText(ratio(time, report.time), 1) + ")";
    };
    std::string rare; // parts that are 0 in many runs
    for (const auto& [name, part] : {std::pair("launches", split.launches),
                                     {"fusions", split.fusions},
                                     {"waits for products", split.products},
                                     {"waits for other agents", split.otherAgents},
                                     {"idle", split.idle}}) {
        rare += part > Picoseconds(0) ? fmt::format(", {} {}", name, share(part)) : "";
    }
    const std::string steps =
        report.stalledSteps > 0 ? " in " + counted(report.stalledSteps, "step", "steps") : "";
    const std::string ofSteps =
        !report.hasSteps()
            ? std::string()
            : fmt::format(", step overhead {}, prologue {}, epilogue {}", share(split.stepOverhead),
                          timeText(split.prologue), timeText(split.epilogue));
    return fmt::format("exposed {} of copies{}; compute {}{}{}", share(split.exposedCopies), steps,
                       share(split.compute), ofSteps, rare);
}

std::string beyondLine(const Report& report)
{
    const ShownLosses shown = shownLosses(report);
    std::string text = "beyond  the roofline's " + timeText(report.losses.roofline);
    const char* before = ": ";
    for (const Loss& loss : shown.large) {
        text += before + lossText(loss, report) + " " + timeText(loss.time);
        before = ", ";
    }
    return text
           + (shown.others > Picoseconds(0) ? before + ("other " + timeText(shown.others)) : "");
}

std::string adviceLine(const Report& report)
{
    const std::string text = advice(report);
    return "advice  "
           + (text.empty() ? "none: nothing that a kernel can change is a hundredth of the run"
                           : text);
}

std::string helpLine(const Report& report, const trace::Info& info,
                     const std::vector<Alternative>& alternatives)
{
    const Alternative* better = best(report, alternatives);
    if (better == nullptr) {
        if (!alternatives.empty()) {
            return "try     nothing: none of the other blocks that were tried is faster";
        }
        const bool isCaptured = info.jaxAccepts != "unknown";
        if (isCaptured) { // its file has no parameters that a sweep could try
            return fmt::format("try     other {} in Python: those of a captured kernel are fixed; "
                               "pallascope.capture_many makes a file of each choice, `pallascope "
                               "sweep` a table of them",
                               report.steps > 0 ? "blocks" : "sizes");
        }
        return "try     nothing: no other blocks could be tried here, as the kernel does not take "
               "them or they make too many steps; `pallascope sweep --over` tries the values of "
               "parameters that you name";
    }
    const std::string certainty = certaintyText(*better, report);
    return fmt::format("try     {}: {}, {} less{}, {}, {} of {}{}", better->name,
                       timeText(better->time), percentText(1 - ratio(better->time, report.time), 1),
                       certainty.empty() ? "" : ", " + certainty, toString(better->boundBy),
                       bytesText(better->vmem), report.onChipName, report.isGpu ? " a block" : "");
}

} // namespace

std::string toText(const Report& report, const trace::Info& info,
                   const std::vector<Alternative>& alternatives)
{
    const std::string text =
        timeLine(report, info) + (report.isStopped() ? "\n" : "\nbound   ")
        + plain(verdict(report, info, alternatives)) + "\n" + trafficLine(report) + "\n"
        + (report.l2 ? cacheLine(*report.l2) + "\n" : "") + memoryLines(report, info) + "\n"
        + blockLines(info) + (report.pieces.empty() ? "" : programLine(report)) + splitLine(report)
        + "\n";
    const std::string latency = freshWaitsText(report);
    return report.isStopped() ? text
                              : text + (latency.empty() ? "" : "latency " + latency + "\n")
                                    + beyondLine(report) + "\n" + adviceLine(report) + "\n"
                                    + helpLine(report, info, alternatives) + "\n";
}

} // namespace pallascope::analysis
