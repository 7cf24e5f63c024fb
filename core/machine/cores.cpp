// Programs that run on several cores at once: core_map, and grids shared between its cores.
#include "core/base/format.h"
#include "core/machine/engine.h"

#include <algorithm>

namespace pallascope::machine {

// This core goes on as core 0; the others begin with what it knows.
void Engine::enterCores(const PlanItem& item)
{
    const auto& mesh = std::get<ir::CoreMapParams>(item.control->params);
    const chip::AgentKind& kind = m_chip.agents.front();
    if (mesh.cores > kind.count) {
        fail(userError(m_program.where(item.control->location) + ": core_map asks for "
                       + std::to_string(mesh.cores) + " cores; the chip " + m_chip.title + " has "
                       + std::to_string(kind.count) + "."));
        return;
    }
    m_agent->frames.emplace_back(CoresFrame{});
    m_agent->frames.emplace_back(BlockFrame{item.regions[0]});
    m_agent->cores = mesh.cores;
    if (mesh.cores > 1) {
        m_state.races.fork(m_agent->id, mesh.cores);
    }
    for (std::int32_t core = 1; core < mesh.cores; ++core) {
        Agent& other = agentAt(m_agent->device, core);
        other.cores = mesh.cores;
        other.time = m_agent->time;
        other.values = m_agent->values;
        other.refs = m_agent->refs;
        other.frames.emplace_back(BlockFrame{item.regions[0]});
    }
    m_horizon = m_agent->time; // the others begin now too
}

namespace {

// But for the first core of the device.
bool othersAreDone(const std::deque<Agent>& agents, std::int32_t device)
{
    return std::all_of(agents.begin(), agents.end(), [&](const Agent& agent) {
        return agent.device != device || agent.core == 0 || agent.isDone();
    });
}

} // namespace

// Core 0 goes on when the last of the others has ended.
void Engine::wakeJoining()
{
    Agent& first = agentAt(m_agent->device, 0);
    if (first.waiting && first.waiting->semaphore < 0
        && othersAreDone(m_state.agents, first.device)) {
        first.waiting.reset();
    }
}

void Engine::joinCores()
{
    if (!othersAreDone(m_state.agents, m_agent->device)) {
        m_agent->waiting = Waiting{.since = m_agent->time};
        return;
    }
    const std::int32_t cores = m_agent->cores;
    Picoseconds end = m_agent->time;
    for (std::int32_t core = 1; core < cores; ++core) {
        Agent& other = agentAt(m_agent->device, core);
        end = std::max(end, other.time);
        other.values = {};
        other.refs = {};
    }
    if (end > m_agent->time) {
        m_recorder.addWait(trace::kNone, trace::kNone, m_agent->id, m_agent->step, m_agent->time,
                           end);
    }
    m_agent->time = end;
    m_agent->cores = 1;
    m_agent->frames.pop_back();
    if (cores > 1) {
        m_state.races.join(m_agent->id, cores);
        reportEarly(m_agent->id, cores);
    }
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
    const std::int64_t cores = m_agent->cores, core = m_agent->core;
    if (params.coreAxis.empty() || cores == 1) {
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
