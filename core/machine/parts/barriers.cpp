#include "core/machine/parts/barriers.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pallascope::machine {

Barriers::Barriers(const Context& context, SyncState& state, Agents& agents, Copies& copies,
                   Findings& findings)
    : m_recorder(context.recorder)
    , m_turn(context.turn)
    , m_races(context.races)
    , m_state(state)
    , m_agents(agents)
    , m_copies(copies)
    , m_findings(findings)
    , m_times(syncTimes(context.prepared.chip))
{}

void Barriers::prepare(SlabRange barriers, std::int32_t arrivals, bool areNamed, bool ofCluster)
{
    for (std::int32_t i = barriers.first; i < barriers.first + barriers.count; ++i) {
        m_state.semaphores[i].barrier = Barrier(arrivals, areNamed, ofCluster);
    }
}

void Barriers::arriveByProgram(const ir::Operation& operation)
{
    if (std::get<ir::PredicateParams>(operation.params).predicate
        && m_turn.value(operation.operands.back()).scalar == 0) {
        return;
    }
    const std::int32_t number = m_turn.semaphoreOf(operation.operands[0]);
    Semaphore& barrier = m_state.semaphores[number];
    barrier.location = operation.location;
    m_races.signal(m_turn.agent().id, barrier.clock);
    arrive(barrier, number, m_turn.agent().time, false);
    m_turn.agent().time += m_times.arrival;
}

void Barriers::deliver(const Signal& signal)
{
    Semaphore& barrier = m_state.semaphores[signal.semaphore];
    barrier.location = signal.location;
    barrier.lastCopy = signal.copy.copy;
    barrier.clock.learn(signal.clock);
    if (signal.copy.copy) {
        barrier.landed.push_back(signal.copy);
    }
    if (isWholeArrival(signal, barrier.parts)) {
        arrive(barrier, signal.semaphore, signal.at, true);
    }
}

void Barriers::arrive(Semaphore& barrier, std::int32_t number, Picoseconds at, bool byCopy)
{
    const trace::AgentRow agent{m_turn.agent().id};
    ++barrier.count;
    m_recorder.addSignal(*barrier.row, agent, at, 1);
    const Barrier::Arrival arrival = barrier.barrier.arrive();
    if (!arrival.completes) {
        return;
    }
    barrier.count -= barrier.barrier.needed();
    m_recorder.addSignal(*barrier.row, agent, at, -barrier.barrier.needed());
    if (arrival.fault) {
        m_findings.stopAtBarrier(barrier, *arrival.fault, barrier.location);
        return;
    }
    complete(barrier);
    wake(number, at, byCopy);
}

// What those who wait for this phase will know.
void Barriers::complete(Semaphore& barrier)
{
    barrier.completed.learn(barrier.clock);
    barrier.arrivedCopies = std::exchange(barrier.landed, {});
}

void Barriers::wake(std::int32_t number, Picoseconds at, bool byCopy)
{
    Semaphore& barrier = m_state.semaphores[number];
    for (const std::int32_t waiter : std::exchange(barrier.waiters, {})) {
        Agent& agent = m_agents.at(waiter);
        const Waiting waiting = *std::exchange(agent.waiting, std::nullopt);
        agent.time = std::max(agent.time, at);
        barrier.barrier.observe(agent.id);
        pass(barrier, agent, waiting);
        // The latency of a copy reaches until a wait for it returns.
        agent.time += byCopy ? Picoseconds(0) : m_times.wait;
        m_agents.changed(agent);
        m_turn.endBy(agent.time);
    }
}

void Barriers::wait(const ir::Operation& operation)
{
    const Waiting waiting{m_turn.semaphoreOf(operation.operands[0]), 1, false, m_turn.agent().time,
                          &operation};
    if (!look(waiting)) {
        m_turn.agent().waiting = waiting;
        addWaiter(m_state.semaphores[*waiting.semaphore], m_turn.agent().id);
    }
}

bool Barriers::test(const ir::Operation& operation)
{
    Agent& agent = m_turn.agent();
    const bool isComplete =
        look({m_turn.semaphoreOf(operation.operands[0]), 1, false, agent.time, &operation});
    if (!isComplete) { // who looks again and again gives others their turn
        agent.time += std::max(m_times.look, Picoseconds(1));
    }
    return isComplete;
}

// Observes the next phase if it is complete, and returns whether it is.
bool Barriers::look(const Waiting& waiting)
{
    Semaphore& barrier = m_state.semaphores[*waiting.semaphore];
    Agent& agent = m_turn.agent();
    const Barrier::Wait wait = barrier.barrier.wait(agent.id, agent.parent);
    if (wait.fault) {
        m_findings.stopAtBarrier(barrier, *wait.fault, waiting.operation->location);
    } else if (!wait.blocks) {
        pass(barrier, agent, waiting);
        agent.time += m_times.look;
    }
    return !wait.blocks;
}

// The agent has observed a phase: what arrived in it is ordered before what the agent does next.
void Barriers::pass(Semaphore& barrier, Agent& agent, const Waiting& waiting)
{
    m_recorder.addWait({barrier.lastCopy, barrier.row, trace::OperationRow{waiting.operation->id}},
                       trace::AgentRow{agent.id}, agent.step, waiting.since, agent.time);
    m_races.wait(agent.id, barrier.completed);
    for (const AwaitedCopy& copy : barrier.arrivedCopies) {
        m_copies.landHeld(*copy.copy);
        m_races.await(agent.id, copy);
    }
    // The accesses of these copies now count as the agent's. Others who observe the same phase know
    // of them through the barrier.
    if (!barrier.arrivedCopies.empty()) {
        m_races.signal(agent.id, barrier.completed);
    }
}

} // namespace pallascope::machine
