// Products of a GPU's tensor core, as by wgmma in JAX
// (jax/_src/pallas/mosaic_gpu/primitives.py). An agent asks for a product and goes on; the tensor
// core of its SM, which all agents of the SM share, serves the requests in order. The agent knows
// that a product is done when a wgmma_wait covers it.
#pragma once

#include "core/machine/parts/accesses.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/sync_times.h"
#include "core/machine/parts/unit_requests.h"

namespace pallascope::machine {

class Products : private UnitRequests
{
public:
    Products(const Context& context, Agents& agents, Copies& copies, Accesses& accesses,
             Findings& findings);

    void multiply(const PlanItem& item);
    void wait(const ir::Operation& operation);
    void load(const ir::Operation& operation);  // wgmma_accumulator_deref
    void store(const ir::Operation& operation); // wgmma_accumulator_store

private:
    void compute(const ir::Operation& operation);
    // The current agent waits in this operation until then.
    void waitUntil(Picoseconds end, const ir::Operation& operation);
    // Reports an access of an accumulator to which a product that nobody has waited for adds.
    void checkDone(const ir::Operation& operation);

    Copies& m_copies;
    Accesses& m_accesses;
    SyncTimes m_times;
};

} // namespace pallascope::machine
