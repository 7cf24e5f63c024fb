#include "core/machine/parts/reductions.h"

#include <memory>
#include <optional>

namespace pallascope::machine {

Reductions::Reductions(const Context& context, ReductionScratches& scratches, Findings& findings)
    : Part(context)
    , m_scratches(scratches)
    , m_findings(findings)
{
    m_everything.located = std::make_shared<const Place::Located>();
    static_cast<void>(reachOf(m_everything)); // worked out once, for all accesses
}

// The memory has no contents: nothing but the order of its accesses matters.
std::int32_t Reductions::scratchOfBlock()
{
    const Agent& agent = m_turn.agent();
    const auto [place, isNew] = m_scratches.try_emplace(agent.id - agent.seat);
    ReductionScratch& scratch = place->second;
    if (isNew) {
        scratch.buffer = m_memory.allocate(1).first;
        m_memory[scratch.buffer].device = agent.device;
    } else if (scratch.block != agent.block) {
        m_races.forget(scratch.buffer); // the block before this one has ended
    }
    scratch.block = agent.block;
    return scratch.buffer;
}

void Reductions::note(const ir::Operation& operation)
{
    if (!m_detects) {
        return;
    }
    Access access{scratchOfBlock(),   false,       true, m_turn.agent().step,
                  operation.location, m_everything};
    if (const std::optional<Race> race = m_races.access(m_turn.agent().id, access)) {
        m_findings.reportReductionRace(*race, operation);
    }
}

} // namespace pallascope::machine
