// The L1 of each SM of a GPU: what loads from GMEM find there. A kernel begins with nothing in it.
#pragma once

#include "core/machine/parts/context.h"

#include <optional>

namespace pallascope::machine {

class L1Caches
{
public:
    // `uses` is part of the run's state.
    L1Caches(const Context& context, SlotUses& uses);

    // A kernel begins on the current agent's device.
    void clear();

    // The current agent loads the part at this time. If its SM's L1 holds all of it, or it is on
    // its way there: when the agent has it, and what copy brought it. Otherwise empty.
    [[nodiscard]] std::optional<SectorCache::Held> use(const SectorCache::Part& part,
                                                       Picoseconds issue);

    // The part is in the current agent's L1 from then on.
    void hold(const SectorCache::Part& part, SectorCache::Held since);

private:
    // Null outside of kernels, if the chip has no L1, or if shared memory takes all of it.
    [[nodiscard]] SectorCache* cacheHere();

    const Prepared& m_prepared;
    const Turn& m_turn;
    SlotUses& m_uses;
    Picoseconds m_latency; // of a load that finds everything there
};

} // namespace pallascope::machine
