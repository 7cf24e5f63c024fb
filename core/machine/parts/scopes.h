// Memory and semaphores that exist only while a region runs.
#pragma once

#include "core/machine/parts/barriers.h"
#include "core/machine/parts/context.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/findings.h"
#include "core/machine/parts/semaphores.h"

#include <vector>

namespace pallascope::machine {

class Scopes
{
public:
    // `shared` are the collective scopes of the run's state.
    Scopes(const Context& context, std::vector<SharedScope>& shared, Copies& copies,
           Semaphores& semaphores, Barriers& barriers, Findings& findings);

    // A run_scoped begins.
    void enter(const PlanItem& item);
    // The scope of a frame ends, for this agent.
    void leave(const ScopeFrame& frame);
    // Releases what an ending frame has allocated.
    void release(const Owned& owned);
    void allocate(const std::vector<ir::ValueId>& refs, Owned& owned);

private:
    void allocateScope(const ir::Operation& operation, Owned& owned);
    void join(const ir::Operation& operation);
    [[nodiscard]] bool isOfBlock(const SharedScope& scope, const ir::Operation& operation) const;
    void reportEnded(const SharedScope& scope);
    void forgetBindings(SlabRange buffers);

    const Prepared& m_prepared;
    Turn& m_turn;
    Slab<Memory>& m_memory;
    Races& m_races;
    std::vector<SharedScope>& m_shared;
    Copies& m_copies;
    Semaphores& m_semaphores;
    Barriers& m_barriers;
    Findings& m_findings;
    Watch& m_watch;
};

} // namespace pallascope::machine
