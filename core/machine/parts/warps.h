// warp_map: the warps of a warpgroup, each of which does something else, as in JAX
// (plgpu.warp_map). The agent of the warpgroup stands for the first of them, and each further one
// has an agent of its own.
#pragma once

#include "core/machine/parts/agents.h"
#include "core/machine/parts/context.h"

namespace pallascope::machine {

class Warps
{
public:
    Warps(const Context& context, Agents& agents);

    // The other warps begin with what the agent knows, with its values and its refs.
    void enter(const PlanItem& item);
    // The agent's own warp is done. It goes on when the others are done too.
    void join(const WarpsFrame& frame);

private:
    // The agent of a further warp: `number` from 1 on.
    [[nodiscard]] Agent& warpOf(const Agent& warpgroup, std::size_t number);

    const AgentLayout& m_layout;
    Turn& m_turn;
    Races& m_races;
    Agents& m_agents;
};

} // namespace pallascope::machine
