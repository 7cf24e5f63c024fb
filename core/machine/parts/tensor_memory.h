// Products of a GPU's tensor core that add to TMEM, as by tcgen05 in JAX
// (jax/_src/pallas/mosaic_gpu/primitives.py). An agent asks for a product and goes on. The tensor
// core of its SM serves the requests in order. It is an agent of its own: what it reads and writes
// is ordered after what the asking agent did before, and before what those do who have waited at a
// barrier on which a later commit has arrived.
#pragma once

#include "core/machine/parts/accesses.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/semaphores.h"
#include "core/machine/parts/sync_times.h"
#include "core/machine/parts/unit_requests.h"

namespace pallascope::machine {

class TensorMemory : private UnitRequests
{
public:
    TensorMemory(const Context& context, Agents& agents, Copies& copies, Semaphores& semaphores,
                 Accesses& accesses, Findings& findings);

    void multiply(const PlanItem& item);            // tcgen05_mma
    void copyFromShared(const ir::Operation& copy); // async_copy_smem_to_tmem
    void commitArrive(const ir::Operation& commit); // tcgen05_commit_arrive

    // The agent's loads of TMEM are done (wait_load_tmem), or its stores (commit_tmem).
    void awaitLoads() { complete(m_turn.agent().tensorLoads); }

    void awaitStores() { complete(m_turn.agent().tensorStores); }

private:
    void complete(std::vector<Access>& late);
    // The tensor cores that serve a request: that of the agent's SM, for a pair of blocks of both.
    [[nodiscard]] std::vector<Agent*> coresOf(bool isPair);
    void order(Agent& core);
    void compute(const ir::Operation& operation);
    [[nodiscard]] RuntimeValue load(const ir::Operation& operation, std::size_t operand);

    Copies& m_copies;
    Semaphores& m_semaphores;
    Accesses& m_accesses;
    SyncTimes m_times;
};

} // namespace pallascope::machine
