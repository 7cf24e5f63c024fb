// Barriers of a GPU's block: who arrives, which phases complete, who waits. Agents arrive, and so
// does a copy that has landed. A barrier is a semaphore of the space `barrier`: it is allocated and
// recorded as one, and counts the arrivals of its open phase.
#pragma once

#include "core/machine/parts/agents.h"
#include "core/machine/parts/context.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/findings.h"
#include "core/machine/parts/sync_times.h"

namespace pallascope::machine {

class Barriers
{
public:
    // `state` is part of the run's state.
    Barriers(const Context& context, SyncState& state, Agents& agents, Copies& copies,
             Findings& findings);

    // Says how many arrivals complete a phase of barriers that a scope has allocated.
    void prepare(SlabRange barriers, std::int32_t arrivals, bool areNamed, bool ofCluster);

    void arriveByProgram(const ir::Operation& operation);
    void wait(const ir::Operation& operation);
    // Waits only if the next phase is complete, and returns whether it is.
    bool test(const ir::Operation& operation);
    // A copy arrives now.
    void deliver(const Signal& signal);

    [[nodiscard]] bool isBarrier(std::int32_t semaphore) const
    {
        return m_state.semaphores[semaphore].space == ir::MemorySpace::Barrier;
    }

private:
    void arrive(Semaphore& barrier, std::int32_t number, Picoseconds at, bool byCopy);
    void complete(Semaphore& barrier);
    void wake(std::int32_t number, Picoseconds at, bool byCopy);
    bool look(const Waiting& waiting);
    void pass(Semaphore& barrier, Agent& agent, const Waiting& waiting);

    Recorder& m_recorder;
    Turn& m_turn;
    Races& m_races;
    SyncState& m_state;
    Agents& m_agents;
    Copies& m_copies;
    Findings& m_findings;
    SyncTimes m_times;
};

} // namespace pallascope::machine
