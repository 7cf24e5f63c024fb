#include "core/machine/engine/engine.h"

#include <algorithm>
#include <utility>

namespace pallascope::machine {

Engine::Engine(const Prepared& prepared, const Options& options, Keeps keeps)
    : m_prepared(prepared)
    , m_options(options)
    , m_recorder(prepared.description, keeps)
    , m_ending(m_state.stopped)
    , m_turn(prepared, options.settings.uninitializedMemory, m_recorder, m_ending, m_state.memory)
    , m_watch(prepared, m_recorder, m_turn, m_state)
    , m_context{prepared,
                options.settings,
                m_recorder,
                m_turn,
                m_ending,
                m_state.memory,
                m_state.races,
                m_state.sync.semaphores,
                options.settings.detectRaces == DetectRaces::Everywhere
                    || (options.settings.detectRaces == DetectRaces::Yes && prepared.uses.mayRace),
                m_watch}
    , m_limits(prepared.program.name, options, m_recorder, m_ending)
    , m_findings(m_context)
    , m_agents(m_context, m_state.agents, m_findings)
    , m_arguments(m_context, m_state.aliased, m_agents, m_findings)
    , m_copies(m_context, m_state.copies, m_state.slotUses, m_findings)
    , m_semaphores(m_context, m_state.sync, m_agents, m_copies, m_findings)
    , m_barriers(m_context, m_state.sync, m_agents, m_copies, m_findings)
    , m_scopes(m_context, m_state.sharedScopes, m_copies, m_semaphores, m_barriers, m_findings)
    , m_accesses(m_context, m_copies, m_findings)
    , m_reductions(m_context, m_state.reductionScratches, m_findings)
    , m_segments(m_context, options, m_state.turns, m_agents, m_copies, m_semaphores, m_accesses,
                 m_reductions, m_limits, m_findings)
    , m_slotUnits(m_context, m_state.slotUses, m_agents)
    , m_l1Caches(m_context, m_state.slotUses)
    , m_fusionCopies(m_context, m_copies, m_l1Caches)
    , m_warps(m_context, m_agents)
    , m_coreMaps(m_context, m_state.dispatched, m_state.turns, m_agents, m_semaphores, m_accesses)
    , m_syncOperations(m_context, m_agents, m_copies, m_semaphores, m_barriers, m_accesses,
                       m_coreMaps, m_findings)
    , m_pipelines(m_context, m_state.aliased, m_copies, m_accesses, m_scopes, m_limits, m_findings)
{
    m_state.dispatched.resize(static_cast<std::size_t>(prepared.layout.devices), 0);
    m_agents.add();
}

Status Engine::bind(const std::vector<Array>& inputs)
{
    m_copies.addLinks();
    if (Status status = m_arguments.bind(inputs); !status) {
        return status;
    }
    begin();
    return Done{};
}

void Engine::begin()
{
    if (m_prepared.layout.devices > 1) {
        m_state.races.fork(0, 0, m_prepared.layout.devices * m_prepared.layout.perDevice());
    }
    for (Agent& agent : m_state.agents) {
        if (agent.id % m_prepared.layout.perDevice() == 0) {
            agent.frames.emplace_back(BlockFrame{m_prepared.plan.body});
            m_state.races.enter(agent.id);
        }
    }
    m_turn.give(m_state.agents.front());
    noteAllReady();
}

Status Engine::execute(Until until)
{
    m_turn.runUntil(until);
    // With several devices and copies that move at the wait, an agent that can go on goes before
    // signals, so that more copies are under way together.
    const bool onWait = m_options.settings.dmaExecutionMode == DmaMode::OnWait;
    const Picoseconds due(m_prepared.layout.devices > 1 && onWait ? 1 : 0);
    while (!m_turn.halts()) {
        Agent* const agent = next();
        Queue<Signal>& signals = m_state.sync.signals;
        const bool signalsFirst =
            !signals.empty() && (agent == nullptr || signals.front().at + due <= agent->time);
        if (agent == nullptr && !signalsFirst) {
            break;
        }
        if ((signalsFirst ? signals.front().at : agent->time) > until.time) {
            return Done{};
        }
        if (signalsFirst) {
            const Signal signal = std::move(signals.front());
            signals.pop_front();
            m_state.delivered = signal.at;
            if (m_barriers.isBarrier(signal.semaphore)) {
                m_barriers.deliver(signal);
            } else {
                m_semaphores.deliver(signal);
            }
            continue;
        }
        m_state.delivered.reset();
        m_turn.give(*agent);
        m_recorder.lookAtClock(&agent->time);
        turn();
        m_recorder.lookAtClock(nullptr);
        noteReady(*agent);
    }
    noteChanged();
    if (m_ending.error()) {
        return *m_ending.error();
    }
    if (!m_turn.isAtPause()) {
        finish();
    }
    return Done{};
}

void Engine::finish()
{
    const bool isStuck = std::any_of(m_state.agents.begin(), m_state.agents.end(),
                                     [](const Agent& agent) { return !agent.isDone(); });
    if (isStuck && !m_ending.hasStopped()) {
        m_findings.reportDeadlock(m_state.agents, m_state.sync.semaphores);
    }
    m_end.emplace();
    for (Agent& agent : m_state.agents) { // of a stopped run
        auto* block =
            agent.frames.empty() ? nullptr : std::get_if<BlockFrame>(&agent.frames.back());
        if (block != nullptr && block->awaits) {
            m_turn.give(agent);
            endCopies(*block);
        }
    }
    for (const Agent& agent : m_state.agents) {
        m_end = std::max(*m_end, agent.time);
        const auto* block =
            agent.isDone() ? nullptr : std::get_if<BlockFrame>(&agent.frames.back());
        if (block != nullptr && block->ends) { // the run stopped before the end of a segment
            m_end = std::max(*m_end, *block->ends);
        }
    }
    if (!isStuck) {
        m_semaphores.reportEarly(0, m_prepared.layout.devices * m_prepared.layout.perDevice());
        m_semaphores.closeBarriers();
    }
    for (const Agent& agent : m_state.agents) {
        close(agent);
    }
    m_end = std::max(*m_end, m_recorder.position().lastEnd);
    m_copies.land(*m_end);
}

void Engine::noteReady(const Agent& agent)
{
    const bool goesOn = !agent.isDone() && !agent.waiting;
    m_ready.set(agent.id,
                goesOn ? std::optional<ReadyAgents::Key>({agent.time, agent.yields, agent.order})
                       : std::nullopt);
}

void Engine::noteChanged()
{
    for (const std::int32_t changed : m_agents.takeChanged()) {
        noteReady(m_agents.at(changed));
    }
}

void Engine::noteAllReady()
{
    m_ready.reset(m_state.agents.size());
    for (const Agent& agent : m_state.agents) {
        noteReady(agent);
    }
}

// Finds the first agent that can go on. Sets its horizon to the time of the next agent or signal.
Agent* Engine::next()
{
    noteChanged();
    const std::optional<std::int32_t> first = m_ready.first();
    Picoseconds horizon = m_ready.nextTime();
    if (!m_state.sync.signals.empty()) {
        horizon = std::min(horizon, m_state.sync.signals.front().at);
    }
    if (m_turn.until().time < horizon) {
        horizon = m_turn.until().time + Picoseconds(1);
    }
    m_turn.endAt(horizon);
    return first ? &m_agents.at(*first) : nullptr;
}

void Engine::turn()
{
    do {
        advance();
    } while (!m_turn.agent().isDone() && !m_turn.agent().waiting && !m_turn.yields());
    if (m_turn.agent().isDone()) {
        m_coreMaps.wakeJoining();
    }
}

// Ends the steps that a stopped run leaves open.
void Engine::close(const Agent& agent)
{
    for (auto frame = agent.frames.rbegin(); frame != agent.frames.rend(); ++frame) {
        if (const auto* pipeline = std::get_if<PipelineFrame>(&*frame);
            pipeline != nullptr && pipeline->row) {
            m_recorder.closeStep(*pipeline->row, pipeline->next <= PipelineFrame::Next::Body,
                                 pipeline->next > PipelineFrame::Next::Overhead, *m_end);
        }
    }
    if (agent.waiting && agent.waiting->semaphore) {
        m_recorder.addWait({.semaphore = m_state.sync.semaphores[*agent.waiting->semaphore].row,
                            .operation = trace::OperationRow{agent.waiting->operation->id}},
                           trace::AgentRow{agent.id}, agent.step, agent.waiting->since, *m_end);
    }
}

void Engine::advance()
{
    constexpr std::int64_t kBetween = 64; // turns between two checks of the limits
    if (++m_state.turns % kBetween == 0 && !m_limits.mayGoOn(m_state.turns)) {
        return;
    }
    std::visit([this](auto& frame) { resume(frame); }, m_turn.agent().frames.back());
}

void Engine::resume(ScopeFrame& frame)
{
    const ScopeFrame ended = std::move(frame);
    m_turn.agent().frames.pop_back();
    m_scopes.leave(ended);
}

} // namespace pallascope::machine
