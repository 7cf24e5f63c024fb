#include "core/machine/parts/slot_units.h"

#include <algorithm>
#include <cmath>

namespace pallascope::machine {

SlotUnits::SlotUnits(const Context& context, SlotUses& uses, Agents& agents)
    : m_prepared(context.prepared)
    , m_turn(context.turn)
    , m_uses(uses)
    , m_agents(agents)
{
    const chip::Chip& chip = m_prepared.chip;
    if (const chip::Unit* matrix = chip.unitOf(UnitKind::Matrix)) {
        m_tensorCore = static_cast<std::size_t>(matrix - chip.units.data());
    }
}

// The agents of the slot have equal shares of a unit that has more to do than it can: a segment
// waits for what others want of it, but for no more of each than it wants itself.
void SlotUnits::reserve(const PlanItem& segment)
{
    Agent& agent = m_turn.agent();
    SlotUse& use = m_uses[{agent.device, agent.slot}];
    std::vector<Picoseconds>& free = use.free;
    free.resize(slotUnits(m_prepared.chip));
    const std::int64_t others = othersAt(agent);
    const Picoseconds products = productsUntil(use);
    Picoseconds begin = agent.time;
    for (const auto& [unit, needs] : segment.demands) {
        Picoseconds& one = free[static_cast<std::size_t>(unit)];
        one = std::max(one, agent.time);
        const Picoseconds wanted = std::min(one - agent.time, needs * others);
        begin = std::max(begin,
                         agent.time + wanted + needs - std::min(segment.duration, wanted + needs));
        one += needs;
    }
    const Picoseconds longer = besideOthers(segment, begin, products, use.ofProducts);
    use.ofProducts.add({begin, begin + longer + segment.duration, segment.delays}, agent.time);
    m_agents.awaitEnd(agent, begin + longer); // shown as a wait before its work
}

// How much longer a segment takes that begins at this time: its instructions beside products of
// others, on which the tensor core works until `products`, and its own products beside what
// hinders them.
Picoseconds SlotUnits::besideOthers(const PlanItem& segment, Picoseconds begin,
                                    Picoseconds products, Hindrances& hindrances)
{
    Picoseconds longer;
    if (segment.slowed > Picoseconds(0)) {
        const Picoseconds most = segment.duration + segment.slowed;
        const Picoseconds beside = std::min(products - std::min(products, begin), most);
        longer += Picoseconds(
            std::llround(static_cast<double>(segment.slowed.value()) * ratio(beside, most)));
    }
    for (const auto& [unit, needs] : segment.demands) {
        if (m_tensorCore && static_cast<std::size_t>(unit) == *m_tensorCore) {
            longer += hindrances.lengthOf(begin, needs) - needs;
        }
    }
    return longer;
}

// Until when the tensor core of the agent's slot has work, in segments of agents or on its own.
Picoseconds SlotUnits::productsUntil(const SlotUse& use) const
{
    const Picoseconds inSegments = m_tensorCore ? use.free[*m_tensorCore] : Picoseconds(0);
    return m_prepared.layout.asked == 0 ? inSegments
                                        : std::max(inSegments, m_agents.unitAt(0).time);
}

// How many other agents may run at the agent's slot.
std::int64_t SlotUnits::othersAt(const Agent& agent) const
{
    const AgentGroup& group = m_prepared.layout.groupOf(agent.kind);
    return ceilDiv(group.count(), group.slots) - 1;
}

} // namespace pallascope::machine
