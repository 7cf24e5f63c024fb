// Which rows of a table are each agent's, so that a question about one agent does not go through
// the rows of all others: a GPU has hundreds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace pallascope::trace {

class Trace;

class AgentRows
{
public:
    AgentRows() = default;
    // `agents`: the agent of each row, from 0 up to but not including `count`.
    AgentRows(const std::vector<std::int32_t>& agents, std::size_t count);

    // Ascending. None of an agent that does not exist.
    [[nodiscard]] std::span<const std::int32_t> of(std::int32_t agent) const;

private:
    std::vector<std::int32_t> m_rows;    // agent by agent
    std::vector<std::size_t> m_first{0}; // of each agent, and where the last one's end
};

// Those of a trace, made when they are first asked for, in O(rows). Any thread may ask.
class RowsOfAgents
{
public:
    struct Tables
    {
        AgentRows segments, waits;
    };

    [[nodiscard]] const Tables& of(const Trace& trace) const;

    // They follow from the rest of the trace.
    bool operator==(const RowsOfAgents& /*other*/) const { return true; }

private:
    struct Later
    {
        std::once_flag made;
        Tables tables;
    };

    std::shared_ptr<Later> m_later = std::make_shared<Later>();
};

} // namespace pallascope::trace
