// core_map: programs that several cores run at once, in one slot or in several.
#pragma once

#include "core/machine/parts/agents.h"
#include "core/machine/parts/context.h"
#include "core/machine/parts/semaphores.h"

#include <cstdint>
#include <vector>

namespace pallascope::machine {

class CoreMaps
{
public:
    // `dispatched` is of the run's state: by device, blocks of its core_map that have begun.
    CoreMaps(const Context& context, std::vector<std::int32_t>& dispatched, Agents& agents,
             Semaphores& semaphores);

    // This core goes on as core 0 of the first slot, or waits where agents of another kind run the
    // map; the others begin with what it knows.
    void enter(const PlanItem& item);
    // The first core of a slot has come to the end of a block.
    void joinCores(const CoresFrame& frame);
    // Agents of another kind run the map.
    void joinOthers(const AwayFrame& frame);
    // The agent whose turn it is is done: whoever waits for that looks again.
    void wakeJoining();

private:
    void dispatch(const PlanItem& item);
    void joinSlots();

    const Prepared& m_prepared;
    Turn& m_turn;
    Ending& m_ending;
    Races& m_races;
    std::vector<std::int32_t>& m_dispatched;
    Agents& m_agents;
    Semaphores& m_semaphores;
};

} // namespace pallascope::machine
