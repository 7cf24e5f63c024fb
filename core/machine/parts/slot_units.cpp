#include "core/machine/parts/slot_units.h"

#include <algorithm>
#include <cmath>

namespace pallascope::machine {

SlotUnits::SlotUnits(const Context& context, SlotUses& uses, Agents& agents)
    : m_prepared(context.prepared)
    , m_turn(context.turn)
    , m_uses(uses)
    , m_agents(agents)
{}

// The agents of the slot have equal shares of a unit that has more to do than it can: a segment
// waits for what others want of it, but for no more of each than it wants itself.
void SlotUnits::reserve(const PlanItem& segment)
{
    Agent& agent = m_turn.agent();
    SlotUse& use = m_uses[{agent.device, agent.slot}];
    std::vector<Picoseconds>& free = use.free;
    free.resize(slotUnits(m_prepared.chip));
    const std::int64_t others = othersAt(agent);
    Picoseconds begin = agent.time;
    for (const auto& [unit, needs] : segment.demands) {
        Picoseconds& one = free[static_cast<std::size_t>(unit)];
        one = std::max(one, agent.time);
        const Picoseconds wanted = std::min(one - agent.time, needs * others);
        begin =
            std::max(begin, agent.time + wanted + needs - std::min(segment.duration, wanted + needs));
        one += needs;
    }
    const Picoseconds longer = besideProducts(segment, begin);
    use.ofProducts.add({begin, begin + longer + segment.duration, segment.delays});
    agent.time = m_agents.awaitEnd(begin + longer); // shown as a wait before its work
}

// How much longer a segment takes that begins at this time, because the tensor core of the slot has
// products to work on meanwhile.
Picoseconds SlotUnits::besideProducts(const PlanItem& segment, Picoseconds begin)
{
    if (m_prepared.layout.asked == 0 || segment.duration == Picoseconds(0)) {
        return Picoseconds(0);
    }
    const Picoseconds until = m_agents.unitAt(0).time;
    const Picoseconds most = segment.duration + segment.slowed;
    const Picoseconds beside = std::min(until - std::min(until, begin), most);
    return Picoseconds(std::llround(static_cast<double>(segment.slowed.value()) * ratio(beside, most)));
}

// How many other agents may run at the agent's slot.
std::int64_t SlotUnits::othersAt(const Agent& agent) const
{
    const AgentGroup& group = m_prepared.layout.groupOf(agent.kind);
    return ceilDiv(group.count(), group.slots) - 1;
}

} // namespace pallascope::machine
