#include "core/machine/parts/scopes.h"

namespace pallascope::machine {

Scopes::Scopes(const Context& context, Copies& copies, Semaphores& semaphores, Findings& findings)
    : m_prepared(context.prepared)
    , m_turn(context.turn)
    , m_memory(context.memory)
    , m_races(context.races)
    , m_copies(copies)
    , m_semaphores(semaphores)
    , m_findings(findings)
    , m_watch(context.watch)
{}

void Scopes::enter(const PlanItem& item)
{
    ScopeFrame frame;
    frame.owned.location = item.control->location;
    allocate(item.control->regions[0].arguments, frame.owned);
    m_turn.agent().frames.emplace_back(std::move(frame));
    m_turn.agent().frames.emplace_back(BlockFrame{item.regions[0], item.control});
}

void Scopes::allocate(const std::vector<ir::ValueId>& refs, Owned& owned)
{
    owned.buffers.reserve(owned.buffers.size() + refs.size());
    for (const ir::ValueId ref : refs) {
        const ir::Type& type = m_prepared.program.type(ref);
        if (ir::isSemaphore(*type.space)) {
            m_semaphores.allocate(ref, owned);
            continue;
        }
        owned.buffers.emplace_back(ref, m_memory.allocate(1));
        m_turn.binding(ref) = {};
        m_turn.binding(ref).buffer = owned.buffers.back().second.first;
        Memory& memory = m_memory[m_turn.binding(ref).buffer];
        memory.contents = m_turn.undefined(type.dtype, type.shape);
        memory.isUncontested = m_turn.agent().mesh != nullptr && m_prepared.layout.devices == 1;
        if (*type.space == ir::MemorySpace::Accumulator) {
            memory.contents.storeAll(RuntimeValue::zeros(type.dtype, type.shape));
        }
        m_watch.created(ref, owned.buffers.back().second);
    }
}

void Scopes::release(const Owned& owned)
{
    for (const auto& [ref, range] : owned.semaphores) {
        m_semaphores.close(range);
        m_semaphores.release(range);
        m_turn.binding(ref) = {}; // so that another core does not find it
    }
    m_copies.land(m_turn.agent().time);
    for (const auto& [ref, range] : owned.buffers) {
        m_watch.released(ref, range);
        m_findings.reportCutOff(ref, range, owned.location);
        m_copies.dropFlights(range);
        forgetBindings(range);
        for (std::int32_t i = range.first; i < range.first + range.count; ++i) {
            m_races.forget(i);
        }
        m_memory.release(range);
    }
}

// Makes sure that other agents cannot name memory that a device has released.
void Scopes::forgetBindings(SlabRange buffers)
{
    for (std::size_t i = 0; m_prepared.layout.devices > 1 && i < m_turn.agent().refs.size(); ++i) {
        RefBinding& ref = m_turn.agent().refs[i];
        if (!ir::isSemaphore(*m_prepared.program.type(m_prepared.slots.refs()[i]).space)
            && buffers.first <= ref.buffer && ref.buffer < buffers.first + buffers.count) {
            ref = {};
        }
    }
}

} // namespace pallascope::machine
