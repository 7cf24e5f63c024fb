// Paints most sections of the verdict view: the time split, what would help, the traffic and the
// checks.
#include "views/layout/verdict/parts.h"

#include "core/analysis/band.h"
#include "core/analysis/speedup.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/ir/print.h"
#include "views/layout/run/finding_text.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace pallascope::layout {

namespace {

using parts::kPadding;
using parts::kRow;

constexpr double kShareWidth = 52;

TextStyle style(int size, Role role, Weight weight = Weight::Regular, Align align = Align::Left)
{
    return {size, role, weight, align};
}

struct SplitPart
{
    const char* name;
    Role role;
    Picoseconds time;
};

std::vector<SplitPart> splitParts(const RunView& run)
{
    const analysis::TimeSplit& split = run.report.split;
    // Asynchronous products run beside the agents, whose own work is on other units.
    const auto counts = [&](const trace::Unit& unit) {
        return unit.kind != UnitKind::Scalar
               && (split.products == Picoseconds(0) || unit.kind != UnitKind::Matrix);
    };
    Role compute = Role::Mxu;
    // Compute has the colour of the unit that is busy longest over the run.
    for (const trace::Unit& unit : run.trace->info().units) {
        const auto found = std::find_if(run.report.busy.begin(), run.report.busy.end(),
                                        [&](const auto& busy) { return busy.first == unit.name; });
        if (found != run.report.busy.end()) {
            const bool longest =
                std::all_of(run.report.busy.begin(), run.report.busy.end(), [&](const auto& busy) {
                    const bool isUnit =
                        std::any_of(run.trace->info().units.begin(), run.trace->info().units.end(),
                                    [&](const trace::Unit& other) {
                                        return other.name == busy.first && counts(other);
                                    });
                    return !isUnit || busy.second <= found->second;
                });
            if (longest && counts(unit)) {
                compute = parts::unitRole(unit.kind);
                break;
            }
        }
    }
    const bool hasSteps = run.report.hasSteps();
    std::vector<SplitPart> parts{{"compute", compute, split.compute}};
    if (hasSteps) {
        parts.push_back({"step overhead", Role::Scalar, split.stepOverhead});
    }
    parts.push_back({"exposed copies", Role::Wait, split.exposedCopies});
    if (hasSteps) {
        parts.push_back({"prologue, epilogue", Role::Edge, split.prologue + split.epilogue});
    }
    if (split.launches > Picoseconds(0)) {
        parts.push_back({"launches", Role::Text2, split.launches});
    }
    if (split.fusions > Picoseconds(0)) { // XLA's operations around kernels
        parts.push_back({"fusions", Role::Hbm, split.fusions});
    }
    if (split.products > Picoseconds(0)) {
        parts.push_back({"waits for products", Role::Mxu, split.products});
    }
    if (split.otherAgents > Picoseconds(0)) {
        parts.push_back({"waits for other agents", Role::Smem, split.otherAgents});
    }
    if (split.idle > Picoseconds(0)) { // while other cores still work
        parts.push_back({"idle", Role::Line, split.idle});
    }
    return parts;
}

void paintPart(Canvas& canvas, Rect rect, Role role)
{
    if (role == Role::Wait) {
        canvas.hatch(rect.x, rect.y, rect.w, rect.h, Role::Wait, mix(Role::Wait, 0.10),
                     Hatch::Wait);
        if (rect.w > 4) {
            canvas.frame(rect.x, rect.y, rect.w, rect.h, Role::Wait);
        }
    } else {
        canvas.fill(rect.x, rect.y, rect.w, rect.h, role);
    }
}

void separator(Canvas& canvas, double y)
{
    canvas.fill(kPadding, y, canvas.width() - 2 * kPadding, 1, Role::Line);
}

std::string boundWords(const analysis::Bound& bound)
{
    std::string words(analysis::boundKindName(bound.kind));
    std::replace(words.begin(), words.end(), '_', '-');
    return words + "-bound";
}

// What the alternative needs, how sure its time is, and what would bound it. Later parts are left
// out if there is not enough room.
std::string helpNote(const RunView& run, const analysis::Alternative& best, double room)
{
    std::string note = fmt::format("needs {}", bytesText(best.vmem));
    if (best.vmem == run.report.vmemScopedLimit) {
        note += ", exactly the scoped limit";
    } else if (best.vmem < run.report.vmemScopedLimit) {
        note += fmt::format(" of {}", bytesText(run.report.vmemScopedLimit));
    }
    for (const std::string& part :
         {analysis::certaintyText(best, run.report), boundWords(best.boundBy)}) {
        const std::string longer = part.empty() ? note : note + "; " + part;
        note = textWidth(longer) <= room ? longer : note;
    }
    return note;
}

std::string joinedChecks(const std::vector<std::string>& checks)
{
    std::string text;
    for (const std::string& check : checks) {
        text += (text.empty() ? "" : " · ") + check;
    }
    return text;
}

std::string nameOf(const analysis::ArrayTraffic& traffic)
{
    return traffic.kernel.empty() ? traffic.operand : traffic.operand + " · " + traffic.kernel;
}

} // namespace

double paintTimeSplit(Canvas& canvas, const RunView& run, double y)
{
    const double x = kPadding;
    const double w = canvas.width() - 2 * x;
    const Picoseconds total = run.report.split.total();
    const auto pieces = splitParts(run);
    Picoseconds sum;
    for (const SplitPart& part : pieces) {
        const double left = total.value() == 0 ? 0 : std::round(w * ratio(sum, total));
        sum += part.time;
        const double right = total.value() == 0 ? 0 : std::round(w * ratio(sum, total));
        if (right > left) { // one pixel lies between parts, if a part can spare it
            paintPart(canvas, {x + left, y, std::max(1.0, right - left - (right < w ? 1 : 0)), 16},
                      part.role);
        }
    }
    y += 21;
    const double timeRight = w - kShareWidth;
    for (const SplitPart& part : pieces) {
        paintPart(canvas, {x, y + 5, 9, 9}, part.role);
        canvas.text(x + 15, y, timeRight - 75, kRow, part.name);
        canvas.text(x, y, timeRight, kRow, timeText(part.time),
                    style(11, Role::Text, Weight::Regular, Align::Right));
        const double share = total.value() == 0 ? 0 : ratio(part.time, total);
        canvas.text(x, y, w, kRow, percentText(share, 1),
                    style(11, Role::Text2, Weight::Regular, Align::Right));
        y += kRow;
    }
    canvas.fill(x + w - 116, y + 1, 116, 1, Role::Edge);
    canvas.text(x + 15, y + 3, timeRight - 75, kRow, "whole run",
                style(11, Role::Text, Weight::SemiBold));
    canvas.text(x, y + 3, timeRight, kRow, timeText(total),
                style(11, Role::Text, Weight::SemiBold, Align::Right));
    canvas.text(x, y + 3, w, kRow, "100.0 %",
                style(11, Role::Text2, Weight::Regular, Align::Right));
    y += 3 + kRow;
    if (run.report.band) {
        canvas.text(x + 15, y, timeRight - 75, kRow, "band", style(11, Role::Text2));
        canvas.text(x, y, timeRight, kRow, analysis::bandText(*run.report.band),
                    style(11, Role::Text2, Weight::Regular, Align::Right));
        canvas.hit(x, y, w, kRow, target::Time{run.trace->end()});
        y += kRow;
    }
    return y + 8;
}

double paintHelp(Canvas& canvas, const RunView& run, double y)
{
    const analysis::Alternative* best = analysis::best(run.report, run.alternatives);
    const double x = kPadding;
    const double w = canvas.width() - 2 * x;
    if (best == nullptr) {
        return y;
    }
    separator(canvas, y);
    canvas.text(x, y + 5, w, kRow, "What would help most", style(11, Role::Text, Weight::SemiBold));
    y += 5 + kRow + 2;
    const auto index = static_cast<std::int64_t>(best - run.alternatives.data());
    const double less = 1 - ratio(best->time, run.report.time);
    const std::string gain = timeText(best->time) + ", " + percentText(less, 1) + " less";
    canvas.text(x, y, w - textWidth(gain, 11, Weight::Medium) - 10, kRow, best->name,
                style(11, Role::Focus, Weight::Medium));
    canvas.text(x, y, w, kRow, gain, style(11, Role::Text, Weight::Medium, Align::Right));
    canvas.text(x, y + 16, w, 16, helpNote(run, *best, w), style(11, Role::Text2));
    canvas.hit(x - 6, y, w + 12, 34, target::Alternative{index});
    return y + 38;
}

double paintTraffic(Canvas& canvas, const RunView& run, double y)
{
    const std::vector<analysis::ArrayTraffic>& rows = run.report.arrays;
    if (rows.empty()) {
        return y;
    }
    const double x = kPadding;
    const double w = canvas.width() - 2 * x;
    const trace::Info& info = run.trace->info();
    separator(canvas, y);
    const auto right = [&](double end, double at, std::string_view text, TextStyle how) {
        how.align = Align::Right;
        canvas.text(x, at, end, kRow, text, how);
    };
    double bytesWidth = 44;
    double nameWidth = 24;
    for (const analysis::ArrayTraffic& traffic : rows) {
        bytesWidth = std::max(bytesWidth, textWidth(bytesText(traffic.bytes)) + 10);
        nameWidth = std::max(nameWidth, textWidth(nameOf(traffic), 11, Weight::Medium));
    }
    nameWidth = std::min(nameWidth, w / 4);
    const double factor = 50;
    const std::string memory =
        info.links.empty() ? "HBM"
                           : info.memories[static_cast<std::size_t>(info.links.front().from)].name;
    const bool hasL2 = run.report.l2.has_value();
    const bool hasOthers = std::ranges::any_of(
        rows, [](const analysis::ArrayTraffic& row) { return row.way == trace::Summary::OnChip; });
    canvas.text(x, y + 5, w - factor - bytesWidth - 50, kRow,
                hasL2       ? "Bytes over " + memory + " and L2"
                : hasOthers ? "Bytes moved"
                            : "Bytes over " + memory,
                style(11, Role::Text, Weight::SemiBold));
    right(w - factor - bytesWidth, y + 5, "copies", style(10, Role::Text3));
    right(w - factor, y + 5, "bytes", style(10, Role::Text3));
    right(w, y + 5, "re-fetch", style(10, Role::Text3));
    y += 5 + kRow + 2;
    const std::array kWays{"read", "written", hasL2 ? "from L2" : "outside HBM"};
    constexpr std::array kFacts{FactKind::BytesRead, FactKind::BytesWritten, FactKind::BytesOnChip};
    for (const analysis::ArrayTraffic& traffic : rows) {
        if (traffic.row >= 0) {
            parts::swatch(canvas, run, x, y + 5, trace::OperandRow{traffic.row});
            canvas.state({kFacts[traffic.way], traffic.row,
                          static_cast<double>(traffic.bytes.value()), bytesText(traffic.bytes)});
        }
        const std::string copies = countText(traffic.copies);
        canvas.text(x + 14, y, nameWidth + 2, kRow, nameOf(traffic),
                    style(11, Role::Text, Weight::Medium));
        const double wordX = x + 14 + nameWidth + 12;
        const std::string word = kWays[traffic.way];
        if (wordX + textWidth(word) + textWidth(copies) + 8 < x + w - factor - bytesWidth) {
            canvas.text(wordX, y, textWidth(word) + 2, kRow, word, style(11, Role::Text2));
        }
        right(w - factor - bytesWidth, y, copies, style(11, Role::Text));
        right(w - factor, y, bytesText(traffic.bytes), style(11, Role::Text));
        right(w, y, significant(traffic.refetchFactor, traffic.refetchFactor < 10 ? 2 : 3) + " ×",
              style(11, Role::Text));
        y += kRow;
    }
    if (hasL2 && run.report.l2->fromL1 > Bytes(0)) {
        canvas.text(x + 14, y, w - factor - bytesWidth - 14, kRow, "loads, found in L1",
                    style(11, Role::Text2));
        right(w - factor, y, bytesText(run.report.l2->fromL1), style(11, Role::Text));
        y += kRow;
    }
    return y + 8;
}

double paintChecks(Canvas& canvas, const RunView& run, double y)
{
    const trace::Info& info = run.trace->info();
    const double x = kPadding;
    const double w = canvas.width() - 2 * x - 18;
    const trace::Check& check = info.check;
    if (info.findings.empty()) {
        separator(canvas, y); // findings draw their own separators
    }
    y += 4;
    if (info.findings.empty()) {
        const std::string title = "No findings";
        paintTick(canvas, x, y + 3, info.values == "full" ? Role::Ok : Role::Text2);
        canvas.text(x + 18, y, w, kRow, title, style(11, Role::Text, Weight::SemiBold));
        const double after = textWidth(title, 11, Weight::SemiBold) + 8;
        const std::string count = fmt::format("{} checks passed", passedChecks(run));
        if (after + textWidth(count) <= w) {
            canvas.text(x + 18 + after, y, w - after, kRow, count, style(11, Role::Text2));
        }
        const std::string which =
            info.values == "full"
                ? fmt::format("{} · {}", joinedChecks(structuralChecks(run.report.isGpu)),
                              joinedChecks(valueChecks()))
                : fmt::format("{}. The check of values ({}) needs values full.",
                              joinedChecks(structuralChecks(run.report.isGpu)),
                              joinedChecks(valueChecks()));
        y = canvas.paragraph(x + 18, y + 19, w, which, 11, 16, Role::Text2) + 4;
    }
    if (check.checked) {
        paintSeverity(canvas, x, y + 2, check.passed ? Severity::Ok : Severity::Error);
        const std::string error =
            std::isfinite(check.maxRelError)
                ? fmt::format("largest error {:.1e}, {:.1e} of the largest value",
                              check.maxAbsError, check.maxRelError)
                : std::string("it holds NaN or infinity");
        const std::string sentence =
            fmt::format("|The result {} the reference:| {}; {}",
                        check.passed ? "agrees with" : "differs from", error, check.method);
        y = canvas.paragraph(x + 18, y, w, sentence, 11, 16, Role::Text2) + 4;
    }
    std::string lowering = oneLine(ir::loweringText(info.jaxAccepts, info.jaxReason));
    std::erase(lowering, '|'); // a bar would make text bold
    if (!lowering.empty()) {
        const std::size_t reason = lowering.find(": ");
        lowering.insert(reason == std::string::npos ? lowering.size() : reason + 1, "|");
        paintSeverity(canvas, x, y + 2,
                      info.jaxAccepts == "yes" ? Severity::Ok : Severity::Warning);
        y = canvas.paragraph(x + 18, y, w, "|" + lowering, 11, 16, Role::Text2) + 4;
    }
    return y;
}

// This list must match the structural findings that core/machine can make.
const std::vector<std::string>& structuralChecks(bool isGpu)
{
    static const std::vector<std::string> kGpuChecks = {"bounds",
                                                        "SMEM capacity",
                                                        "order of accesses",
                                                        "commit_smem",
                                                        "phases of barriers",
                                                        "waits that end",
                                                        "undefined branches"};
    if (isGpu) {
        return kGpuChecks;
    }
    static const std::vector<std::string> kChecks = {"legality",
                                                     "bounds",
                                                     "VMEM capacity",
                                                     "scoped limit",
                                                     "revisited blocks",
                                                     "stays not stored to",
                                                     "blocks never visited",
                                                     "undefined branches"};
    return kChecks;
}

const std::vector<std::string>& valueChecks()
{
    static const std::vector<std::string> kChecks = {"undefined elements written back",
                                                     "NaN and Inf born"};
    return kChecks;
}

std::size_t passedChecks(const RunView& run)
{
    const trace::Info& info = run.trace->info();
    return structuralChecks(run.report.isGpu).size()
           + (info.values == "full" ? valueChecks().size() : 0)
           + (info.check.checked && info.check.passed ? 1 : 0);
}

} // namespace pallascope::layout
