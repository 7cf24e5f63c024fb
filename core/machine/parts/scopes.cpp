#include "core/machine/parts/scopes.h"

#include <algorithm>
#include <utility>

namespace pallascope::machine {

Scopes::Scopes(const Context& context, std::vector<SharedScope>& shared, Copies& copies,
               Semaphores& semaphores, Barriers& barriers, Findings& findings)
    : m_prepared(context.prepared)
    , m_turn(context.turn)
    , m_memory(context.memory)
    , m_races(context.races)
    , m_shared(shared)
    , m_copies(copies)
    , m_semaphores(semaphores)
    , m_barriers(barriers)
    , m_findings(findings)
    , m_watch(context.watch)
{}

void Scopes::enter(const PlanItem& item)
{
    ScopeFrame frame;
    if (std::get<ir::ScopedParams>(item.control->params).collective) {
        frame.shared = item.control;
        join(*item.control);
    } else {
        allocateScope(*item.control, frame.owned);
    }
    m_turn.agent().frames.emplace_back(std::move(frame));
    m_turn.agent().frames.emplace_back(BlockFrame{item.regions[0], item.control});
}

void Scopes::allocateScope(const ir::Operation& operation, Owned& owned)
{
    owned.location = operation.location;
    allocate(operation.regions[0].arguments, owned);
    const auto& params = std::get<ir::ScopedParams>(operation.params);
    const std::vector<std::int32_t>& arrivals = params.arrivals;
    const std::vector<ir::ValueId>& refs = operation.regions[0].arguments;
    for (const auto& [ref, range] : owned.semaphores) {
        const auto place = std::find(refs.begin(), refs.end(), ref) - refs.begin();
        if (static_cast<std::size_t>(place) < arrivals.size()) {
            m_barriers.prepare(range, arrivals[static_cast<std::size_t>(place)], params.named,
                               params.blocks > 1);
        }
    }
}

bool Scopes::isOfBlock(const SharedScope& scope, const ir::Operation& operation) const
{
    const Agent& agent = m_turn.agent();
    return scope.operation == &operation && scope.device == agent.device && scope.kind == agent.kind
           && scope.place == agent.place;
}

// The first agent of a block that comes to a collective scope allocates it, the others find it. An
// agent may come again before others have come once; then it begins the next one.
void Scopes::join(const ir::Operation& operation)
{
    const std::int32_t id = m_turn.agent().id;
    const auto open = std::find_if(m_shared.begin(), m_shared.end(), [&](const SharedScope& scope) {
        return isOfBlock(scope, operation)
               && std::find(scope.entered.begin(), scope.entered.end(), id) == scope.entered.end();
    });
    if (open == m_shared.end()) {
        SharedScope scope{.device = m_turn.agent().device,
                          .kind = m_turn.agent().kind,
                          .place = m_turn.agent().place,
                          .operation = &operation,
                          .entered = {id},
                          .inside = {id}};
        allocateScope(operation, scope.owned);
        for (const auto& [ref, range] : scope.owned.buffers) {
            m_memory[range.first].isUncontested =
                m_memory[range.first].isUncontested && m_turn.agent().cores == 1;
        }
        m_shared.push_back(std::move(scope));
        return;
    }
    open->entered.push_back(id);
    open->inside.push_back(id);
    for (const auto* owned : {&open->owned.buffers, &open->owned.semaphores}) {
        for (const auto& [ref, range] : *owned) {
            m_turn.binding(ref) = {};
            m_turn.binding(ref).buffer = range.first;
        }
    }
}

void Scopes::leave(const ScopeFrame& frame)
{
    if (frame.shared == nullptr) {
        release(frame.owned);
        return;
    }
    const std::int32_t id = m_turn.agent().id;
    const auto scope = std::find_if(m_shared.begin(), m_shared.end(), [&](const SharedScope& one) {
        return isOfBlock(one, *frame.shared)
               && std::find(one.inside.begin(), one.inside.end(), id) != one.inside.end();
    });
    // The scope ends for this agent now, whenever the others leave it. Nobody else can wait for its
    // copies out of it.
    for (const auto& [ref, range] : scope->owned.buffers) {
        m_findings.reportCutOff(ref, range, scope->owned.location, id);
    }
    std::erase(scope->inside, id);
    if (std::get<ir::ScopedParams>(frame.shared->params).blocks > 1) {
        const std::int32_t block = m_turn.agent().core / m_turn.agent().mesh->cores;
        scope->left[id] = {block, m_races.clockOf(id)};
    }
    const auto all = static_cast<std::size_t>(m_turn.agent().cores);
    if (scope->entered.size() == all && scope->inside.empty()) {
        reportEnded(*scope);
        const Owned owned = std::move(scope->owned);
        m_shared.erase(scope);
        release(owned);
    }
}

// The SMEM of a block is there until all of its agents have left. What agents of other blocks did
// there must come before that, so some agent of the block must know of it when it leaves. Kernels
// with tensor memory of pairs end with a barrier of the cluster, which JAX puts there
// (jax/experimental/mosaic/gpu/core.py, _launch); a program does not say whose memory it is.
void Scopes::reportEnded(const SharedScope& scope)
{
    if (m_prepared.layout.groups.front().usesTensorMemory) {
        return;
    }
    std::map<std::int32_t, VectorClock> ends; // by block
    for (const auto& [agent, left] : scope.left) {
        ends[left.block].learn(left.clock);
    }
    for (const auto& [ref, range] : scope.owned.buffers) {
        const Shape& shape = m_memory[range.first].contents.shape();
        if (ends.empty() || m_prepared.program.type(ref).space != ir::MemorySpace::Smem) {
            continue;
        }
        for (const auto& [block, end] : ends) {
            Reach part{Extents(shape.rank(), 0), shape.extents()};
            part.start[0] = block;
            part.stop[0] = block + 1;
            for (const Race& race : m_races.unknownTo(end.known, range.first, part)) {
                const auto other = scope.left.find(race.agent);
                if (other != scope.left.end() && other->second.block != block) {
                    m_findings.reportEnded(race, m_prepared.refName(ref), scope.owned.location);
                }
            }
        }
    }
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
        memory.device = m_turn.agent().device;
        // The tensor core is an agent of its own where it reads SMEM and adds to TMEM.
        const bool isContested =
            m_prepared.layout.groups.front().usesTensorMemory
            && (type.space == ir::MemorySpace::Smem || type.space == ir::MemorySpace::Tmem);
        memory.isUncontested =
            m_turn.agent().mesh != nullptr && m_prepared.layout.devices == 1 && !isContested;
        memory.hasProxies = m_prepared.uses.hasProxies[static_cast<std::size_t>(ref.index)];
        if (*type.space == ir::MemorySpace::Accumulator && m_prepared.needed.needsContents(ref)) {
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
        if (m_prepared.chip.multiprocessor) {
            m_copies.finishReads(range);
        }
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
