// What a run finds: bugs of the program, with operand, step and line.
#include "core/base/format.h"
#include "core/machine/engine.h"

#include <algorithm>

namespace pallascope::machine {

ir::ValueId Engine::rootOf(ir::ValueId ref) const
{
    while (m_uses.seen[static_cast<std::size_t>(ref.index)].index >= 0) {
        ref = m_uses.seen[static_cast<std::size_t>(ref.index)];
    }
    return ref;
}

std::string Engine::refName(ir::ValueId ref) const
{
    const std::string& name = m_program.value(rootOf(ref)).name;
    return name.empty() ? "a ref" : name;
}

// A branch, an address, a loop or a grid that undefined data decides.
void Engine::reportUndefinedUse(const RuntimeValue& value, const char* kind,
                                const std::string& what, ir::LocationId location)
{
    if (!value.shadow.all()) {
        m_recorder.addFinding({kind,
                               trace::FindingClass::Structural,
                               what + " is decided by an undefined value.",
                               "",
                               m_agent->step,
                               {},
                               m_recorder.sourceLine(m_program, location),
                               1});
    }
}

void Engine::reportUndefinedWrite(const Flight& flight, std::int64_t undefined)
{
    const OperandPlan& operand = *flight.operand;
    const std::int64_t all = Shape(operand.box(flight.block).size).elements();
    m_recorder.addFinding({"undefined_written_back",
                           trace::FindingClass::Value,
                           operand.blockName(flight.block) + " is written back with "
                               + countText(undefined) + " of " + countText(all)
                               + " elements undefined.",
                           operand.spec->name,
                           flight.step,
                           {},
                           m_recorder.sourceLine(m_program, operand.spec->location),
                           1});
}

// An access that nothing orders after another one.
void Engine::reportRace(const Race& race, const std::string& name, bool isCopy, std::int32_t step,
                        ir::LocationId location)
{
    std::string kind = !race.withCopy ? "race"
                       : race.writes  ? "overwritten_in_flight"
                                      : "read_before_wait";
    const trace::SourceLine source = m_recorder.sourceLine(m_program, location);
    if (m_recorder.countsAgain(kind, name, source)) { // without words for what is said already
        return;
    }
    const std::string what = isCopy ? "a copy that starts at " : "";
    const std::string here = what + m_program.where(location);
    const std::string there = m_program.where(race.location);
    std::string sentence;
    if (!race.withCopy) {
        sentence = m_recorder.agentName(m_agent->id) + (race.writes ? " writes " : " reads ") + name
                   + " (" + here + ") and " + m_recorder.agentName(race.agent)
                   + (race.otherWrites ? " writes" : " reads") + " the same elements (" + there
                   + "): nothing puts the two in order. A semaphore or disjoint parts are right.";
    } else {
        // Of several copies on one semaphore a wait may not know which has come.
        const bool shared = m_layout.devices > 1;
        const std::string copy =
            shared ? "a copy that no wait is sure of " : "a copy that nobody has waited for ";
        sentence = name + (race.writes ? " is written (" : " is read (") + here + ") while " + copy
                   + (race.otherWrites ? "writes" : "reads") + " the same elements (started at "
                   + there + "). A wait for that copy before"
                   + (shared ? ", on a semaphore of its own," : "") + " is right.";
    }
    m_recorder.addFinding(
        {std::move(kind), trace::FindingClass::Structural, std::move(sentence), name, step,
         race.step < 0 ? std::nullopt : std::optional<std::int64_t>(race.step), source, 1});
}

void Engine::reportOperand(const OperandPlan& plan, std::string kind, std::string sentence,
                           std::int32_t step, std::optional<std::int64_t> related,
                           std::int64_t count)
{
    m_recorder.addFinding({std::move(kind), trace::FindingClass::Structural, std::move(sentence),
                           plan.spec->name, step, related,
                           m_recorder.sourceLine(m_program, plan.spec->location), count});
}

// Elements of an Indirect block that its array does not have. Without leave to go on the run stops.
void Engine::reportOutside(const PipelineFrame& frame, const OperandPlan& operand,
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
    const bool goesOn = m_options.settings.outOfBoundsReads == OutOfBoundsReads::Uninitialized;
    const std::string what =
        std::string(out ? "The scatter to " : "The gather of ") + operand.spec->name + " has index "
        + std::to_string(*first) + " at place " + std::to_string(first - list.begin())
        + " for axis " + std::to_string(axis) + ", which has " + countText(extent) + " elements";
    const char* const then = !goesOn ? kStopsUnlessSet
                             : out   ? ": what lies outside is dropped."
                                     : ": what lies outside reads as undefined.";
    trace::Finding finding{"out_of_bounds",
                           trace::FindingClass::Structural,
                           what + then,
                           operand.spec->name,
                           rowOf(frame),
                           {},
                           m_recorder.sourceLine(m_program, operand.spec->location),
                           std::count_if(list.begin(), list.end(), isOutside)};
    if (goesOn) {
        m_recorder.addFinding(std::move(finding));
    } else {
        stop(std::move(finding));
    }
}

void Engine::reportRevisit(const PipelineFrame& frame, const PipelineOperand& operand,
                           std::int64_t block)
{
    const std::int32_t before = operand.lastVisitOfBlock[static_cast<std::size_t>(block)];
    if (before >= 0) {
        reportOperand(*operand.plan, "output_revisited",
                      operand.plan->blockName(block) + " was left after step "
                          + std::to_string(before) + " and is revisited at step "
                          + std::to_string(frame.row)
                          + ": its slot was given away in between, so the revisit starts "
                            "undefined. Make the axes that it "
                            "does not depend on innermost, or accumulate in scratch.",
                      frame.row, before, 1);
    }
}

void Engine::reportNotWritten(const PipelineFrame& frame, const PipelineOperand& operand,
                              std::int64_t block, std::int32_t slot)
{
    if (operand.plan->facts.inCount == 0 && !operand.plan->spec->restores
        && !m_state.memory[operand.firstSlot + slot].written) {
        reportOperand(*operand.plan, "output_not_written",
                      operand.plan->blockName(block)
                          + (operand.plan->facts.trivial
                                 ? " is written back though no step stored to it."
                                 : " is written back though no step of its stay stored to it."),
                      frame.row >= 0 ? frame.row : frame.lastRow, {}, 1);
    }
}

// Cores share a grid, and a loop may run a pipeline for a part of its array at a time: only all
// executions together say what was never visited. Nothing can be said of an array that something
// else is copied to.
void Engine::noteVisited(const PipelineFrame& frame)
{
    const ir::Operation& operation = *frame.item->control;
    for (std::size_t i = 0; i < frame.operands.size(); ++i) {
        const PipelineOperand& operand = frame.operands[i];
        const auto isItsInput = [&](const PipelineOperand& other) {
            return other.plan->facts.inCount > 0 && other.array.buffer == operand.array.buffer;
        };
        const auto root = static_cast<std::size_t>(rootOf(operation.operands[i]).index);
        if (operand.plan->facts.outCount == 0 || operand.plan->facts.inCount > 0
            || !operand.plan->tiles || m_uses.broughtTo[root] > 1
            || m_state.aliased.contains(operand.array.buffer)
            || std::any_of(frame.operands.begin(), frame.operands.end(), isItsInput)) {
            continue;
        }
        const VisitedKey key{operation.id, i, operand.array.buffer, operand.array.view.offset};
        Visited& visited = m_visited[key];
        std::vector<bool>& blocks = visited.blocks;
        if (visited.plan == nullptr) {
            visited.plan = operand.plan;
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

void Engine::reportNeverWritten()
{
    if (m_state.stopped) {
        return;
    }
    for (const auto& [key, visited] : m_visited) {
        const auto missing = std::count(visited.blocks.begin(), visited.blocks.end(), false);
        if (missing == 0) {
            continue;
        }
        const OperandPlan& plan = *visited.plan;
        const auto first =
            std::find(visited.blocks.begin(), visited.blocks.end(), false) - visited.blocks.begin();
        reportOperand(plan, "output_never_written",
                      countText(missing) + " of "
                          + countText(static_cast<std::int64_t>(visited.blocks.size()))
                          + " blocks of " + plan.spec->name + " are never visited, first "
                          + plan.blockName(first) + ": the grid does not cover the array.",
                      -1, {}, missing);
    }
}

void Engine::reportNeverAwaited(const PipelineFrame& frame)
{
    for (const PipelineOperand& operand : frame.operands) {
        const std::int64_t left = operand.copyIn - operand.waitIn;
        if (left > 0) {
            reportOperand(*operand.plan, "copy_never_awaited",
                          countText(left) + (left == 1 ? " copy of " : " copies of ")
                              + operand.plan->spec->name
                              + " into its slots is started and never waited for: its semaphore "
                                "is left over. A grid of "
                              + countText(frame.steps) + " steps is too short for "
                              + std::to_string(operand.plan->facts.inCount)
                              + " buffers in this schedule.",
                          -1, {}, left);
        }
    }
}

} // namespace pallascope::machine
