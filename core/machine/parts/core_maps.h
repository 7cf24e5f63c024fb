// core_map: regions that several cores run at the same time, in one place or in several. The blocks
// of its grid begin in their order, each in the place that is free first; of places that are free
// at the same time in the one with the lowest number.
#pragma once

#include "core/machine/parts/accesses.h"
#include "core/machine/parts/agents.h"
#include "core/machine/parts/context.h"
#include "core/machine/parts/long_grids.h"
#include "core/machine/parts/semaphores.h"

#include <cstdint>
#include <vector>

namespace pallascope::machine {

class CoreMaps
{
public:
    // `dispatched` belongs to the run's state: for each device, how many blocks of its core_map
    // have begun; so does how many turns the run has taken.
    CoreMaps(const Context& context, std::vector<std::int32_t>& dispatched,
             const std::int64_t& turns, Agents& agents, Semaphores& semaphores, Accesses& accesses);

    // This core goes on as core 0 of the first place, or waits if agents of another kind run the
    // map. The other cores begin with its values and refs.
    void enter(const PlanItem& item);
    // Called when the first core of a place has reached the end of a block.
    void joinCores(const CoresFrame& frame);
    // The same for a map that agents of another kind run.
    void joinOthers(const AwayFrame& frame);
    // The agent claims the next block of the grid that has not begun, or cluster of blocks: it will
    // not begin by itself. The answer is its number, or -1 if there is none left, and arrives on
    // barriers (try_cluster_cancel).
    void claim(const ir::Operation& operation);
    // The current agent is done: agents that wait for this check again whether they can go on.
    void wakeJoining();

private:
    void dispatch(const PlanItem& item);
    // Of a GPU: this block has begun in the place of the current agent, or was claimed there.
    void record(std::int32_t point, bool isClaimed);
    [[nodiscard]] std::int32_t forked(const AgentGroup& group, const ir::CoreMapParams& mesh,
                                      const Agent& first) const;
    void joinPlaces(const ir::Operation& coreMap);

    const Prepared& m_prepared;
    Recorder& m_recorder;
    Turn& m_turn;
    Ending& m_ending;
    Races& m_races;
    std::vector<std::int32_t>& m_dispatched;
    Agents& m_agents;
    Semaphores& m_semaphores;
    Accesses& m_accesses;
    LongGrids m_longGrids;
    Picoseconds m_claimTime; // of a claim until its answer is there: a way to L2 and back
};

} // namespace pallascope::machine
