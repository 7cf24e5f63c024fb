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
    // `times` is part of the run's state.
    SlotUnits(const Context& context, SlotUnitTimes& times, Agents& agents);

    // Gives the segment its place: the current agent waits until each unit has room, before the
    // segment would end, for what the segment needs of it.
    void reserve(const PlanItem& segment);

private:
    [[nodiscard]] std::int64_t othersAt(const Agent& agent) const;

    const Prepared& m_prepared;
    Turn& m_turn;
    SlotUnitTimes& m_times;
    Agents& m_agents;
};

} // namespace pallascope::machine
