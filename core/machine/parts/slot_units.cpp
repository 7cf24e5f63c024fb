#include "core/machine/parts/slot_units.h"

#include <algorithm>

namespace pallascope::machine {

SlotUnits::SlotUnits(const Context& context, SlotUnitTimes& times, Agents& agents)
    : m_prepared(context.prepared)
    , m_turn(context.turn)
    , m_times(times)
    , m_agents(agents)
{}

void SlotUnits::reserve(const PlanItem& segment)
{
    Agent& agent = m_turn.agent();
    std::vector<Picoseconds>& free = m_times[{agent.device, agent.slot}];
    free.resize(m_prepared.chip.units.size());
    Picoseconds begin = agent.time;
    for (const auto& [unit, use] : segment.demands) {
        begin = std::max(begin, free[static_cast<std::size_t>(unit)] + use - segment.duration);
    }
    for (const auto& [unit, use] : segment.demands) {
        Picoseconds& one = free[static_cast<std::size_t>(unit)];
        one = std::max(one, begin) + use;
    }
    agent.time = m_agents.awaitEnd(begin);
}

} // namespace pallascope::machine
