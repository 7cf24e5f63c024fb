// Says what happens now, in one sentence with numbers.
#include "core/base/format.h"
#include "views/layout/run/copies.h"
#include "views/layout/run/grid_blocks.h"
#include "views/layout/run/pieces.h"
#include "views/layout/run/position.h"
#include "views/layout/run/unit_state.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/timeline/timeline.h"

#include <algorithm>
#include <set>
#include <variant>

namespace pallascope::layout::timeline {

namespace {

std::string strong(const std::string& text)
{
    return "|" + text + "|";
}

// "next x(0,3) |61 %| arrived, |1| queued behind it"; empty if no copy is under way. Of the links
// of one device or, for kNone, of all.
std::string copiesText(const trace::Trace& trace, Picoseconds now,
                       std::int32_t device = trace::kNone)
{
    const std::optional<LinkNow> link = busyLinkNow(trace, device, now);
    if (!link) {
        return {};
    }
    const bool out = trace.copies().out[link->copy.index()] != 0;
    const std::string name =
        (out ? "write-back of " : "next ") + trace::copyLabel(trace, link->copy) + " ";
    const std::string queued = strong(countText(static_cast<std::int64_t>(link->queued)));
    if (!link->moves) {
        return name + "about to start, " + queued + " queued";
    }
    const std::string share = strong(percentText(trace::copyFraction(trace, link->copy, now), 0));
    return name + share + (out ? " gone" : " arrived")
           + (link->queued > 0 ? ", " + queued + " queued behind it" : "");
}

std::string copiesOrNone(const std::string& copies)
{
    return copies.empty() ? "no copy under way" : copies;
}

std::int32_t agentOfStep(const trace::Trace& trace, std::size_t step)
{
    const auto pipeline = static_cast<std::size_t>(trace.steps().pipeline[step]);
    return trace.info().pipelines[pipeline].agent;
}

// The inputs whose first copies lie between these times, before the first body: "|x| and |y|".
std::string firstInputs(const trace::Trace& trace, std::int64_t begin, std::int64_t bodyBegin)
{
    const trace::Copies& copies = trace.copies();
    const auto& operands = trace.info().operands;
    std::vector<std::string> names;
    for (std::size_t row = 0; row < copies.size() && copies.end[row] <= bodyBegin; ++row) {
        const std::string name =
            strong(operands[static_cast<std::size_t>(copies.operand[row])].name);
        if (copies.out[row] == 0 && copies.start[row] >= begin
            && std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
        if (names.size() == operands.size()) {
            break;
        }
    }
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    }
    return text;
}

// "before step 0: launch |2.00 µs|, first |x| and |y| arrive in |1.60 µs|, nothing to overlap yet"
std::string beforeFirstBody(const RunView& run, const trace::Piece& kernel, Picoseconds bodyBegin)
{
    const trace::Trace& trace = *run.trace;
    const Picoseconds begin = kernel.begin + kernel.launch;
    const std::string inputs = firstInputs(trace, begin.value(), bodyBegin.value());
    if (begin == Picoseconds(0) && inputs.empty()) {
        return "the first step begins";
    }
    std::string text = begin > Picoseconds(0) ? "before step 0: " : "prologue: ";
    if (kernel.begin > Picoseconds(0)) {
        text += "earlier operations " + strong(timeText(kernel.begin)) + ", ";
    }
    if (kernel.launch > Picoseconds(0)) {
        text += "launch " + strong(timeText(kernel.launch)) + ", ";
    }
    return inputs.empty() ? text + "no copy to wait for"
                          : text + "first " + inputs + " arrive in "
                                + strong(timeText(bodyBegin - begin)) + ", nothing to overlap yet";
}

std::string prologueText(const RunView& run, Picoseconds now)
{
    const trace::Trace& trace = *run.trace;
    const trace::Steps& steps = trace.steps();
    if (now.value() > 0) {
        const std::string copies = copiesText(trace, now);
        return "prologue: "
               + (copies.empty() ? "nothing to compute yet" : copies + ", nothing to overlap yet");
    }
    const trace::LeadingSteps& leading = run.index->leading();
    const auto bodyOf = [&](std::size_t number) {
        return Picoseconds(steps.bodyBegin[leading.row(number).index()]);
    };
    const Picoseconds bodyBegin = bodyOf(0);
    const trace::Piece& kernel =
        pieceAt(run, agentOfStep(trace, leading.row(0).index()), bodyBegin);
    std::string text = beforeFirstBody(run, kernel, bodyBegin);
    // Of this kernel alone: what lies between two kernels is no step.
    const std::size_t last = leading.at(kernel.end - Picoseconds(1));
    if (last > 0) {
        const Picoseconds mean((bodyOf(last) - bodyBegin).value()
                               / static_cast<std::int64_t>(last));
        text += " · then a step every " + strong(timeText(mean)) + " on average";
    }
    return text;
}

const std::vector<std::int32_t>& agentsOf(const RunView& run, std::int32_t unit)
{
    return run.index->agents().ofUnit[static_cast<std::size_t>(unit)];
}

// A part of the run: a step, or a round of a loop.
struct Part
{
    std::int32_t agent = 0; // whose part it is
    Picoseconds begin, end;
};

std::string computeText(const RunView& run, const Part& part, std::int32_t unit, Picoseconds now)
{
    const std::string& name = run.trace->info().units[static_cast<std::size_t>(unit)].name;
    const std::vector<std::int32_t>& agents = agentsOf(run, unit);
    if (agents.size() > 1) {
        Lane lane;
        lane.unit = unit;
        lane.agents = agents;
        const std::vector<std::int32_t>& smOf = run.index->agents().smOf;
        std::set<std::int32_t> working; // cores, or SMs, whose warpgroups share their units
        for (const RowAt& row : rowsAt(run, lane, now)) {
            const std::size_t segment = std::get<trace::SegmentRow>(row).index();
            const std::int32_t agent = run.trace->segments().agent[segment];
            working.insert(smOf.empty() ? agent : smOf[static_cast<std::size_t>(agent)]);
        }
        return name + " busy on " + strong(countText(static_cast<std::int64_t>(working.size())))
               + " of " + countText(run.index->agents().unitCount(trace::UnitRow{unit}))
               + (smOf.empty() ? " cores" : " SMs");
    }
    const Picoseconds before = run.index->unitBusy(trace::UnitRow{unit}, part.begin);
    const Picoseconds done = run.index->unitBusy(trace::UnitRow{unit}, now) - before;
    const Picoseconds all = run.index->unitBusy(trace::UnitRow{unit}, part.end) - before;
    return name + " busy " + strong(timeText(done)) + " of " + strong(timeText(all));
}

// What the device of an agent runs between kernels, or the launch of one: "launch of kernel 1 of 2,
// |0.5 µs| of |2.00 µs|". Empty while a kernel runs.
std::string outsideText(const RunView& run, std::int32_t agent, Picoseconds now)
{
    const trace::Pieces& pieces = run.index->pieces(run.trace->info().deviceOf(agent));
    const trace::Piece& piece = pieces.all[pieces.at(now)];
    const Picoseconds launched = piece.begin + piece.launch;
    const bool launches = now < launched;
    if (piece.isKernel() && !launches) {
        return {};
    }
    const Picoseconds begin = launches ? piece.begin : launched;
    const Picoseconds end = launches ? launched : piece.end;
    const std::string what = !piece.isKernel()
                                 ? pieceKindText(pieces, piece) + " " + strong(piece.name)
                             : pieces.kernels == 1 ? "the kernel"
                                                   : pieceKindText(pieces, piece);
    return (launches ? "launch of " : "") + what + ", " + strong(timeText(now - begin)) + " of "
           + strong(timeText(end - begin));
}

// What the agent of a part does now.
std::string workText(const RunView& run, const Part& part, Picoseconds now)
{
    const trace::Trace& trace = *run.trace;
    const std::optional<std::int32_t> unit = mainUnit(run);
    if (const trace::OptionalRow<trace::WaitRow> wait =
            trace::waitAt(trace, trace::AgentRow{part.agent}, now)) {
        const std::size_t row = wait->index();
        const std::string left = timeText(Picoseconds(trace.waits().end[row]) - now);
        // The copy is named only if the part of the sentence about copies names another one.
        const std::int32_t copy = trace.waits().copy[row];
        const bool moving = copy != trace::kNone
                            && trace.copies().start[static_cast<std::size_t>(copy)] <= now.value();
        const bool forOthers = waitsForOthers(trace, *wait);
        const bool isWarpgroup = !run.index->agents().sms.empty(); // which waits, no unit of an SM
        const std::string awaited = trace::awaitedLabel(trace, *wait);
        const bool isCore =
            forOthers || !unit || unitState(trace, trace::UnitRow{*unit}, now).share.has_value();
        return (isWarpgroup ? trace.info().agents[static_cast<std::size_t>(part.agent)]
                : isCore    ? "the core"
                            : trace.info().units[static_cast<std::size_t>(*unit)].name)
               + strong(" waits " + left) + " more"
               + (forOthers ? " for the others"
                  : moving || (copy == trace::kNone && !isWarpgroup) || awaited.empty()
                      ? ""
                      : " for " + awaited);
    }
    if (const trace::OptionalRow<trace::SegmentRow> segment =
            trace::segmentAt(trace, trace::AgentRow{part.agent}, now)) {
        const std::size_t row = segment->index();
        const auto id = static_cast<std::size_t>(trace.segments().templateId[row]);
        const trace::SegmentTemplate& of = trace.info().templates[id];
        if (of.isBookkeeping()) {
            const auto done = now - Picoseconds(trace.segments().begin[row]);
            const bool launches = of.kind == trace::SegmentKind::Launch;
            return (launches ? "launch " : "step overhead ") + strong(timeText(done)) + " of "
                   + strong(timeText(of.duration));
        }
    }
    return unit ? computeText(run, part, *unit, now) : "nothing computes";
}

// What a kernel does before its first step, or without steps: "kernel 1 of 2: EUP busy …".
std::string kernelText(const RunView& run, std::int32_t agent, Picoseconds now)
{
    const trace::Pieces& pieces = run.index->pieces(run.trace->info().deviceOf(agent));
    const trace::Piece& piece = pieces.all[pieces.at(now)];
    return pieceKindText(pieces, piece) + ": "
           + workText(run, {agent, piece.begin + piece.launch, piece.end}, now);
}

Part partOfStep(const trace::Trace& trace, std::size_t step)
{
    return {agentOfStep(trace, step), Picoseconds(trace.steps().begin[step]),
            Picoseconds(trace.steps().end[step])};
}

// "|512| steps", "|76| steps of 3 pipelines", "|64| steps of 32 agents": all that the run has.
std::string allStepsText(const RunView& run)
{
    const auto& pipelines = run.index->pipelines().all;
    const auto count = static_cast<std::int64_t>(run.trace->steps().size());
    std::string text = strong(countText(count)) + (count == 1 ? " step" : " steps");
    if (pipelines.size() > 1) {
        text += " of " + countText(static_cast<std::int64_t>(pipelines.size())) + " pipelines";
    } else if (!pipelines.empty() && pipelines.front().agents > 1) {
        text += " of " + countText(pipelines.front().agents) + " agents";
    }
    return text;
}

// " in |14.8 µs| · MXU busy |39.7 %|"
std::string lengthAndBusyText(const RunView& run)
{
    const trace::Trace& trace = *run.trace;
    std::string text = " in " + strong(timeText(trace.end()));
    if (const std::optional<std::int32_t> unit = mainUnit(run)) {
        const double share =
            ratio(run.index->unitBusy(trace::UnitRow{*unit}, trace.end()), trace.end())
            / static_cast<double>(run.index->agents().unitCount(trace::UnitRow{*unit}));
        text += " · " + trace.info().units[static_cast<std::size_t>(*unit)].name + " busy "
                + strong(percentText(share, 1));
    }
    return text;
}

std::string waitedText(const RunView& run)
{
    const Picoseconds waited = run.index->waiting(run.trace->end());
    if (waited == Picoseconds(0)) {
        return "";
    }
    const auto agents = static_cast<std::int64_t>(run.index->agents().size());
    return " · " + strong(timeText(waited)) + " waited"
           + (agents > 1 ? " by all " + countText(agents) + " agents together" : " in all");
}

std::string wholeRunText(Canvas& canvas, const RunView& run)
{
    const auto count = static_cast<std::int64_t>(run.trace->steps().size());
    canvas.state({FactKind::RunSteps, -1, static_cast<double>(count), countText(count)});
    const std::int64_t stalled = run.report.stalledSteps;
    return allStepsText(run) + lengthAndBusyText(run) + " · "
           + (stalled == 0
                  ? "no step waits"
                  : strong(countText(stalled)) + (stalled == 1 ? " step waits" : " steps wait"))
           + waitedText(run);
}

// Of a run without several grid steps: where it is in its loops, if it has any.
std::string withoutStepsText(Canvas& canvas, const RunView& run, const ViewState& state)
{
    const trace::Trace& trace = *run.trace;
    const auto round = roundAt(run, state.now, state.loop);
    if (state.now >= trace.end()) {
        return "end: "
               + (round ? strong(countText(static_cast<std::int64_t>(round->of))) + " rounds"
                        : "no grid steps")
               + lengthAndBusyText(run) + waitedText(run);
    }
    Part part{0, Picoseconds(0), trace.end()};
    std::string text = "no grid steps";
    if (round) {
        canvas.state(factsOf(*round));
        const std::size_t row = round->row.index();
        const Picoseconds begin(trace.rounds().begin[row]);
        text = (state.now < begin ? "before " : round->isOver ? "after " : "") + roundText(*round);
        part.agent = trace.rounds().agent[row];
        if (!round->isOver) {
            part = {part.agent, begin, Picoseconds(trace.rounds().end[row])};
        }
    }
    // On a GPU the lanes are those of the chosen SM.
    const std::int32_t sm = chosenSm(run, state);
    part.agent = onSm(run, part.agent, sm);
    const std::string copies =
        copiesText(trace, state.now, sm == trace::kNone ? sm : trace.info().deviceOf(part.agent));
    const std::string outside = outsideText(run, part.agent, state.now);
    return text + ": " + (outside.empty() ? workText(run, part, state.now) : outside) + ", "
           + copiesOrNone(copies);
}

} // namespace

std::string caption(Canvas& canvas, const RunView& run, const ViewState& state, const Zoom& zoom)
{
    const trace::Trace& trace = *run.trace;
    const Picoseconds now = state.now;
    const Position position = positionAt(run, now);
    if (trace.end().value() == 0) {
        return "No steps: this run did nothing.";
    }
    const auto round = roundAt(run, now, state.loop);
    if (!position.step || (round && !goesBySteps(run))) {
        return withoutStepsText(canvas, run, state);
    }
    if (zoom.level == Level::Run) {
        return wholeRunText(canvas, run)
               + (zoom.stepsPerBar > 1 ? " · each bar is " + strong(countText(zoom.stepsPerBar))
                                             + " steps, its height the busy share"
                                       : " · each bar is a step, its height the busy share");
    }
    if (now >= trace.end()) {
        return "end: " + wholeRunText(canvas, run);
    }
    const std::size_t row = position.step->index();
    const std::int32_t agent = agentOfStep(trace, row);
    std::string outside = now.value() > 0 ? outsideText(run, agent, now) : "";
    if (outside.empty() && now.value() > 0 && !stepUnderWay(run, position, now)) {
        outside = kernelText(run, agent, now);
    }
    if (!outside.empty()) {
        return outside + ", " + copiesOrNone(copiesText(trace, now));
    }
    const bool isFirst = position.step == run.index->leading().row(0);
    if (isFirst && now.value() < trace.steps().bodyBegin[row]) {
        return prologueText(run, now);
    }
    const std::string copies = copiesText(trace, now);
    const TimeRange last = epilogueOf(run);
    if (now >= last.begin && last.begin < trace.end()) {
        const std::string moves = copies.empty() ? "nothing under way" : copies;
        return now >= last.end  ? "after the last step: " + moves
               : copies.empty() ? "epilogue: " + moves
                                : "epilogue: " + moves + ", nothing left to overlap";
    }
    canvas.state(factsOf(position).front()); // of how many the text does not say
    std::string text = "step " + strong(countText(position.number));
    if (round) {
        canvas.state(factsOf(*round));
        text += " · " + roundText(*round);
    }
    return text + ": " + workText(run, partOfStep(trace, row), now) + ", " + copiesOrNone(copies);
}

} // namespace pallascope::layout::timeline
