// What a run finds: bugs of the program, with operand, step and line.
#include "core/base/check.h"
#include "core/base/format.h"
#include "core/machine/engine/engine.h"

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
                               what + " is decided by an undefined value." + calledFrom(location),
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
    m_state.memory[flight.array.buffer].explained = true;
    const auto isHere = [&](const auto& places) {
        return places.first == flight.location.index || places.second == flight.location.index;
    };
    // A store of what is read too early says no more than the race at its line.
    if (flight.explained
        || std::any_of(m_unorderedPlaces.begin(), m_unorderedPlaces.end(), isHere)) {
        return;
    }
    const std::int64_t all = Shape(operand.box(flight.block).size).elements();
    const bool stored = flight.location.index >= 0;
    const ir::LocationId location = stored ? flight.location : operand.spec->location;
    m_recorder.addFinding({"undefined_written_back",
                           trace::FindingClass::Value,
                           operand.blockName(flight.block) + " is written back with "
                               + countText(undefined) + " of " + countText(all)
                               + " elements undefined: "
                               + (stored ? "what is stored there comes from memory that nobody "
                                           "wrote, or from behind the edge of an array."
                                         : "nothing is stored there.")
                               + calledFrom(location),
                           operand.spec->name,
                           flight.step,
                           {},
                           m_recorder.sourceLine(m_program, location),
                           1});
}

// What the caller gets undefined elements in, if no finding has said why or may be the reason.
void Engine::reportUndefinedResults()
{
    if (!m_unordered.empty() || !m_unorderedPlaces.empty() || m_leavesCopies) {
        return;
    }
    for (const ir::Argument& argument : m_program.arguments) {
        if (argument.kind != ir::ArgumentKind::Output) {
            continue;
        }
        ir::LocationId brought, undefinedBy;
        bool explained = false;
        for (std::int32_t device = 0; device < m_layout.devices; ++device) {
            m_agent = &firstOf(device);
            const Memory& memory = m_state.memory[binding(argument.ref).buffer];
            explained = explained || memory.explained;
            brought = memory.broughtBy.index >= 0 ? memory.broughtBy : brought;
            undefinedBy = memory.undefinedBy.index >= 0 ? memory.undefinedBy : undefinedBy;
        }
        const Buffer array = whole(argument);
        const std::int64_t undefined = explained ? 0 : array.undefinedCount();
        if (undefined == 0) {
            continue;
        }
        const bool byCopy = undefinedBy.index >= 0;
        const ir::LocationId location = byCopy ? undefinedBy : brought;
        m_recorder.addFinding(
            {"undefined_result",
             trace::FindingClass::Value,
             argument.name + " ends with " + countText(undefined) + " of "
                 + countText(array.shape().elements()) + " elements undefined: "
                 + (byCopy ? "a copy brings them from memory that nobody wrote."
                    : brought.index >= 0
                        ? "no copy reaches them; this is the last one to " + argument.name + "."
                        : "nothing writes to them.")
                 + calledFrom(location),
             argument.name,
             -1,
             {},
             m_recorder.sourceLine(m_program, location),
             undefined});
    }
}

std::string Engine::calledFrom(ir::LocationId location) const
{
    const std::string callers = m_program.callersOf(location);
    return callers.empty() ? "" : " That line is" + callers.substr(1) + ".";
}

// One cause is one finding: a copy that is found to be unordered once is so wherever it is met, and
// of two places either may come first.
bool Engine::isExplained(const Race& race, std::optional<std::int32_t> copy,
                         ir::LocationId location)
{
    bool known = race.withCopy && m_unordered.contains(race.copy);
    if (race.withCopy) {
        m_unordered.insert(race.copy);
    }
    if (copy) {
        m_unordered.insert(*copy);
    }
    const auto [least, most] = std::minmax(race.location.index, location.index);
    if (least >= 0) {
        known = !m_unorderedPlaces.emplace(least, most).second || known;
    }
    return known;
}

// An access that nothing orders after another one; `copy` is that which makes it.
void Engine::reportRace(const Race& race, const std::string& name, std::optional<std::int32_t> copy,
                        std::int32_t step, ir::LocationId location)
{
    const Agent* const other =
        race.agent < 0 ? nullptr : &m_state.agents[static_cast<std::size_t>(race.agent)];
    const bool ofAgents = other != nullptr && other->id != m_agent->id
                          && (!race.withCopy || other->device == m_agent->device);
    std::string kind = ofAgents      ? "race"
                       : race.writes ? "overwritten_in_flight"
                                     : "read_before_wait";
    const trace::SourceLine source = m_recorder.sourceLine(m_program, location);
    const bool known = isExplained(race, copy, location);
    if (m_recorder.countsAgain(kind, name, source) || known) { // no words for what is said already
        return;
    }
    const auto place = [&](ir::LocationId at) {
        return m_program.where(at) + m_program.callersOf(at);
    };
    const std::string here = (copy ? "a copy that starts at " : "") + place(location);
    const std::string there = place(race.location);
    const char* const byPipeline = "Blocks are copied ahead of their steps and behind them, so "
                                   "nothing else may use their elements meanwhile.";
    std::string sentence;
    if (ofAgents) {
        const bool unawaited = race.withCopy && !race.ofPipeline;
        sentence = m_recorder.agentName(m_agent->id) + (race.writes ? " writes " : " reads ") + name
                   + " (" + here + ") and " + m_recorder.agentName(race.agent)
                   + (race.otherWrites ? " writes" : " reads") + " the same elements ("
                   + (unawaited ? "a copy that it has not waited for, started at " : "") + there
                   + "): nothing puts the two in order. "
                   + (unawaited ? "That wait and then a semaphore, or disjoint parts, are right."
                                : "A semaphore or disjoint parts are right.");
    } else {
        // Of several copies on one semaphore a wait may not know which has come.
        const bool shared = m_layout.devices > 1;
        sentence = name + (race.writes ? " is written (" : " is read (") + here + ") while "
                   + (race.ofPipeline ? "a copy of a block "
                      : shared        ? "a copy that no wait is sure of "
                                      : "a copy that nobody has waited for ")
                   + (race.otherWrites ? "writes" : "reads") + " the same elements (started at "
                   + there + "). ";
        sentence += race.ofPipeline ? byPipeline
                    : shared ? "A wait for that copy before, on a semaphore of its own, is right."
                             : "A wait for that copy before, or a later start of it, is right.";
    }
    m_recorder.addFinding(
        {std::move(kind), trace::FindingClass::Structural, std::move(sentence), name, step,
         race.step < 0 ? std::nullopt : std::optional<std::int64_t>(race.step), source, 1});
}

void Engine::reportOperand(const OperandPlan& plan, std::string kind, std::string sentence,
                           std::int32_t step, std::optional<std::int64_t> related,
                           std::int64_t count, ir::LocationId location)
{
    m_recorder.addFinding({std::move(kind), trace::FindingClass::Structural, std::move(sentence),
                           plan.spec->name, step, related,
                           m_recorder.sourceLine(m_program, location), count});
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

// An index map that yields a block that its array does not have. Any copy would be made up.
void Engine::reportLeaving(const PipelineFrame& frame, const OperandPlan& operand,
                           const std::vector<std::int64_t>& indices, std::int64_t step)
{
    if (m_state.stopped) {
        return;
    }
    const std::string blocks = join(operand.facts.blockCounts, " \u00d7 ");
    stop({"out_of_bounds",
          trace::FindingClass::Structural,
          "The index map of " + operand.spec->name + " yields (" + join(indices, ", ")
              + ") at step " + std::to_string(step) + ", but its array has " + blocks
              + " blocks, numbered from 0: the run stops there.",
          operand.spec->name,
          rowOf(frame),
          {},
          m_recorder.sourceLine(m_program, operand.spec->location),
          1});
}

// Why undefined elements may be in a slot is said.
void Engine::explain(const PipelineOperand& operand, std::int32_t slot)
{
    m_state.memory[operand.firstSlot + slot].explained = true;
}

void Engine::reportRevisit(const PipelineFrame& frame, const PipelineOperand& operand,
                           std::int64_t block, std::int32_t slot)
{
    const std::int32_t before = operand.lastVisitOfBlock[static_cast<std::size_t>(block)];
    if (before >= 0) {
        explain(operand, slot);
        reportOperand(*operand.plan, "output_revisited",
                      operand.plan->blockName(block) + " was left after step "
                          + std::to_string(before) + " and is revisited at step "
                          + std::to_string(frame.row)
                          + ": its slot was given away in between, so the revisit starts "
                            "undefined. Make the axes that it "
                            "does not depend on innermost, or accumulate in scratch.",
                      frame.row, before, 1, operand.plan->spec->location);
    }
}

void Engine::reportNotWritten(const PipelineFrame& frame, const PipelineOperand& operand,
                              std::int64_t block, std::int32_t slot)
{
    if (operand.plan->facts.inCount == 0 && !operand.plan->spec->restores
        && !m_state.memory[operand.firstSlot + slot].written) {
        explain(operand, slot);
        reportOperand(*operand.plan, "output_not_written",
                      operand.plan->blockName(block)
                          + (operand.plan->facts.trivial
                                 ? " is written back though no step stored to it."
                                 : " is written back though no step of its stay stored to it."),
                      frame.row >= 0 ? frame.row : frame.lastRow, {}, 1,
                      operand.plan->spec->location);
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
        m_state.memory[std::get<2>(key)].explained = true;
        const auto first =
            std::find(visited.blocks.begin(), visited.blocks.end(), false) - visited.blocks.begin();
        reportOperand(plan, "output_never_written",
                      countText(missing) + " of "
                          + countText(static_cast<std::int64_t>(visited.blocks.size()))
                          + " blocks of " + plan.spec->name + " are never visited, first "
                          + plan.blockName(first) + ": the grid does not cover the array.",
                      -1, {}, missing, visited.pipeline->location);
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
                          -1, {}, left, operand.plan->spec->location);
        }
    }
}

// Agents that wait alike are named together.
void Engine::reportDeadlock()
{
    std::vector<std::pair<std::string, std::vector<const Agent*>>> waits;
    for (const Agent& agent : m_state.agents) {
        if (!agent.waiting || agent.waiting->semaphore < 0) {
            continue;
        }
        const Semaphore& semaphore = m_state.semaphores[agent.waiting->semaphore];
        const ir::LocationId location = agent.waiting->operation->location;
        const bool dma = semaphore.space == ir::MemorySpace::DmaSemaphore;
        const std::string callers = m_program.callersOf(location);
        std::string what = m_program.where(location) + callers + (callers.empty() ? "" : ",")
                           + " for " + countText(agent.waiting->amount) + (dma ? " bytes" : "")
                           + " of the semaphore " + m_recorder.semaphoreName(semaphore.row)
                           + ", which has " + countText(semaphore.count);
        const auto same = std::find_if(waits.begin(), waits.end(),
                                       [&](const auto& wait) { return wait.first == what; });
        if (same != waits.end()) {
            same->second.push_back(&agent);
        } else {
            waits.emplace_back(std::move(what), std::vector{&agent});
        }
    }
    PALLASCOPE_CHECK(!waits.empty());
    std::string text;
    for (const auto& [what, agents] : waits) {
        const std::size_t others = agents.size() - 1;
        text += (text.empty() ? "" : "; ") + m_recorder.agentName(agents.front()->id)
                + (others == 0   ? " waits at "
                   : others == 1 ? " and another wait at "
                                 : " and " + countText(static_cast<std::int64_t>(others))
                                       + " others wait at ")
                + what + ", since " + timeText(agents.front()->waiting->since);
    }
    const Agent& first = *waits.front().second.front();
    stop({"deadlock",
          trace::FindingClass::Structural,
          "Nothing can go on: " + text + "; no copy under way and no other core will signal it.",
          m_recorder.semaphoreName(m_state.semaphores[first.waiting->semaphore].row),
          first.step,
          {},
          m_recorder.sourceLine(m_program, first.waiting->operation->location),
          1});
}

} // namespace pallascope::machine
