#include "core/machine/parts/l1_caches.h"

#include "core/machine/parts/sync_times.h"

#include <algorithm>

namespace pallascope::machine {

L1Caches::L1Caches(const Context& context, SlotUses& uses)
    : m_prepared(context.prepared)
    , m_turn(context.turn)
    , m_uses(uses)
    , m_latency(syncTimes(context.prepared.chip).l1Load)
{}

void L1Caches::clear()
{
    const std::int32_t device = m_turn.agent().device;
    for (auto& [slot, use] : m_uses) {
        if (slot.first == device) {
            use.l1.reset();
        }
    }
}

SectorCache* L1Caches::cacheHere()
{
    const Agent& agent = m_turn.agent();
    if (agent.mesh == nullptr) {
        return nullptr;
    }
    const auto& rooms = m_prepared.layout.groupOf(agent.kind).l1OfMaps;
    const auto room = rooms.find(agent.mesh);
    if (room == rooms.end() || room->second <= Bytes(0)) {
        return nullptr;
    }
    std::optional<SectorCache>& cache = m_uses[{agent.device, agent.slot}].l1;
    if (!cache) {
        cache.emplace(room->second);
    }
    return &*cache;
}

std::optional<SectorCache::Held> L1Caches::use(const SectorCache::Part& part, Picoseconds issue)
{
    SectorCache* const cache = cacheHere();
    std::optional<SectorCache::Held> held = cache == nullptr ? std::nullopt : cache->use(part);
    if (held) {
        held->ready = std::max(issue + m_latency, held->ready);
    }
    return held;
}

void L1Caches::hold(const SectorCache::Part& part, SectorCache::Held since)
{
    if (SectorCache* const cache = cacheHere()) {
        cache->hold(part, since);
    }
}

} // namespace pallascope::machine
