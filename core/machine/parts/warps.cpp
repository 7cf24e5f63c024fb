#include "core/machine/parts/warps.h"

#include <algorithm>

namespace pallascope::machine {

Warps::Warps(const Context& context, Agents& agents)
    : m_layout(context.prepared.layout)
    , m_turn(context.turn)
    , m_races(context.races)
    , m_agents(agents)
{}

Agent& Warps::warpOf(const Agent& warpgroup, std::size_t number)
{
    const std::int32_t each = m_layout.groupOf(warpgroup.kind).blockCores;
    return m_agents.at(warpgroup.id + static_cast<std::int32_t>(number) * each);
}

void Warps::enter(const PlanItem& item)
{
    Agent& own = m_turn.agent();
    VectorClock known;
    m_races.signal(own.id, known);
    for (std::size_t i = 1; i < item.regions.size(); ++i) {
        Agent& warp = warpOf(own, i);
        warp.place = own.place;
        warp.cores = own.cores;
        warp.block = own.block;
        warp.mesh = own.mesh;
        warp.time = own.time;
        warp.step = own.step;
        warp.values = own.values;
        warp.refs = own.refs;
        m_races.wait(warp.id, known);
        warp.frames.emplace_back(BlockFrame{item.regions[i]});
        m_agents.changed(warp);
    }
    own.frames.emplace_back(WarpsFrame{&item});
    own.frames.emplace_back(BlockFrame{item.regions[0]});
    m_turn.endBy(own.time); // the other warps begin now too
}

void Warps::join(const WarpsFrame& frame)
{
    Agent& own = m_turn.agent();
    const std::size_t warps = frame.item->regions.size();
    Picoseconds end = own.time;
    for (std::size_t i = 1; i < warps; ++i) {
        const Agent& warp = warpOf(own, i);
        if (!warp.isDone()) {
            own.waiting = Waiting{.since = own.time};
            return;
        }
        end = std::max(end, warp.time);
    }
    m_agents.awaitEnd(own, end);
    for (std::size_t i = 1; i < warps; ++i) {
        Agent& warp = warpOf(own, i);
        VectorClock known;
        m_races.signal(warp.id, known);
        m_races.wait(own.id, known);
        warp.values = {};
        warp.refs = {};
    }
    own.frames.pop_back();
}

} // namespace pallascope::machine
