// Saves the state of a run as a checkpoint, and restores it.
#include "core/machine/engine/engine.h"
#include "core/trace/mark_time.h"

#include <algorithm>
#include <utility>

namespace pallascope::machine {

Engine::Checkpoint Engine::save()
{
    for (std::int32_t i = 0; i < m_state.memory.end(); ++i) {
        if (m_state.memory[i].contents.isLarge()) {
            m_state.memory[i].contents.save();
        }
    }
    Checkpoint checkpoint{m_state, turnOf(), m_recorder.position(), now()};
    for (std::int32_t i = 0; i < checkpoint.state.memory.end(); ++i) {
        if (checkpoint.state.memory[i].contents.isLarge()) {
            checkpoint.state.memory[i].contents.fold();
        }
    }
    return checkpoint;
}

void Engine::restore(const Checkpoint& checkpoint)
{
    Slab<Memory> before = std::move(m_state.memory);
    m_state = checkpoint.state;
    for (std::int32_t i = 0; i < m_state.memory.end(); ++i) {
        if (m_state.memory[i].contents.isLarge()) {
            m_state.memory[i].contents.unfold(i < before.end() ? std::move(before[i].contents)
                                                               : Buffer());
        }
    }
    m_recorder.moveTo(checkpoint.position);
    m_turn.give(m_state.agents[checkpoint.turn]);
    noteAllReady();
    m_end.reset();
    m_ending.forgetError();
}

std::size_t Engine::turnOf() const
{
    const auto& agents = m_state.agents;
    return static_cast<std::size_t>(
        std::find_if(agents.begin(), agents.end(),
                     [&](const Agent& agent) { return m_turn.isOf(agent); })
        - agents.begin());
}

// Whoever acts next decides: the agent that acted last may have come past the others.
Picoseconds Engine::now() const
{
    if (m_end || m_state.delivered) {
        return m_end ? *m_end : *m_state.delivered;
    }
    const std::optional<std::int32_t> first = m_ready.first();
    Picoseconds others = m_ready.nextTime();
    if (first && *first != m_turn.agent().id) {
        others = std::min(others, m_state.agents[static_cast<std::size_t>(*first)].time);
    }
    return std::min(timeOfTurn(), others);
}

Picoseconds Engine::timeOf(const Agent& agent) const
{
    return m_turn.isOf(agent) ? timeOfTurn() : agent.time;
}

Picoseconds Engine::timeOfTurn() const
{
    const auto* block = m_turn.agent().frames.empty()
                            ? nullptr
                            : std::get_if<BlockFrame>(&m_turn.agent().frames.back());
    if (block == nullptr || block->done == 0) {
        return m_turn.agent().time;
    }
    const trace::SegmentTemplate& segment =
        m_prepared.plan
            .templates[static_cast<std::size_t>(block->plan->items[block->next].templateId)];
    return m_turn.agent().time
           + Picoseconds(
               trace::markTime(segment, segment.retire[static_cast<std::size_t>(block->done - 1)]));
}

} // namespace pallascope::machine
