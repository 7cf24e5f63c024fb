// Blocks of a running pipeline: which one a step needs, and the slot that its body sees.
#include "core/base/format.h"
#include "core/machine/parts/pipelines.h"

#include <algorithm>
#include <limits>

namespace pallascope::machine {

void jumpTo(GridPoint& at, const std::vector<Extent>& grid, std::int64_t step)
{
    std::int64_t rest = step;
    for (std::size_t axis = grid.size(); axis-- > 0;) {
        at.point[axis] = rest % grid[axis];
        rest /= grid[axis];
    }
    at.step = step;
}

std::int64_t Pipelines::lookUpBlock(PipelineFrame& frame, std::size_t operand, std::int64_t step)
{
    const PipelineFrame::Changes& changes = frame.changes[operand];
    if (!changes.every || step < 0 || step >= frame.steps || !frame.offset.empty()) {
        return evaluateMap(frame, operand, step);
    }
    PipelineFrame::Looked& looked = frame.lookedAt(operand, step);
    const PipelineFrame::Looked& before = frame.lookedAt(operand, step - 1);
    looked.step = step;
    if (before.step == step - 1 && !changes.at(step)) {
        looked.block = before.block;
    } else {
        moveTo(frame.points[operand], frame.grid, step);
        looked.block = frame.operands[operand].plan->map.plainBlock(frame.points[operand].point);
    }
    return looked.block;
}

std::int64_t Pipelines::evaluateMap(PipelineFrame& frame, std::size_t operand, std::int64_t step)
{
    const bool isBefore = step < 0; // before the first step; needed only for comparisons
    if (step < 0 || step >= frame.steps) {
        step = (step % frame.steps + frame.steps) % frame.steps; // indices wrap around the grid
    }
    PipelineFrame::Looked& looked = frame.lookedAt(operand, step);
    if (looked.step == step) {
        return looked.block;
    }
    const BlockMap& map = frame.operands[operand].plan->map;
    moveTo(frame.points[operand], frame.grid, step);
    const auto load = [this](const ir::Operation& get, auto indices) {
        return m_accesses.loadIndex(get, indices);
    };
    const auto around = [this](ir::ValueId id) -> const RuntimeValue& { return m_turn.value(id); };
    const auto blockOf = [&](std::span<const std::int64_t> point) {
        return map.isPlain() ? map.plainBlock(point) : map.block(point, load, around, m_mapScratch);
    };
    const auto pointAt = [&](std::int64_t at) {
        moveTo(frame.points[operand], frame.grid, at);
        Extents point(frame.points[operand].point);
        for (std::size_t axis = 0; axis < frame.offset.size(); ++axis) {
            point[axis] += frame.offset[axis];
        }
        return point;
    };
    std::int64_t block =
        frame.offset.empty() ? blockOf(frame.points[operand].point) : blockOf(pointAt(step));
    if (block < 0 && map.isOverfull()) {
        const OperandPlan& which = *frame.operands[operand].plan;
        m_ending.fail(limitError(which.spec->name
                                 + " is gathered or scattered by lists of more than "
                                 + countText(ir::kMostIndices)
                                 + " different indices in all, the most that a run keeps."));
        block = 0;
    } else if (block < 0 && isBefore) {
        return block;
    } else if (block < 0) {
        // Steps are not looked up in order, but an author wants to know the first one that leaves
        // the array.
        std::int64_t first = map.isPlain() ? 0 : step;
        while (first < step && map.plainBlock(pointAt(first)) >= 0) {
            ++first;
        }
        m_findings.reportLeaving(frame, *frame.operands[operand].plan,
                                 map.yielded(pointAt(first), around, m_mapScratch), first);
        block = 0;
    }
    if (!isBefore && !m_ending.hasStopped()) {
        checkCut(frame, frame.operands[operand], block);
    }
    // If a body may change the result, it is looked up again each time.
    if (!frame.isLiveAt(operand)) {
        looked = {step, block};
    }
    return block;
}

bool Pipelines::lookUpChange(PipelineFrame& frame, std::size_t operand, std::int64_t step)
{
    if (frame.operands[operand].plan->facts.isIndirect()) {
        return true;
    }
    const std::int64_t before = blockAt(frame, operand, step - 1);
    const bool changes = blockAt(frame, operand, step) != before;
    PipelineFrame::Changes& seen = frame.changes[operand];
    if (!frame.isLiveAt(operand) && (seen.known == 0 || step == seen.last + 1)) {
        constexpr std::int64_t kMost = std::numeric_limits<std::uint64_t>::digits;
        seen = {.last = step,
                .known = std::min(seen.known + 1, kMost),
                .bits = seen.bits << 1U | (changes ? 1U : 0U)};
    }
    return changes;
}

// An array that is itself a block in another array's memory ends where that array ends. What lies
// beyond belongs to neither.
void Pipelines::checkCut(const PipelineFrame& frame, const PipelineOperand& operand,
                         std::int64_t block)
{
    const OperandPlan& plan = *operand.plan;
    if (operand.array.whole || !operand.array.recasts.empty()
        || operand.array.view.shape == plan.array) {
        return;
    }
    const Shape& extents = operand.array.view.shape;
    const Reach reach = plan.reach(block);
    for (std::size_t axis = 0; axis < extents.rank(); ++axis) {
        if (reach.stop[axis] <= extents[axis]) {
            continue;
        }
        m_findings.stop(trace::found(
            trace::FindingKind::OutOfBounds,
            plan.blockName(block) + " reaches elements up to "
                + std::to_string(reach.stop[axis] - 1) + " on axis " + std::to_string(axis)
                + " of a block that has " + std::to_string(extents[axis])
                + " in the array around it: the run stops there.",
            plan.spec->name, rowOf(frame), {},
            m_recorder.description().sourceLine(m_prepared.program, plan.spec->location)));
        return;
    }
}

// Points the block's ref at the slot of this step. An output block that is new starts undefined.
void Pipelines::bindBlock(PipelineFrame& frame, std::size_t index)
{
    const std::int64_t s = frame.step;
    PipelineOperand& operand = frame.operands[index];
    const ir::OperandFacts& facts = operand.plan->facts;
    const std::int64_t block = blockAt(frame, index, s);
    if (facts.unbuffered) {
        const Box box = operand.plan->box(block);
        std::vector<Window> windows;
        for (std::size_t axis = 0; axis < box.start.size(); ++axis) {
            windows.push_back({box.start[axis], box.size[axis], 1, !box.squeezed[axis]});
        }
        m_turn.binding(operand.plan->blockRef) =
            narrowed(operand.array, m_turn.buffer(operand.array.buffer).shape(), windows);
        m_watch.bound(operand.plan->blockRef, m_turn.binding(operand.plan->blockRef));
        return;
    }
    const bool out = facts.outCount > 0;
    const std::int32_t slot = facts.trivial || frame.params->noPipelining
                                  ? 0
                                  : operand.slotOf(out ? operand.copyOut : operand.waitIn);
    const bool changed = s == 0 || (!facts.trivial && changesAt(frame, index, s));
    m_turn.binding(operand.plan->blockRef).buffer = operand.firstSlot + slot; // it is never a view
    if (changed || (frame.params->noPipelining && !out)) {
        visit(frame, index, block, slot);
    } else {
        m_recorder.continueVisit(trace::OperandRow{operand.traceOperand}, *frame.row, block, slot);
    }
    if (out && !facts.isIndirect()) {
        operand.lastVisitOfBlock[static_cast<std::size_t>(block)] = frame.row->number;
    }
}

void Pipelines::visit(PipelineFrame& frame, std::size_t index, std::int64_t block,
                      std::int32_t slot)
{
    PipelineOperand& operand = frame.operands[index];
    const bool in = operand.plan->facts.inCount > 0;
    trace::OptionalRow<trace::CopyRow> brought;
    if (in) {
        // The index map may by now return something else, or may have asked for no wait.
        const SlotCopy& copy = operand.inCopyOfSlot[static_cast<std::size_t>(slot)];
        if (copy.row && copy.end <= m_turn.agent().time) {
            brought = copy.row;
            block = copy.block;
        }
    }
    Memory& memory = m_memory[operand.firstSlot + slot];
    memory.holds = Memory::Holds::Nothing;
    if (operand.plan->facts.outCount > 0 && !in) {
        if (m_watch.isOn()) {
            m_watch.byPipeline(*frame.item->control);
        }
        const Watch::Writing writing(m_watch, m_watch.in(SlabRange{operand.firstSlot + slot, 1}),
                                     Touch::Kind::Cleared);
        memory.contents.makeUndefined();
        memory.explained = false;
        memory.undefinedBy = {};
        if (operand.plan->spec->restores) {
            brought = startCopy(frame, index, block, slot, false);
            waitFor(operand, slot, false, frame.row);
            m_copies.land(m_turn.agent().time);
            // It is scattered again, and the last one counts.
        } else if (!operand.plan->facts.isIndirect()) {
            m_findings.reportRevisit(frame, operand, block, slot);
        }
    }
    m_recorder.beginVisit(trace::OperandRow{operand.traceOperand}, *frame.row, block, slot,
                          brought);
}

} // namespace pallascope::machine
