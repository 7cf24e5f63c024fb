#include "core/machine/parts/slot_units.h"

#include <algorithm>

namespace pallascope::machine {

SlotUnits::SlotUnits(const Context& context, SlotUnitTimes& times, Agents& agents)
    : m_prepared(context.prepared)
    , m_turn(context.turn)
    , m_times(times)
    , m_agents(agents)
{}

// The agents of the slot have equal shares of a unit that has more to do than it can: a segment
// waits for what others want of it, but for no more of each than it wants itself.
void SlotUnits::reserve(const PlanItem& segment)
{
    Agent& agent = m_turn.agent();
    std::vector<Picoseconds>& free = m_times[{agent.device, agent.slot}];
    free.resize(slotUnits(m_prepared.chip));
    const std::int64_t others = othersAt(agent);
    Picoseconds begin = agent.time;
    for (const auto& [unit, use] : segment.demands) {
        Picoseconds& one = free[static_cast<std::size_t>(unit)];
        one = std::max(one, agent.time);
        const Picoseconds wanted = std::min(one - agent.time, use * others);
        begin =
            std::max(begin, agent.time + wanted + use - std::min(segment.duration, wanted + use));
        one += use;
    }
    agent.time = m_agents.awaitEnd(begin);
}

// How many other agents may run at the agent's slot.
std::int64_t SlotUnits::othersAt(const Agent& agent) const
{
    const AgentGroup& group = m_prepared.layout.groupOf(agent.kind);
    return ceilDiv(group.count(), group.slots) - 1;
}

} // namespace pallascope::machine
