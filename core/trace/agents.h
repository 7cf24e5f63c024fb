// Groups the agents of a run by kind, and says which agents own each unit of the chip. Views need
// it to divide busy and waiting times: it says of what a share is a share.
#pragma once

#include "core/trace/row.h"
#include "core/trace/trace.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pallascope::trace {

// Agents that are alike: their names differ only in numbers.
struct AgentKind
{
    std::string name;                 // "SparseCore vector subcore"
    std::vector<std::int32_t> agents; // in ascending order
};

// A streaming multiprocessor of a GPU, with the agents of all blocks that it runs.
struct Sm
{
    std::string name; // "SM 3"
    std::int32_t device = 0;
    std::vector<std::int32_t> agents; // its warpgroups, in ascending order
};

// The agents that take part: those with rows of their own, and all before the last one that has
// pipelines or semaphores. An instance of a unit that a program uses directly is not counted as an
// agent here.
struct Agents
{
    std::vector<AgentKind> kinds; // in the order of their first agents
    // For each agent itself; for an instance of a unit the agent to which it belongs.
    std::vector<std::int32_t> ownerOf;
    // For each unit, the agents of the kinds that use it.
    std::vector<std::vector<std::int32_t>> ofUnit;
    // Of a run for GPUs, the SMs that take part, device by device, and for each agent the number of
    // its SM (kNone: it has none). Otherwise both are empty.
    std::vector<Sm> sms;
    std::vector<std::int32_t> smOf;

    [[nodiscard]] std::size_t size() const;
    // How many of a unit a run has, at least 1: on a GPU each SM has one that its warpgroups share,
    // elsewhere each agent that uses it has one.
    [[nodiscard]] std::int64_t unitCount(UnitRow unit) const;
    // The numbers of a device's SMs: from the first to before the last.
    [[nodiscard]] std::pair<std::int32_t, std::int32_t> smsOf(std::int32_t device) const;
};

// Reads every row once. Use Index::agents, which keeps the result.
[[nodiscard]] Agents agentsOf(const Trace& trace);

// The name of an agent without its numbers.
[[nodiscard]] std::string kindOfAgent(const std::string& name);

// Whether an agent is an instance of a matrix unit, by its name: "SM 3 TC 0". What agents ask of it
// runs beside them.
[[nodiscard]] bool isUnitInstance(const Info& info, const std::string& agent);

// Whether an agent is a warp beside the first one of its warpgroup, by its name: "SM 3 Warpgroup 0
// warp 1".
[[nodiscard]] bool isWarp(const std::string& agent);

// A short name of an agent whose slot has several places for blocks: "SM 3.1.0" of "SM 3 place 1
// Warpgroup 0". None for other agents.
[[nodiscard]] std::optional<std::string> nameOfPlace(const std::string& agent);

// "SparseCore 0 vector subcore 0–3, 7 · SparseCore 1 vector subcore 2"
[[nodiscard]] std::string agentNames(const Info& info, const std::vector<std::int32_t>& agents);

} // namespace pallascope::trace
