// The groups of copies that a GPU's agent closes and waits for, as in JAX
// (jax/_src/pallas/mosaic_gpu/primitives.py, commit_smem_to_gmem_group and wait_smem_to_gmem). A
// copy from SMEM has two ends: it has read SMEM, and what it has written can be seen in HBM. On a
// GPU without a TMA there are copies of cp.async into SMEM instead, each a group by itself.
#pragma once

#include "core/machine/parts/context.h"
#include "core/machine/parts/copies.h"

namespace pallascope::machine {

class StoreGroups
{
public:
    StoreGroups(const Context& context, Copies& copies);

    // The current agent has started a copy; it belongs to the agent's open group.
    void add(const AwaitedCopy& copy, Picoseconds read, Picoseconds written);
    // Closes the open group, which may be empty.
    void commit();
    void wait(const ir::Operation& operation);

private:
    Recorder& m_recorder;
    Turn& m_turn;
    Races& m_races;
    Copies& m_copies;
};

} // namespace pallascope::machine
