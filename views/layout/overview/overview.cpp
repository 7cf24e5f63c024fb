// Makes the scenes of the strip of the whole run and of the verdict strip.
#include "views/layout/overview/overview.h"

#include "core/analysis/band.h"
#include "core/base/format.h"
#include "views/layout/roofline/links.h"
#include "views/layout/run/break_marks.h"
#include "views/layout/run/finding_marks.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/position.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/timeline/timeline.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout {

namespace {

constexpr double kStrip = 16; // px of the strip, which lies in the middle of its bar
constexpr double kTick = 7;   // px of the mark of a wait

Color tint(const RunView& run, double share)
{
    const std::optional<std::int32_t> unit = timeline::mainUnit(run);
    const Role role =
        unit ? parts::unitRole(run.trace->info().units[static_cast<std::size_t>(*unit)].kind)
             : Role::Scalar;
    return mix(role, share, Role::Chrome);
}

// Paints at most one mark per 2 px: where a wait begins or, if there are many waits, in every place
// with time waited.
// `end` is the time at `width`.
void waitMarks(Canvas& canvas, const RunView& run, double y, double width, double end)
{
    constexpr double kPitch = 2;
    const auto timeAt = [&](double x) { return Picoseconds(std::llround(x / width * end)); };
    Picoseconds before;
    for (double x = 0; x < width; x += kPitch) {
        const Picoseconds from = timeAt(x);
        const Picoseconds to = timeAt(std::min(width, x + kPitch));
        const Picoseconds after = run.index->waiting(to);
        const bool goesOn =
            // Waited all along, so the mark where the wait began suffices.
            after - before == to - from;
        const bool began = !trace::waitAt(*run.trace, trace::AgentRow{0}, from) || x == 0;
        if (after > before && (began || !goesOn)
            && !(trace::waitAt(*run.trace, trace::AgentRow{0}, from) && x > 0)) {
            canvas.fill(x, y, 1, kTick, Role::Wait);
        }
        before = after;
    }
}

std::string boundText(analysis::BoundKind kind)
{
    switch (kind) {
    case analysis::BoundKind::Compute:
        return "Compute-bound.";
    case analysis::BoundKind::Memory:
        return "Memory-bound.";
    case analysis::BoundKind::StepOverhead:
        return "Bound by step overhead.";
    case analysis::BoundKind::Launches:
        return "Bound by launches.";
    case analysis::BoundKind::Latency:
        break;
    }
    return "Latency-bound.";
}

Role boundRole(const RunView& run)
{
    const analysis::Bound& bound = run.report.boundBy;
    switch (bound.kind) {
    case analysis::BoundKind::Memory:
        return Role::Hbm;
    case analysis::BoundKind::Compute:
        for (const trace::Unit& unit : run.trace->info().units) {
            if (unit.name == bound.of) {
                return parts::unitRole(unit.kind);
            }
        }
        break;
    case analysis::BoundKind::StepOverhead:
        return Role::Scalar;
    case analysis::BoundKind::Launches:
    case analysis::BoundKind::Latency:
        break;
    }
    return Role::Wait;
}

std::string plainVerdict(const RunView& run, bool wide)
{
    constexpr double kMovesMostly = 0.05; // below this share of the peak, FLOPs say little
    const analysis::Report& report = run.report;
    const double seconds = toSeconds(report.time).value();
    const bool byMemory = report.boundBy.kind == analysis::BoundKind::Memory;
    if (byMemory && report.boundBy.of != report.roofline.memory.name) {
        return run.verdict; // the roofline, from which the text below comes, is for another memory
    }
    if (report.isStopped()) {
        return run.verdict;
    }
    std::string text = "|" + boundText(report.boundBy.kind) + "| ";
    const bool moves = byMemory && report.utilization < kMovesMostly;
    if ((moves || report.flops.value() == 0) && seconds > 0) {
        const double rate = roofline::memoryRate(run, report.time);
        const double datasheet = report.roofline.memory.datasheet.value();
        text += "|" + bandwidthText(rate) + "|, |"
                + percentText(datasheet > 0 ? rate / datasheet : 0, 1) + "| of "
                + report.roofline.memory.name + " in |" + timeText(report.time) + "|";
    } else {
        text += "|" + flopRateText(report.flopsPerSecond) + "|, |"
                + percentText(report.utilization, 1) + "| of peak in |" + timeText(report.time)
                + "|";
    }
    const bool under = report.arithmeticIntensity < report.roofline.ridge;
    // Where it does not explain what bounds the run, such as steps or vector work, it is left out.
    const bool explains = report.roofline.peak
                          && (under ? byMemory : report.roofline.peak->unit == report.boundBy.of);
    if (explains && report.arithmeticIntensity > 0) {
        text += "; " + intensityText(report.arithmeticIntensity) + " FLOP/B is "
                + (under ? "under" : "over") + " the ridge of "
                + intensityText(report.roofline.ridge);
    }
    if (wide && !report.busy.empty() && seconds > 0) {
        text += "; " + report.busy.front().first + " is busy |"
                + percentText(ratio(report.busy.front().second, report.time), 1) + "| of the time";
        if (report.stalledSteps > 0) {
            text += " and |" + countText(report.stalledSteps)
                    + (report.stalledSteps == 1 ? "| step waits" : "| steps wait")
                    + " for copies, |" + timeText(report.split.exposedCopies) + "| in all";
        }
    }
    return text;
}

// The sentence, and where in it the time of the run stands with its band.
struct Sentence
{
    std::string text;
    std::size_t begin = 0, end = 0; // in bytes of `text`; equal if the time is not in it
};

Sentence verdictText(const RunView& run, bool wide)
{
    Sentence sentence{plainVerdict(run, wide)};
    const std::string time = "in |" + timeText(run.report.time) + "|";
    const std::size_t at = sentence.text.find(time);
    if (at == std::string::npos || !run.report.band) {
        return sentence;
    }
    const std::string band = " (" + analysis::bandText(*run.report.band) + ")";
    sentence.text.insert(at + time.size(), band);
    sentence.begin = at + std::string_view("in ").size();
    sentence.end = at + time.size() + band.size();
    return sentence;
}

// The time of the run is a target: its tooltip says what the band rests on.
void paintVerdict(Canvas& canvas, const RunView& run, const Sentence& sentence, double right,
                  double h)
{
    constexpr double kLeft = 14, kAnyWidth = 1e6;
    constexpr int kSize = 12;
    canvas.rich(kLeft, 0, right - kLeft, h, sentence.text, kSize);
    Canvas scratch(kAnyWidth, h);
    const auto x = [&](std::size_t bytes) {
        return scratch.rich(kLeft, 0, kAnyWidth, h, sentence.text.substr(0, bytes), kSize);
    };
    const double from = x(sentence.begin), to = std::min(x(sentence.end), right);
    if (to > from) {
        canvas.hit(from, 0, to - from, h, target::Time{run.trace->end()});
    }
}

// Paints the count of findings, for which room is always kept. Returns the x where it begins.
double findingsCount(Canvas& canvas, const RunView& run, double right, double h)
{
    const trace::Info& info = run.trace->info();
    const auto count = static_cast<std::int64_t>(info.findings.size());
    const bool failed = info.check.checked && !info.check.passed;
    // Nothing is known of NaN, Inf and undefined elements then: no tick, and no bare "0".
    const bool isUnchecked = count == 0 && !failed && info.values != "full";
    constexpr double kForBoth = 1000; // px
    const std::string found = countText(count) + (count == 1 ? " finding" : " findings");
    const std::string number = failed                      ? "check failed · " + found
                               : !isUnchecked              ? found
                               : canvas.width() < kForBoth ? "values not checked"
                                                           : found + " · values not checked";
    const double w = textWidth(number, 11) + 1;
    const double x = std::floor(right - w);
    const double icon = x - 18;
    canvas.text(x, 0, w, h, number, {11, Role::Text2});
    Severity worst = failed ? Severity::Error : Severity::Ok;
    for (const trace::Finding& finding : info.findings) {
        worst = std::max(worst, severityOf(finding));
    }
    if (!isUnchecked) {
        paintSeverity(canvas, icon, std::floor((h - 12) / 2), worst);
    }
    canvas.hit(icon - 4, 0, right - icon + 8, h,
               target::Finding{count > 0 ? std::optional<std::int64_t>(0) : std::nullopt});
    return icon;
}

// Paints "try 1024-blocks: 751.6 µs >" and returns the x where it begins.
double suggestion(Canvas& canvas, const RunView& run, double right, double h)
{
    const analysis::Alternative* best = analysis::best(run.report, run.alternatives);
    if (best == nullptr) {
        return right;
    }
    const std::string name = best->name + ": " + timeText(best->time);
    const double w = textWidth(name, 11, Weight::Medium);
    const double arrow = right - 7;
    const double x = std::floor(arrow - 5 - w);
    const double middle = std::floor(h / 2);
    canvas.polygon({{arrow, middle - 4}, {arrow + 6, middle}, {arrow, middle + 4}}, Role::Focus);
    canvas.text(x, 0, w + 1, h, name, {11, Role::Focus, Weight::Medium});
    const double from = x - textWidth("try ", 11) - 4;
    canvas.text(from, 0, textWidth("try", 11) + 1, h, "try", {11, Role::Text2});
    canvas.hit(from, 0, right - from, h, target::Alternative{best - run.alternatives.data()});
    return from;
}

// The kept run above the present one: how long it took, and where it was at this moment.
void paintKept(Canvas& canvas, const ViewState& state, double y, double h, double pxPerPs)
{
    const RunView& run = *state.kept->run;
    const auto x = [&](Picoseconds t) {
        return std::round(static_cast<double>(t.value()) * pxPerPs);
    };
    const double end = std::max(1.0, x(run.trace->end())), now = x(keptState(state).now);
    canvas.fill(0, y, end, h, tint(run, 0.16));
    canvas.fill(0, y, now, h, tint(run, 0.30));
    canvas.fill(std::min(now, end - 1), y, 1, h, Role::Playhead);
}

} // namespace

Picoseconds overviewEnd(const RunView& run, const ViewState& state)
{
    const Picoseconds end = run.trace->end();
    return state.kept == nullptr ? end : std::max(end, state.kept->run->trace->end());
}

Scene layoutOverview(const RunView& run, const ViewState& state, Size size)
{
    Canvas canvas(size.width, size.height);
    const double w = size.width;
    const double h = std::min(kStrip, std::max(4.0, size.height - 10));
    const double y = std::floor((size.height - h) / 2) + 1;
    const auto end =
        static_cast<double>(std::max<std::int64_t>(1, overviewEnd(run, state).value()));
    const auto x = [&](Picoseconds t) {
        return std::round(static_cast<double>(t.value()) / end * w);
    };

    if (!run.notRun.empty()) {
        canvas.fill(0, y, w, h, Role::Grid);
        canvas.text(0, y, w, h, "no run yet", {10, Role::Text2, Weight::Regular, Align::Center});
        return parts::finished(std::move(canvas), "Whole run", "no run yet", run, state);
    }
    // A kept run takes the upper part of the strip.
    const double its = state.kept == nullptr ? 0 : std::floor(h / 3);
    const double top = y + (its > 0 ? its + 1 : 0), high = y + h - top;
    const double whole = std::max(1.0, x(run.trace->end()));
    if (its > 0) {
        paintKept(canvas, state, y, its, w / end);
    }
    canvas.fill(0, top, whole, high, tint(run, 0.16));
    canvas.fill(0, top, x(state.now), high, tint(run, 0.42));
    waitMarks(canvas, run, y + h - kTick, whole, static_cast<double>(run.trace->end().value()));
    canvas.hit(0, 0, w, size.height, target::Time{});

    // A mark stays whole at both ends of the run.
    const auto middle = [&](Picoseconds t) {
        return std::clamp(x(t), kFindingMark / 2, std::max(kFindingMark / 2, w - kFindingMark / 2));
    };
    paintFindingMarks(canvas, run, findingMarks(run, middle), std::max(0.0, y - kFindingMark - 1));

    if (y + h + kBreakHigh <= size.height) {
        const auto inside = [&](Picoseconds t) {
            return std::clamp(x(t), kBreakWide / 2, std::max(kBreakWide / 2, w - kBreakWide / 2));
        };
        paintBreakMarks(canvas, breakMarks(state, {Picoseconds(0), run.trace->end()}, inside),
                        y + h, true);
    }

    const double from = std::clamp(x(state.visible.begin), 0.0, std::max(0.0, w - 3));
    const double to = std::clamp(x(state.visible.end), from + 3, std::max(from + 3, w));
    canvas.frame(from - 1, y - 2, to - from + 2, h + 4, Role::Text);

    const double playhead = std::clamp(x(state.now), 1.0, std::max(1.0, w - 2));
    canvas.fill(playhead - 1, y - 3, 4, h + 6, Role::Chrome);
    canvas.fill(playhead, y - 3, 2, h + 6, Role::Playhead);
    canvas.polygon({{playhead - 4, y - 7}, {playhead + 6, y - 7}, {playhead + 1, y - 1}},
                   Role::Playhead);
    canvas.state(positionFacts(run, state));
    return parts::finished(std::move(canvas), "Whole run", positionText(run, state), run, state);
}

Scene layoutVerdictStrip(const RunView& run, const ViewState& state, Size size)
{
    constexpr double kWide = 1500; // px; from here on the sentence says the cause, too
    Canvas canvas(size.width, size.height);
    canvas.fill(0, 0, size.width, size.height, Role::Panel);
    canvas.fill(0, size.height - 1, size.width, 1, Role::Line);
    canvas.fill(0, 0, 4, size.height - 1, boundRole(run));
    const double h = size.height - 1;
    if (!run.notRun.empty()) {
        canvas.rich(14, 0, size.width - 28, h, run.verdict, 12);
        return parts::finished(std::move(canvas), "Verdict", run.verdict, run, state);
    }
    const double findings = findingsCount(canvas, run, size.width - 12, h);
    double right = findings - 14;
    const Sentence sentence = state.kept == nullptr ? verdictText(run, size.width > kWide)
                                                    : Sentence{keptVerdict(run, state)};
    if (size.width > 640) {
        right = suggestion(canvas, run, right, h) - 14;
    }
    paintVerdict(canvas, run, sentence, right, h);
    return parts::finished(std::move(canvas), "Verdict", sentence.text, run, state);
}

} // namespace pallascope::layout
