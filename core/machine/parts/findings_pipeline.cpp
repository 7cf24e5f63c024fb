// Findings about the blocks of a pipeline.
#include "core/base/format.h"
#include "core/machine/parts/findings.h"
#include "core/machine/prepare/pipeline_rules.h"

#include <algorithm>

namespace pallascope::machine {

void Findings::reportOperand(const OperandPlan& plan, trace::FindingKind kind, std::string sentence,
                             trace::OptionalRow<trace::StepRow> step,
                             trace::OptionalRow<trace::StepRow> related, std::int64_t count,
                             ir::LocationId location)
{
    m_recorder.addFinding(
        trace::found(kind, std::move(sentence), plan.spec->name, step, related,
                     m_recorder.description().sourceLine(m_prepared.program, location), count));
}

// Reports elements of an Indirect block that lie outside of its array. The run stops unless the
// settings let it go on.
void Findings::reportOutside(const PipelineFrame& frame, const OperandPlan& operand,
                             std::int64_t block, bool out)
{
    const std::span<const std::int32_t> list = operand.indices(block);
    const auto axis = static_cast<std::size_t>(operand.facts.indirectAxis);
    const Extent extent = operand.array[axis];
    const auto isOutside = [&](std::int32_t index) { return index < 0 || index >= extent; };
    const auto first = std::find_if(list.begin(), list.end(), isOutside);
    if (first == list.end()) {
        return;
    }
    const bool goesOn = m_settings.outOfBoundsReads == OutOfBoundsReads::Uninitialized;
    const std::string what =
        std::string(out ? "The scatter to " : "The gather of ") + operand.spec->name + " has index "
        + std::to_string(*first) + " at place " + std::to_string(first - list.begin())
        + " for axis " + std::to_string(axis) + ", which has " + countText(extent) + " elements";
    const char* const then = !goesOn ? kStopsUnlessSet
                             : out   ? ": what lies outside is dropped."
                                     : ": what lies outside reads as undefined.";
    trace::Finding finding = trace::found(
        trace::FindingKind::OutOfBounds, what + then, operand.spec->name, rowOf(frame), {},
        m_recorder.description().sourceLine(m_prepared.program, operand.spec->location),
        std::count_if(list.begin(), list.end(), isOutside));
    if (goesOn) {
        m_recorder.addFinding(std::move(finding));
    } else {
        stop(std::move(finding));
    }
}

// Reports an index map that returns a block outside of its array. The run stops, because there is
// nothing to copy.
void Findings::reportLeaving(const PipelineFrame& frame, const OperandPlan& operand,
                             const std::vector<std::int64_t>& indices, std::int64_t step)
{
    if (m_ending.hasStopped()) {
        return;
    }
    const std::string blocks = join(operand.facts.blockCounts, " \u00d7 ");
    stop(trace::found(
        trace::FindingKind::OutOfBounds,
        "The index map of " + operand.spec->name + " yields (" + join(indices, ", ") + ") at step "
            + std::to_string(step) + ", but its array has " + blocks
            + " blocks, numbered from 0: the run stops there.",
        operand.spec->name, rowOf(frame), {},
        m_recorder.description().sourceLine(m_prepared.program, operand.spec->location)));
}

// Notes that a finding says why a slot may have undefined elements.
void Findings::explain(const PipelineOperand& operand, std::int32_t slot)
{
    m_memory[operand.firstSlot + slot].explained = true;
    m_explained.insert(operand.plan->blockRef);
}

void Findings::reportRevisit(const PipelineFrame& frame, const PipelineOperand& operand,
                             std::int64_t block, std::int32_t slot)
{
    const auto before =
        trace::StepRow::of(operand.lastVisitOfBlock[static_cast<std::size_t>(block)]);
    if (before) {
        explain(operand, slot);
        reportOperand(*operand.plan, trace::FindingKind::OutputRevisited,
                      operand.plan->blockName(block) + " was left after step "
                          + std::to_string(before->number) + " and is revisited at step "
                          + std::to_string(frame.row->number)
                          + ": its slot was given away in between, so the revisit starts "
                            "undefined. Make the axes that it "
                            "does not depend on innermost, or accumulate in scratch.",
                      frame.row, before, 1, operand.plan->spec->location);
    }
}

void Findings::reportNotWritten(const PipelineFrame& frame, const PipelineOperand& operand,
                                std::int64_t block, std::int32_t slot)
{
    if (operand.plan->facts.inCount == 0 && !operand.plan->spec->restores
        && m_memory[operand.firstSlot + slot].holds == Memory::Holds::Nothing) {
        explain(operand, slot);
        reportOperand(*operand.plan, trace::FindingKind::OutputNotWritten,
                      operand.plan->blockName(block)
                          + (operand.plan->facts.trivial
                                 ? " is written back though no step stored to it."
                                 : " is written back though no step of its stay stored to it."),
                      frame.row ? frame.row : frame.lastRow, {}, 1, operand.plan->spec->location);
    }
}

// Whether the value decides nothing but which of several is taken: "start from zeros, or go on".
bool Findings::isOnlyChosen(ir::ValueId value)
{
    const auto [known, isNew] = m_onlyChosen.emplace(value, false);
    if (!isNew) {
        return known->second;
    }
    bool isUsed = false, isOnly = true;
    forEachOperation(m_prepared.program.body, [&](const ir::Operation& operation) {
        for (std::size_t i = 0; i < operation.operands.size(); ++i) {
            if (operation.operands[i] == value) {
                isUsed = true;
                isOnly = isOnly && operation.code == ir::OpCode::SelectN && i > 0;
            }
        }
    });
    return known->second = isUsed && isOnly;
}

void Findings::reportCarried(ir::ValueId ref, const ir::Operation& reader)
{
    const ir::ValueId root = m_prepared.rootOf(ref);
    if (m_carried.contains(root)) {
        return;
    }
    const auto owns = [&](const Frame& frame) {
        const auto* const pipeline = std::get_if<PipelineFrame>(&frame);
        return pipeline != nullptr
               && std::any_of(pipeline->owned.buffers.begin(), pipeline->owned.buffers.end(),
                              [&](const auto& buffer) { return buffer.first == root; });
    };
    const std::vector<Frame>& frames = m_turn.agent().frames;
    const auto owner = std::find_if(frames.begin(), frames.end(), owns);
    if (owner == frames.end() || (!reader.results.empty() && isOnlyChosen(reader.results[0]))) {
        return;
    }
    m_carried.insert(root);
    const auto& pipeline = std::get<PipelineFrame>(*owner);
    const std::string& axis =
        pipeline.params->axisNames[innermostParallel(*pipeline.params, pipeline.grid).value()];
    const std::string name = m_prepared.refName(root);
    m_recorder.addFinding(trace::found(
        trace::FindingKind::CarriedInParallel,
        name + (reader.results.empty() ? " is copied (" : " is read (") + placeText(reader.location)
            + ") at a new index of " + axis
            + ", a parallel axis, before anything is stored there: it holds what the index before "
              "left. Where cores share the grid, another one may have run that index. Store to "
            + name + " first, or call the axis arbitrary.",
        name, m_turn.agent().step, {},
        m_recorder.description().sourceLine(m_prepared.program, reader.location)));
}

// Cores share a grid, and a loop may run a pipeline on one part of its array at a time. So only all
// executions together show which blocks were never visited. Arrays to which something else is
// copied are left out.
void Findings::noteVisited(const PipelineFrame& frame, const std::set<std::int32_t>& aliased)
{
    const ir::Operation& operation = *frame.item->control;
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        const PipelineOperand& operand = frame.operands[i];
        const auto isItsInput = [&](const PipelineOperand& other) {
            return other.plan->facts.inCount > 0 && other.array.buffer == operand.array.buffer;
        };
        const auto root = static_cast<std::size_t>(m_prepared.rootOf(operation.operands[i]).index);
        if (operand.plan->facts.outCount == 0 || operand.plan->facts.inCount > 0
            || !operand.plan->tiles || m_prepared.uses.broughtTo[root] > 1
            || aliased.contains(operand.array.buffer)
            || std::any_of(frame.operands.begin(), frame.operands.end(), isItsInput)) {
            continue;
        }
        const VisitedKey key{operation.id, i, operand.array.buffer, operand.array.view.offset};
        Visited& visited = m_visited[key];
        std::vector<bool>& blocks = visited.blocks;
        if (visited.plan == nullptr) {
            visited.plan = operand.plan;
            visited.pipeline = &operation;
            blocks.resize(operand.lastVisitOfBlock.size());
        }
        if (blocks.size() != operand.lastVisitOfBlock.size()) {
            blocks.clear();
        }
        for (std::size_t block = 0; block < blocks.size(); ++block) {
            blocks[block] = blocks[block] || operand.lastVisitOfBlock[block] >= 0;
        }
    }
}

void Findings::reportNeverWritten()
{
    if (m_ending.hasStopped()) {
        return;
    }
    for (const auto& [key, visited] : m_visited) {
        const auto missing = std::count(visited.blocks.begin(), visited.blocks.end(), false);
        if (missing == 0) {
            continue;
        }
        const OperandPlan& plan = *visited.plan;
        m_memory[std::get<2>(key)].explained = true;
        m_explained.insert(plan.blockRef);
        const auto first =
            std::find(visited.blocks.begin(), visited.blocks.end(), false) - visited.blocks.begin();
        reportOperand(plan, trace::FindingKind::OutputNeverWritten,
                      countText(missing) + " of "
                          + countText(static_cast<std::int64_t>(visited.blocks.size()))
                          + " blocks of " + plan.spec->name + " are never visited, first "
                          + plan.blockName(first) + ": the grid does not cover the array.",
                      {}, {}, missing, visited.pipeline->location);
    }
}

void Findings::reportNeverAwaited(const PipelineFrame& frame)
{
    for (const PipelineOperand& operand : frame.operands) {
        const std::int64_t left = operand.copyIn - operand.waitIn;
        if (left > 0) {
            reportOperand(*operand.plan, trace::FindingKind::CopyNeverAwaited,
                          countText(left) + (left == 1 ? " copy of " : " copies of ")
                              + operand.plan->spec->name
                              + " into its slots is started and never waited for: its semaphore "
                                "is left over. A grid of "
                              + countText(frame.steps) + " steps is too short for "
                              + std::to_string(operand.plan->facts.inCount)
                              + " buffers in this schedule.",
                          {}, {}, left, operand.plan->spec->location);
        }
    }
}

} // namespace pallascope::machine
