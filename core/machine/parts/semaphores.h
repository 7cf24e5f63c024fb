// Semaphores: what they count, who signals them and who waits. As in JAX,
// jax/_src/pallas/mosaic/primitives.py, a copy adds its bytes to its semaphore when it has landed,
// and a wait subtracts them. A wait that cannot go on leaves the agent waiting; a signal wakes it.
#pragma once

#include "core/machine/parts/agents.h"
#include "core/machine/parts/context.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/findings.h"

#include <optional>

namespace pallascope::machine {

class Semaphores
{
public:
    // `state` is part of the run's state.
    Semaphores(const Context& context, SyncState& state, Agents& agents, Copies& copies,
               Findings& findings);

    // Allocates the semaphores of a scope. Signals that came before they existed count.
    void allocate(ir::ValueId ref, Owned& owned);
    // Called when semaphores end; they must be 0.
    void close(SlabRange semaphores);

    void release(SlabRange semaphores) { m_state.semaphores.release(semaphores); }

    void bindBarrier(const ir::Operation& operation);
    void closeBarriers();
    // Reports signals of semaphores that some of these agents never had.
    void reportEarly(std::int32_t first, std::int32_t count);

    [[nodiscard]] std::int64_t countOf(std::int32_t semaphore) const
    {
        return m_state.semaphores[semaphore].count;
    }

    // None if the semaphore has been given back.
    [[nodiscard]] trace::OptionalRow<trace::SemaphoreRow> rowOf(std::int32_t semaphore) const
    {
        return m_state.semaphores[semaphore].row;
    }

    void wait(const ir::Operation& operation, std::int32_t semaphore, std::int64_t amount,
              bool decrement);
    void signalByProgram(const ir::Operation& operation);

    // A manual DMA has been issued: says which semaphore it will signal, and by how much.
    void expect(Signal signal, HeldCopy held);

    // Whether a copy that is started later can make an earlier wait less sure than it seemed.
    [[nodiscard]] bool mayBeDoubted() const
    {
        return m_mode == DmaMode::Timed && m_prepared.layout.devices > 1;
    }

    // The signal will arrive at its time.
    void queue(Signal signal);
    // The signal arrives now.
    void deliver(const Signal& signal);

    // The semaphore of `agent` that corresponds to the current agent's `ref`, if it has one at
    // present.
    [[nodiscard]] std::optional<std::int32_t> semaphoreAt(const Agent& agent, ir::ValueId ref);

private:
    void add(std::int32_t semaphore, std::int64_t amount, Picoseconds at);
    [[nodiscard]] bool take(Agent& agent, const Waiting& waiting);
    void awaitCertain(Semaphore& semaphore, std::int64_t bytes, std::int32_t agent);
    void await(Semaphore& semaphore, const HeldCopy& copy, std::int32_t agent);
    void doubtEarlierWaits(Semaphore& semaphore);
    void doubt(HeldCopy& copy, Races::Settled settled);
    [[nodiscard]] std::int32_t barrier(std::int32_t collectiveId, std::int32_t agent);

    // Whether semaphores remember the copies that will signal them: a wait may make those copies,
    // and cannot tell them apart.
    [[nodiscard]] bool holdsCopies() const { return m_mode != DmaMode::Eager; }

    const Prepared& m_prepared;
    DmaMode m_mode;
    Recorder& m_recorder;
    Turn& m_turn;
    Ending& m_ending;
    Races& m_races;
    SyncState& m_state;
    Agents& m_agents;
    Copies& m_copies;
    Findings& m_findings;
};

} // namespace pallascope::machine
