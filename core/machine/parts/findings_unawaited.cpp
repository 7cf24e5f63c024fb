// Findings about copies for which nobody waits: memory that goes too early, bytes that are left.
#include "core/base/format.h"
#include "core/machine/parts/findings.h"

#include <algorithm>

namespace pallascope::machine {

// Reports manual DMA for which nobody has waited when the memory at one of its ends is released.
// Copies of pipelines, and those that another finding covers, are reported elsewhere.
void Findings::reportCutOff(ir::ValueId ref, SlabRange buffers, ir::LocationId scope,
                            std::optional<std::int32_t> startedBy)
{
    for (std::int32_t i = buffers.first; m_detects && i < buffers.first + buffers.count; ++i) {
        for (const Race& copy : m_races.unawaited(i)) {
            const bool isIts = !startedBy || (copy.agent == *startedBy && !copy.otherWrites);
            if (!isIts || copy.ofPipeline || m_neverAwaited.contains(*copy.copy)
                || !m_unordered.insert(*copy.copy).second) {
                continue;
            }
            const std::string name = m_prepared.refName(ref);
            m_unorderedNames.insert(name);
            const std::optional<ir::ValueId> barrier = barrierOf(copy);
            if (!isOfDoubt(copy) && (!barrier || m_unawaitedBarriers.insert(*barrier).second)) {
                reportFreed(copy, name, scope);
            }
        }
    }
}

// Captured kernels do not say where they are called, so their own scope has no place.
void Findings::reportFreed(const Race& copy, const std::string& name, ir::LocationId scope)
{
    const bool isNamed = scope.index >= 0;
    m_recorder.addFinding(trace::found(
        trace::FindingKind::FreedInFlight,
        name + " ends with its scope" + (isNamed ? " (" + placeText(scope) + ")" : "")
            + " while a copy that nobody has waited for "
            + (copy.otherWrites ? "writes it" : "reads it") + " (started at "
            + placeText(copy.location) + "). Wait for the copy before the scope ends.",
        name, m_turn.agent().step, copy.step,
        m_recorder.description().sourceLine(m_prepared.program, isNamed ? scope : copy.location)));
}

// Whether a finding says already that no wait is sure of the copy.
bool Findings::isOfDoubt(const Race& copy) const
{
    const Semaphore* const doubtful = doubtfulSemaphore(copy);
    return doubtful != nullptr && m_doubtful.contains(*doubtful->row);
}

// The bytes that are left are why no wait is sure of the copies: the finding about these says how
// many there are, and there is no further one. False: no finding is about them.
bool Findings::addToDoubt(const Semaphore& semaphore, const std::string& name)
{
    const auto doubt = m_doubtful.find(*semaphore.row);
    if (doubt == m_doubtful.end()) {
        return false;
    }
    const auto& [kind, operand, source] = doubt->second;
    return !m_leftInDoubt.insert(doubt->second).second
           || m_recorder.addToFinding(trace::findingEntry(kind).name, operand, source,
                                      name + " ends with " + countText(semaphore.count)
                                          + " bytes of them that nobody has waited for.");
}

// Whether findings already cover all copies that the semaphore counts.
bool Findings::isExplained(const Semaphore& semaphore) const
{
    const auto& landed = semaphore.landed;
    const bool isCounted = semaphore.space == ir::MemorySpace::DmaSemaphore && !landed.empty();
    return isCounted && std::all_of(landed.begin(), landed.end(), [this](const AwaitedCopy& copy) {
               return copy.copy && m_unordered.contains(*copy.copy);
           });
}

} // namespace pallascope::machine
