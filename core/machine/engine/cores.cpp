// Programs that run on several cores at once: core_map, and grids shared between its cores.
#include "core/base/format.h"
#include "core/ir/mesh.h"
#include "core/machine/engine/engine.h"

#include <algorithm>

namespace pallascope::machine {

// This core goes on as core 0 of the first slot, or waits where agents of another kind run the map;
// the others begin with what it knows.
void Engine::enterCores(const PlanItem& item)
{
    const auto& mesh = std::get<ir::CoreMapParams>(item.control->params);
    const AgentGroup& group = m_layout.groupOf(m_chip.agentNamed(mesh.agents));
    const chip::AgentKind& kind = m_chip.agents[static_cast<std::size_t>(group.kind)];
    if (mesh.cores > kind.count) {
        fail(userError(m_program.where(item.control->location) + ": core_map asks for "
                       + std::to_string(mesh.cores) + " cores; the chip " + m_chip.title + " has "
                       + std::to_string(kind.count)
                       + (mesh.agents.empty() ? "." : " of " + kind.name + ".")));
        return;
    }
    Agent& caller = *m_agent;
    const Agent& first = agentAt(caller.device, group.kind, 0, 0);
    if (group.running(mesh) > 1 || first.id != caller.id) {
        m_state.races.fork(caller.id, first.id, group.running(mesh));
    }
    m_state.dispatched[static_cast<std::size_t>(caller.device)] = 0;
    for (std::int32_t slot = 0; slot < group.slotsOf(mesh); ++slot) {
        m_agent = &agentAt(caller.device, group.kind, slot, 0);
        m_agent->cores = mesh.cores;
        m_agent->mesh = &mesh;
        if (m_agent->id != caller.id) {
            m_agent->time = caller.time;
            m_agent->values = caller.values;
            m_agent->refs = caller.refs;
        }
        m_agent->frames.emplace_back(CoresFrame{&item});
        dispatch(item);
    }
    m_agent = &caller;
    if (first.id != caller.id) {
        caller.frames.emplace_back(AwayFrame{&item});
    }
}

// The next block begins in this agent's slot.
void Engine::dispatch(const PlanItem& item)
{
    const auto& mesh = std::get<ir::CoreMapParams>(item.control->params);
    m_agent->block = m_state.dispatched[static_cast<std::size_t>(m_agent->device)]++;
    m_agent->frames.emplace_back(BlockFrame{item.regions[0]});
    for (std::int32_t core = 1; core < mesh.cores; ++core) {
        Agent& other = agentAt(m_agent->device, m_agent->kind, m_agent->slot, core);
        other.cores = mesh.cores;
        other.block = m_agent->block;
        other.mesh = &mesh;
        other.time = m_agent->time;
        other.values = m_agent->values;
        other.refs = m_agent->refs;
        other.frames.emplace_back(BlockFrame{item.regions[0]});
    }
    m_horizon = std::min(m_horizon, m_agent->time); // the others begin now too
}

// Somebody is done: whoever waits for that looks again.
void Engine::wakeJoining()
{
    if (m_agent->kind < 0) {
        return;
    }
    for (Agent* waiting :
         {&agentAt(m_agent->device, m_agent->kind, m_agent->slot, 0),
          &agentAt(m_agent->device, m_agent->kind, 0, 0), &firstOf(m_agent->device)}) {
        if (waiting->waiting && waiting->waiting->semaphore < 0) {
            waiting->waiting.reset();
        }
    }
}

// The later of now and then, with the wait until then.
Picoseconds Engine::awaitEnd(Picoseconds end)
{
    if (end > m_agent->time) {
        m_recorder.addWait({}, m_agent->id, m_agent->step, m_agent->time, end);
    }
    return std::max(m_agent->time, end);
}

// The first core of a slot has come to the end of a block.
void Engine::joinCores()
{
    const auto& item = *std::get<CoresFrame>(m_agent->frames.back()).item;
    const auto& mesh = std::get<ir::CoreMapParams>(item.control->params);
    Picoseconds end = m_agent->time;
    for (std::int32_t core = 1; core < mesh.cores; ++core) {
        Agent& other = agentAt(m_agent->device, m_agent->kind, m_agent->slot, core);
        if (!other.isDone()) {
            m_agent->waiting = Waiting{.since = m_agent->time};
            return;
        }
        end = std::max(end, other.time);
    }
    m_agent->time = awaitEnd(end);
    if (m_agent->time > m_horizon) {
        return; // another slot may be free before
    }
    if (m_state.dispatched[static_cast<std::size_t>(m_agent->device)] < ir::sizeOf(mesh.grid)) {
        dispatch(item);
        return;
    }
    for (std::int32_t core = 1; core < mesh.cores; ++core) {
        Agent& other = agentAt(m_agent->device, m_agent->kind, m_agent->slot, core);
        other.values = {};
        other.refs = {};
    }
    if (m_agent->slot == 0) {
        joinSlots();
        return;
    }
    m_agent->values = {};
    m_agent->refs = {};
    m_agent->frames.pop_back();
}

// The first slot has no block left: the program goes on when the others have none either.
void Engine::joinSlots()
{
    Picoseconds end = m_agent->time;
    const AgentGroup& group = m_layout.groupOf(m_agent->kind);
    for (std::int32_t slot = 1; slot < group.slots; ++slot) {
        const Agent& other = agentAt(m_agent->device, m_agent->kind, slot, 0);
        if (!other.isDone()) {
            m_agent->waiting = Waiting{.since = m_agent->time};
            return;
        }
        end = std::max(end, other.time);
    }
    const std::int32_t count = group.running(*m_agent->mesh);
    m_agent->time = awaitEnd(end);
    m_agent->cores = 1;
    m_agent->mesh = nullptr;
    m_agent->frames.pop_back();
    const std::int32_t caller = firstOf(m_agent->device).id;
    if (count > 1 || caller != m_agent->id) {
        m_state.races.join(caller, m_agent->id, count);
        reportEarly(m_agent->id, count);
    }
    if (caller != m_agent->id) {
        m_agent->values = {};
        m_agent->refs = {};
    }
}

// Agents of another kind run the map.
void Engine::joinOthers()
{
    const auto& item = *std::get<AwayFrame>(m_agent->frames.back()).item;
    const auto& mesh = std::get<ir::CoreMapParams>(item.control->params);
    const Agent& first = agentAt(m_agent->device, m_chip.agentNamed(mesh.agents), 0, 0);
    if (!first.isDone()) {
        m_agent->waiting = Waiting{.since = m_agent->time};
        return;
    }
    m_agent->time = awaitEnd(first.time);
    m_agent->frames.pop_back();
}

// Signals of semaphores that some agents never had.
void Engine::reportEarly(std::int32_t first, std::int32_t count)
{
    for (auto it = m_state.early.begin(); it != m_state.early.end();) {
        const auto& [agent, ref, element] = it->first;
        if (agent < first || agent >= first + count) {
            ++it;
            continue;
        }
        m_recorder.addFinding({"semaphore_left_over",
                               trace::FindingClass::Structural,
                               m_recorder.agentName(agent) + " got " + countText(it->second.amount)
                                   + " on its semaphore " + refName(ref)
                                   + " while it had none: it ended or began too late.",
                               refName(ref),
                               m_agent->step,
                               {},
                               {},
                               1});
        it = m_state.early.erase(it);
    }
}

// The part of a pipeline's grid that is this core's; rule: _partition_grid in JAX's
// jax/_src/pallas/mosaic/pipeline.py. One parallel axis is split: the first that the number of
// cores divides, else the only dynamic one, else the largest, whose first cores get one step more.
void Engine::shareGrid(PipelineFrame& frame) const
{
    const ir::PipelineParams& params = *frame.params;
    std::int64_t cores = 1, core = 0;
    for (const std::string& name : params.blockAxes) {
        const std::size_t axis = ir::axisNamed(m_agent->mesh->grid, name).value();
        const std::int64_t size = m_agent->mesh->grid[axis].size;
        core = core * size + ir::coordinate(m_agent->mesh->grid, m_agent->block, axis);
        cores *= size;
    }
    if (!params.coreAxis.empty()) {
        core = core * m_agent->cores + m_agent->core;
        cores *= m_agent->cores;
    }
    if (cores == 1) {
        return;
    }
    std::size_t chosen = static_cast<std::size_t>(params.parallel.front());
    bool even = false, isStatic = false;
    Extent largest = -1;
    for (const std::int32_t axis : params.parallel) {
        const auto at = static_cast<std::size_t>(axis);
        if (params.grid[at] == ir::kDynamicExtent) {
            continue;
        }
        if (!isStatic || (!even && params.grid[at] > largest)) {
            chosen = at;
            largest = params.grid[at];
        }
        isStatic = true;
        if (!even && params.grid[at] % cores == 0) {
            chosen = at;
            even = true;
        }
    }
    const Extent all = frame.grid[chosen], base = all / cores, rest = all % cores;
    frame.grid[chosen] = base + (core < rest ? 1 : 0);
    frame.offset.assign(frame.grid.size(), 0);
    frame.offset[chosen] = core * base + std::min<std::int64_t>(core, rest);
}

} // namespace pallascope::machine
