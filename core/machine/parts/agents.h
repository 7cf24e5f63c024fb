// The agents that run a program on all devices, and how an operation names another agent.
#pragma once

#include "core/machine/parts/context.h"
#include "core/machine/parts/findings.h"

#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace pallascope::machine {

class Agents
{
public:
    // `agents` are those of the run's state.
    Agents(const Context& context, std::deque<Agent>& agents, Findings& findings);

    // Adds all agents of the layout before anything runs. The first core of every device can run
    // the program; the others have nothing to run until a core_map.
    void add();

    [[nodiscard]] std::deque<Agent>& all() { return m_agents; }

    [[nodiscard]] Agent& at(std::int32_t id) { return m_agents[static_cast<std::size_t>(id)]; }

    [[nodiscard]] const Agent& at(std::int32_t id) const
    {
        return m_agents[static_cast<std::size_t>(id)];
    }

    // An agent other than the one whose turn it is goes on, or its time has changed.
    void changed(const Agent& agent) { m_changed.push_back(agent.id); }

    // Those that have changed since they were last taken.
    [[nodiscard]] std::vector<std::int32_t> takeChanged() { return std::exchange(m_changed, {}); }

    [[nodiscard]] Agent& firstOf(std::int32_t device); // it runs what is outside of core_maps
    [[nodiscard]] Agent& agentAt(std::int32_t device, std::int32_t kind, std::int32_t place,
                                 std::int32_t seat);
    // In the block or cluster of `agent`, the agent with this number. Both run the core_map of the
    // current agent.
    [[nodiscard]] Agent& coreOf(const Agent& agent, std::int32_t core);
    // An instance of the matrix unit that the current agent uses directly.
    [[nodiscard]] Agent& unitAt(std::int32_t mxu);
    // The same of the next block of the agent's cluster.
    [[nodiscard]] Agent& unitOfNext(std::int32_t mxu);

    // The agent with the same core number as this one, on the device whose number an operand of the
    // operation gives; of another GPU the first agent, which has what all of them share. This agent
    // if the operation names no device. If there is no such device, it returns null and the run
    // ends.
    [[nodiscard]] Agent* peerOf(const ir::Operation& operation, bool named, std::size_t operand);

    // The agent of a device that has the place and the number of this one.
    [[nodiscard]] Agent& hereOn(std::int32_t device);

    // What another device has of an array in GMEM (remote_ref). Without it the run ends.
    void bindRemote(const ir::Operation& operation);

    // The buffer, or the first semaphore, that an agent has at present for the ref of which `ref`
    // is a view.
    [[nodiscard]] std::optional<std::int32_t> rootAt(const Agent& agent, ir::ValueId ref) const;

    // The current agent's index on an axis of the mesh.
    [[nodiscard]] std::int64_t axisIndex(const ir::Operation& operation) const;

    // Lets an agent wait until then, if that is later.
    void awaitEnd(Agent& agent, Picoseconds end);

private:
    [[nodiscard]] Agent& unitOf(std::int32_t owner, std::int32_t mxu);

    const Prepared& m_prepared;
    Recorder& m_recorder;
    Turn& m_turn;
    Ending& m_ending;
    std::deque<Agent>& m_agents;
    Findings& m_findings;
    std::vector<std::int32_t> m_changed;
};

} // namespace pallascope::machine
