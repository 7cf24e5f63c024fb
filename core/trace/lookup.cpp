#include "core/trace/lookup.h"

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/trace/columns.h"
#include "core/trace/mark_time.h"
#include "core/trace/slot_state.h"

#include <algorithm>
#include <optional>
#include <span>

namespace pallascope::trace {

namespace {

struct Rows
{
    std::size_t first = 0, last = 0;
};

// The visits of one operand: a contiguous range of rows.
Rows visitsOf(const Visits& visits, OperandRow operand)
{
    const auto [first, last] =
        std::equal_range(visits.operand.begin(), visits.operand.end(), operand.number);
    return {at(first - visits.operand.begin()), at(last - visits.operand.begin())};
}

// The visits of an operand whose first step has begun: rows [first, result).
std::size_t visitsBegun(const Trace& trace, Rows rows, std::int64_t t)
{
    const std::vector<std::int32_t>& firstStep = trace.visits().firstStep;
    const auto begin = firstStep.begin();
    const auto found =
        std::partition_point(begin + static_cast<std::ptrdiff_t>(rows.first),
                             begin + static_cast<std::ptrdiff_t>(rows.last),
                             [&](std::int32_t step) { return trace.steps().begin[at(step)] <= t; });
    return at(found - begin);
}

// Whether a visit has taken over its slot by t. It does so when its copy in is issued. Without a
// copy in, it does so when its first step begins, but not before the slot's previous block has been
// written back.
bool hasTaken(const Trace& trace, VisitRow visit, OptionalRow<VisitRow> previous, std::int64_t t)
{
    const Visits& visits = trace.visits();
    const Copies& copies = trace.copies();
    if (const std::int32_t in = visits.copyIn[visit.index()]; in != kNone) {
        return copies.issue[at(in)] <= t;
    }
    const std::int32_t out = previous ? visits.copyOut[previous->index()] : kNone;
    return trace.steps().begin[at(visits.firstStep[visit.index()])] <= t
           && (out == kNone || copies.end[at(out)] <= t);
}

// The visit to which a slot belongs at t; none before the first one. Visits use the slots in turn,
// so each loop takes about as many rounds as there are slots.
OptionalRow<VisitRow> stayOfSlot(const Trace& trace, OperandRow operand, std::int32_t slot,
                                 std::int64_t t)
{
    const Visits& visits = trace.visits();
    const Rows rows = visitsOf(visits, operand);
    const std::size_t begun = visitsBegun(trace, rows, t);
    // The slot's next visit may hold it already, because copies are issued ahead. And the last
    // visit that has begun may not hold it yet: with one slot, the previous block is still leaving.
    OptionalRow<VisitRow> candidate;
    for (std::size_t row = begun; row < rows.last && !candidate; ++row) {
        if (visits.slot[row] == slot) {
            candidate = VisitRow::at(row);
        }
    }
    for (std::size_t row = begun; row > rows.first; --row) {
        if (visits.slot[row - 1] != slot) {
            continue;
        }
        const VisitRow earlier = VisitRow::at(row - 1);
        if (candidate && hasTaken(trace, *candidate, earlier, t)) {
            return candidate;
        }
        candidate = earlier;
    }
    return candidate && hasTaken(trace, *candidate, std::nullopt, t) ? candidate : std::nullopt;
}

// The state of a slot that waits for the block of `visit`, or has it before its first step.
SlotState arriving(const Trace& trace, VisitRow visit, std::int64_t t)
{
    const Copies& copies = trace.copies();
    SlotState state;
    state.block = trace.visits().block[visit.index()];
    state.visit = visit;
    state.copy = CopyRow::of(trace.visits().copyIn[visit.index()]);
    if (!state.copy || copies.end[state.copy->index()] <= t) {
        state.phase = SlotPhase::Ready;
    } else {
        const bool moving = copies.start[state.copy->index()] <= t;
        state.phase = moving ? SlotPhase::Arriving : SlotPhase::Queued;
        state.fraction = copyFraction(trace, *state.copy, Picoseconds(t));
    }
    return state;
}

// The state of a slot whose visit has begun and whose block has landed.
SlotState staying(const Trace& trace, VisitRow visit, std::int64_t t)
{
    const Visits& visits = trace.visits();
    const Steps& steps = trace.steps();
    const std::size_t row = visit.index();
    const StepRow first{visits.firstStep[row]}, last{visits.lastStep[row]};
    SlotState state;
    state.block = visits.block[row];
    state.visit = visit;
    state.copy = CopyRow::of(visits.copyIn[row]);
    if (const OptionalRow<CopyRow> out = CopyRow::of(visits.copyOut[row]);
        out && trace.copies().issue[out->index()] <= t) {
        state.copy = out;
        const bool moving = trace.copies().start[out->index()] <= t;
        const bool gone = trace.copies().end[out->index()] <= t;
        state.phase = gone     ? SlotPhase::Free
                      : moving ? SlotPhase::Leaving
                               : SlotPhase::LeavingQueued;
        state.fraction = gone ? 0 : copyFraction(trace, *out, Picoseconds(t));
        return state;
    }
    if (t >= steps.end[last.index()]) {
        state.phase = SlotPhase::Free;
        return state;
    }
    const StepRow step = std::min(stepOfPipelineAt(trace, first, t), last);
    state.phase = SlotPhase::InUse;
    state.stepsInStay = stepsBetween(trace, first, last) + 1;
    state.stepsDone = stepsBetween(trace, first, step) + (t >= steps.bodyEnd[step.index()] ? 1 : 0);
    state.fraction = static_cast<double>(state.stepsDone) / static_cast<double>(state.stepsInStay);
    return state;
}

// Scratch has no blocks: it is in use while steps run or, if there are no steps, all the time.
SlotState scratchState(const Trace& trace, std::int64_t t)
{
    SlotState state;
    const Steps& steps = trace.steps();
    if (steps.size() == 0) {
        state.phase = t < trace.end().value() ? SlotPhase::InUse : SlotPhase::Free;
        return state;
    }
    if (steps.size() != 0 && t >= steps.begin.front()) {
        state.phase = t < steps.end.back() ? SlotPhase::InUse : SlotPhase::Free;
    }
    return state;
}

// The last of an agent's rows that has begun by t.
std::optional<std::size_t> lastBegun(std::span<const std::uint32_t> rows,
                                     const std::vector<std::int64_t>& begin, std::int64_t t)
{
    const auto later = std::partition_point(rows.begin(), rows.end(),
                                            [&](std::uint32_t row) { return begin[row] <= t; });
    return later == rows.begin() ? std::nullopt : std::optional<std::size_t>(*(later - 1));
}

} // namespace

OptionalRow<StepRow> stepAt(const Trace& trace, Picoseconds t)
{
    const Steps& steps = trace.steps();
    if (steps.size() == 0) {
        return std::nullopt;
    }
    // A step without length begins together with the next one; the last of them holds t.
    const std::size_t begun = begunBy(steps.begin, t.value());
    return StepRow::at(begun == 0 ? 0 : begun - 1);
}

std::vector<Extent> gridIndices(const Pipeline& pipeline, std::int64_t ordinal)
{
    return rowMajorIndex(pipeline.grid, ordinal);
}

CopyRange copiesInFlight(const Trace& trace, LinkRow link, Picoseconds time)
{
    const Copies& copies = trace.copies();
    const std::int64_t t = clamped(trace, time);
    const std::size_t issued = begunBy(copies.issue, t);
    CopyRange range{issued, issued};
    if (trace.info().links.size() == 1) {
        range.first = std::min(begunBy(copies.end, t), issued);
        return range;
    }
    for (std::size_t row = issued; row > 0; --row) {
        if (copies.link[row - 1] != link.number) {
            continue;
        }
        if (copies.end[row - 1] <= t) {
            break; // so have all copies before it on this link
        }
        if (range.empty()) {
            range.last = row;
        }
        range.first = row - 1;
    }
    return range;
}

std::vector<std::size_t> copiesOnLink(const Trace& trace, LinkRow link, Picoseconds t)
{
    const CopyRange range = copiesInFlight(trace, link, t);
    std::vector<std::size_t> rows;
    for (std::size_t row = range.first; row < range.last; ++row) {
        if (trace.copies().link[row] == link.number) {
            rows.push_back(row);
        }
    }
    return rows;
}

double copyFraction(const Trace& trace, CopyRow copy, Picoseconds t)
{
    const std::int64_t start = trace.copies().start[copy.index()],
                       end = trace.copies().end[copy.index()];
    if (t.value() >= end) {
        return 1;
    }
    if (t.value() <= start) {
        return 0;
    }
    return static_cast<double>(t.value() - start) / static_cast<double>(end - start);
}

OptionalRow<VisitRow> visitAt(const Trace& trace, OperandRow operand, StepRow step)
{
    const Visits& visits = trace.visits();
    const Rows rows = visitsOf(visits, operand);
    const auto begin = visits.firstStep.begin();
    const auto found =
        std::upper_bound(begin + static_cast<std::ptrdiff_t>(rows.first),
                         begin + static_cast<std::ptrdiff_t>(rows.last), step.number);
    const std::size_t row = at(found - begin);
    if (row == rows.first || visits.lastStep[row - 1] < step.number) {
        return std::nullopt;
    }
    return VisitRow::at(row - 1);
}

OptionalRow<SegmentRow> segmentAt(const Trace& trace, AgentRow agent, Picoseconds time)
{
    const std::int64_t t = clamped(trace, time);
    const Segments& segments = trace.segments();
    const auto row =
        lastBegun(trace.ofAgents().segments.of(agent.number, segments.agent), segments.begin, t);
    if (!row) {
        return std::nullopt;
    }
    const std::int64_t duration =
        trace.info().templates[at(segments.templateId[*row])].duration.value();
    return t < segments.begin[*row] + duration ? OptionalRow(SegmentRow::at(*row)) : std::nullopt;
}

OptionalRow<WaitRow> waitAt(const Trace& trace, AgentRow agent, Picoseconds time)
{
    const Waits& waits = trace.waits();
    const std::int64_t t = clamped(trace, time);
    // Waits of an agent do not overlap, so the last one decides.
    const auto row =
        lastBegun(trace.ofAgents().waits.of(agent.number, waits.agent), waits.begin, t);
    return row && t < waits.end[*row] ? OptionalRow(WaitRow::at(*row)) : std::nullopt;
}

std::vector<WaitRow> waitsFor(const Trace& trace, CopyRow copy)
{
    const Waits& waits = trace.waits();
    const Copies& copies = trace.copies();
    const auto first =
        std::lower_bound(waits.begin.begin(), waits.begin.end(), copies.issue[copy.index()]);
    // Without caches, a copy has landed when its link has served it.
    const auto last = trace.info().blockGrids.empty()
                          ? std::upper_bound(first, waits.begin.end(), copies.end[copy.index()])
                          : waits.begin.end();
    std::vector<WaitRow> found;
    for (auto it = first; it != last; ++it) {
        const WaitRow wait = WaitRow::at(static_cast<std::size_t>(it - waits.begin.begin()));
        if (waits.copy[wait.index()] == copy.number && waits.end[wait.index()] > *it) {
            found.push_back(wait);
        }
    }
    return found;
}

std::string awaitedName(const Trace& trace, WaitRow wait)
{
    const std::size_t row = wait.index();
    const Waits& waits = trace.waits();
    if (const OptionalRow<CopyRow> copy = CopyRow::of(waits.copy[row])) {
        return copyName(trace, *copy);
    }
    if (!waits.semaphore.empty() && waits.semaphore[row] != kNone) {
        return trace.info().semaphores[static_cast<std::size_t>(waits.semaphore[row])].name;
    }
    const OptionalRow<OperationRow> operation = operationOfWait(trace, wait);
    const bool forProducts =
        operation && trace.info().operations[operation->index()].name == "wgmma_wait";
    return forProducts ? "products" : "";
}

std::string awaitedLabel(const Trace& trace, WaitRow wait)
{
    const OptionalRow<CopyRow> copy = CopyRow::of(trace.waits().copy[wait.index()]);
    return copy ? copyLabel(trace, *copy) : awaitedName(trace, wait);
}

OptionalRow<OperationRow> operationOfWait(const Trace& trace, WaitRow wait)
{
    const std::vector<std::int32_t>& operations = trace.waits().operation;
    return operations.empty() ? std::nullopt : OperationRow::of(operations[wait.index()]);
}

SourceLine lineOfWait(const Trace& trace, WaitRow wait)
{
    const OptionalRow<OperationRow> operation = operationOfWait(trace, wait);
    return operation ? trace.info().operations[operation->index()].source : SourceLine{};
}

OptionalRow<OperationRow> operationAt(const Trace& trace, AgentRow agent, Picoseconds time)
{
    const OptionalRow<SegmentRow> row = segmentAt(trace, AgentRow{agent}, time);
    if (!row) {
        return std::nullopt;
    }
    const Segments& segments = trace.segments();
    const SegmentTemplate& segment = trace.info().templates[at(segments.templateId[row->index()])];
    const std::int64_t since = clamped(trace, time) - segments.begin[row->index()];
    const auto next =
        std::partition_point(segment.retire.begin(), segment.retire.end(),
                             [&](Cycles cycles) { return markTime(segment, cycles) <= since; });
    if (next == segment.retire.end()) {
        return std::nullopt;
    }
    return OperationRow{segment.operations[at(next - segment.retire.begin())]};
}

SlotState slotStateAt(const Trace& trace, BufferRow buffer, Picoseconds time)
{
    PALLASCOPE_CHECK(buffer.index() < trace.info().buffers.size());
    const Buffer& place = trace.info().buffers[buffer.index()];
    return place.operand == kNone ? scratchState(trace, clamped(trace, time))
                                  : slotStateOf(trace, OperandRow{place.operand}, place.slot, time);
}

SlotState slotStateOf(const Trace& trace, OperandRow operand, std::int32_t slot, Picoseconds time)
{
    const std::int64_t t = clamped(trace, time);
    const OptionalRow<VisitRow> visit = stayOfSlot(trace, operand, slot, t);
    if (!visit) {
        return {};
    }
    const std::int32_t in = trace.visits().copyIn[visit->index()];
    const bool begun = trace.steps().begin[at(trace.visits().firstStep[visit->index()])] <= t;
    const bool landed = in == kNone || trace.copies().end[at(in)] <= t;
    return begun && landed ? staying(trace, *visit, t) : arriving(trace, *visit, t);
}

} // namespace pallascope::trace
