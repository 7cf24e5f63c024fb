// Who takes part in a run: agents by kind, and those whose unit each unit of the chip is. What the
// busy share of a unit, or of waits, is a share of.
#pragma once

#include "core/trace/trace.h"

#include <string>
#include <vector>

namespace pallascope::trace {

// Agents that are alike: their names differ in numbers alone.
struct AgentKind
{
    std::string name;                 // "SparseCore vector subcore"
    std::vector<std::int32_t> agents; // ascending
};

// Agents with rows of their own, or in front of the last that has pipelines or semaphores. An
// instance of a unit that a program asks by hand is no agent of its own here.
struct Agents
{
    std::vector<AgentKind> kinds; // by their first agents
    std::vector<std::int32_t>
        ownerOf; // by agent: itself, or of an instance the agent it belongs to
    std::vector<std::vector<std::int32_t>> ofUnit; // by unit: those of the kinds that use it

    [[nodiscard]] std::size_t size() const;
};

// Looks at each row once: ask Index, which keeps it.
[[nodiscard]] Agents agentsOf(const Trace& trace);

// The name without its numbers.
[[nodiscard]] std::string kindOfAgent(const std::string& name);

// "SparseCore 0 vector subcore 0–3, 7 · SparseCore 1 vector subcore 2"
[[nodiscard]] std::string agentNames(const Info& info, const std::vector<std::int32_t>& agents);

} // namespace pallascope::trace
