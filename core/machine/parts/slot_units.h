// Units that the agents of a slot share, as the warpgroups of an SM do.
#pragma once

#include "core/machine/parts/agents.h"
#include "core/machine/parts/context.h"

namespace pallascope::machine {

// How many times a slot has: of each unit of the chip, and of the port through which copies come.
[[nodiscard]] inline std::size_t slotUnits(const chip::Chip& chip)
{
    return chip.units.size() + 1;
}

class SlotUnits
{
public:
    // `uses` is part of the run's state.
    SlotUnits(const Context& context, SlotUses& uses, Agents& agents);

    // Gives the segment its place: the current agent waits until each unit has room, before the
    // segment would end, for what the segment needs of it.
    void reserve(const PlanItem& segment);

private:
    [[nodiscard]] std::int64_t othersAt(const Agent& agent) const;
    [[nodiscard]] Picoseconds besideOthers(const PlanItem& segment, Picoseconds begin,
                                           Picoseconds products, Hindrances& hindrances);
    [[nodiscard]] Picoseconds productsUntil(const SlotUse& use) const;

    const Prepared& m_prepared;
    Turn& m_turn;
    SlotUses& m_uses;
    Agents& m_agents;
    std::optional<std::size_t> m_tensorCore; // the number of that unit
};

} // namespace pallascope::machine
