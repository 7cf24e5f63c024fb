// Tells Races of accesses, and reports those that nothing orders after another one.
#include "core/machine/parts/accesses.h"

#include <set>
#include <utility>

namespace pallascope::machine {

Access Accesses::accessOf(const ir::Operation& operation, bool writes, const RefBinding& where,
                          Proxy proxy)
{
    const Memory& memory = m_memory[where.buffer];
    Access access{where.buffer,        memory.isUncontested, writes,
                  m_turn.agent().step, operation.location,   {}};
    access.place.located =
        std::make_shared<Place::Located>(Place::Located{where, memory.contents.shape(), {}});
    access.place.reach = m_reaches.of(where, memory.contents.shape());
    access.adds = ir::isAtomic(operation.code);
    access.proxy = memory.hasProxies ? proxy : Proxy::None;
    return access;
}

void Accesses::checkRace(ir::ValueId ref, const ir::Operation& operation, bool writes,
                         const RefBinding& where, std::optional<std::vector<RefBinding>> parts)
{
    Access access = accessOf(operation, writes, where, Proxy::Generic);
    if (parts) {
        access.place.located = std::make_shared<Place::Located>(
            Place::Located{where, access.place.located->memory, std::move(parts)});
        access.place.reach = nullptr; // of the parts only
    }
    // Loads and stores of TMEM are under way until their agent waits for them.
    access.isLate = m_prepared.program.type(ref).space == ir::MemorySpace::Tmem;
    if (access.isLate) {
        Agent& agent = m_turn.agent();
        (writes ? agent.tensorStores : agent.tensorLoads).push_back(access);
    }
    if (const std::optional<Race> race = m_races.access(m_turn.agent().id, access)) {
        m_findings.reportRace(*race, m_prepared.refName(ref),
                              {m_turn.agent().id, {}, m_turn.agent().step, operation.location});
    }
}

void Accesses::endKernel(const ir::Operation& coreMap, std::int32_t caller)
{
    if (!m_detects || m_prepared.layout.devices == 1) {
        return;
    }
    std::set<ir::ValueId> named; // of other devices
    ir::forEachOperation(coreMap.regions[0], [&](const ir::Operation& operation) {
        if (operation.code == ir::OpCode::RemoteRef) {
            named.insert(m_prepared.rootOf(operation.operands[0]));
        }
    });
    for (const ir::ValueId ref : named) {
        const Access access = accessOf(coreMap, false, m_turn.binding(ref), Proxy::None);
        const std::optional<Race> race = m_races.access(caller, access);
        if (race && race->agent / m_prepared.layout.perDevice() != m_turn.agent().device) {
            const Race withEnd{.writes = true, .agent = caller, .location = coreMap.location};
            m_findings.reportRace(withEnd, m_prepared.refName(ref),
                                  {race->agent, race->copy, race->step, race->location});
        }
    }
}

UnderwayReads Accesses::startReads(const ir::Operation& operation,
                                   std::span<const ir::ValueId> refs)
{
    UnderwayReads started;
    if (!m_detects) {
        return started;
    }
    std::vector<Access> reads;
    for (const ir::ValueId ref : refs) {
        reads.push_back(accessOf(operation, false, m_turn.binding(ref), Proxy::Async));
    }
    if (const auto found = m_races.start(m_turn.agent().id, std::move(reads), started)) {
        m_findings.reportRace(found->first, m_prepared.refName(refs[found->second]),
                              {m_turn.agent().id, {}, m_turn.agent().step, operation.location});
    }
    return started;
}

void Accesses::useBy(const Agent& unit, const ir::Operation& operation, std::size_t operand,
                     bool writes)
{
    const ir::ValueId ref = operation.operands[operand];
    const RefBinding& where = m_turn.binding(ref);
    if (writes) {
        m_memory[where.buffer].holds = Memory::Holds::Current;
    }
    if (!mayRace(where)) {
        return;
    }
    const Access access = accessOf(operation, writes, where, Proxy::Async);
    if (const std::optional<Race> race = m_races.access(unit.id, access)) {
        const Agent& by = race->withCopy ? m_turn.agent() : unit;
        m_findings.reportRace(*race, m_prepared.refName(ref),
                              {by.id, {}, m_turn.agent().step, operation.location});
    }
}

} // namespace pallascope::machine
