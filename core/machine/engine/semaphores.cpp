// Semaphores come with their scopes and go with them.
#include "core/base/format.h"
#include "core/machine/engine/engine.h"

#include <algorithm>

namespace pallascope::machine {

void Engine::allocateSemaphores(ir::ValueId ref, Owned& owned)
{
    const ir::Type& type = m_program.type(ref);
    const auto count = static_cast<std::int32_t>(type.shape.elements());
    owned.semaphores.emplace_back(ref, m_state.semaphores.allocate(count));
    const std::int32_t first = owned.semaphores.back().second.first;
    binding(ref) = {};
    binding(ref).buffer = first;
    for (std::int32_t i = 0; i < count; ++i) {
        Semaphore& semaphore = m_state.semaphores[first + i];
        semaphore.space = *type.space;
        semaphore.row =
            m_recorder.semaphoreRow(refName(ref), *type.space, i, type.shape, m_agent->id);
        if (const auto early = m_state.early.find({m_agent->id, ref, i});
            early != m_state.early.end()) {
            learn(semaphore.clock, early->second.clock);
            add(first + i, early->second.amount, m_agent->time);
            m_state.early.erase(early);
        }
    }
}

std::int32_t Engine::barrier(std::int32_t collectiveId, std::int32_t agent)
{
    const auto [place, isNew] = m_state.barriers.try_emplace({collectiveId, agent});
    if (isNew) {
        place->second = m_state.semaphores.allocate(1).first;
        Semaphore& semaphore = m_state.semaphores[place->second];
        semaphore.space = ir::MemorySpace::BarrierSemaphore;
        semaphore.row = m_recorder.semaphoreRow("barrier " + std::to_string(collectiveId),
                                                ir::MemorySpace::BarrierSemaphore, 0, {}, agent);
    }
    return place->second;
}

void Engine::bindBarrier(const ir::Operation& operation)
{
    const std::int32_t id = std::get<ir::BarrierParams>(operation.params).collectiveId;
    binding(operation.results[0]) = {};
    binding(operation.results[0]).buffer = barrier(id, m_agent->id);
}

// All copies that it counts are those of findings.
bool Engine::isExplained(const Semaphore& semaphore) const
{
    const auto& landed = semaphore.landed;
    const bool isCounted = semaphore.space == ir::MemorySpace::DmaSemaphore && !landed.empty();
    return isCounted && std::all_of(landed.begin(), landed.end(), [this](const AwaitedCopy& copy) {
               return m_unordered.contains(copy.copy);
           });
}

// Semaphores must be 0 when they go; a copy that nobody waited for leaves its bytes.
void Engine::closeSemaphores(SlabRange semaphores)
{
    const auto in = [&](std::int32_t semaphore) {
        return semaphores.first <= semaphore && semaphore < semaphores.first + semaphores.count;
    };
    for (const Signal& signal : m_state.signals) {
        if (in(signal.semaphore)) {
            m_state.semaphores[signal.semaphore].count += signal.amount;
            m_state.semaphores[signal.semaphore].location = signal.location;
            m_state.semaphores[signal.semaphore].landed.push_back(signal.copy);
        }
    }
    m_state.signals.removeIf([&](const Signal& signal) { return in(signal.semaphore); });
    for (std::int32_t i = semaphores.first; i < semaphores.first + semaphores.count; ++i) {
        const Semaphore& semaphore = m_state.semaphores[i];
        if (semaphore.count == 0 || isExplained(semaphore)) {
            continue;
        }
        const std::string name = m_recorder.semaphoreName(semaphore.row);
        const bool dma = semaphore.space == ir::MemorySpace::DmaSemaphore;
        m_leavesCopies = m_leavesCopies || dma;
        for (const AwaitedCopy& copy : semaphore.landed) {
            m_neverAwaited.insert(copy.copy);
        }
        m_recorder.addFinding(
            {dma ? "copy_never_awaited" : "semaphore_left_over",
             trace::FindingClass::Structural,
             dma ? "The semaphore " + name + " is left with " + countText(semaphore.count)
                       + " bytes of copies that nobody waited for; this one was the last."
                       + calledFrom(semaphore.location)
                 : "The semaphore " + name + " is left at " + countText(semaphore.count)
                       + "; its signals and waits must add up to 0."
                       + calledFrom(semaphore.location),
             name,
             m_agent->step,
             {},
             m_recorder.sourceLine(m_program, semaphore.location),
             1});
    }
}

} // namespace pallascope::machine
