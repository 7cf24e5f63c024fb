// Memory and semaphores that exist only while a region runs.
#pragma once

#include "core/machine/parts/context.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/findings.h"
#include "core/machine/parts/semaphores.h"

#include <vector>

namespace pallascope::machine {

class Scopes
{
public:
    Scopes(const Context& context, Copies& copies, Semaphores& semaphores, Findings& findings);

    // A run_scoped begins.
    void enter(const PlanItem& item);
    // Releases what an ending frame has allocated.
    void release(const Owned& owned);
    void allocate(const std::vector<ir::ValueId>& refs, Owned& owned);

private:
    void forgetBindings(SlabRange buffers);

    const Prepared& m_prepared;
    Turn& m_turn;
    Slab<Memory>& m_memory;
    Races& m_races;
    Copies& m_copies;
    Semaphores& m_semaphores;
    Findings& m_findings;
    Watch& m_watch;
};

} // namespace pallascope::machine
