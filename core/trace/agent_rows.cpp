#include "core/trace/agent_rows.h"

#include "core/trace/trace.h"

namespace pallascope::trace {

AgentRows::AgentRows(const std::vector<std::int32_t>& agents, std::size_t count)
    : m_rows(agents.size())
    , m_first(count + 1)
{
    for (const std::int32_t agent : agents) {
        ++m_first[static_cast<std::size_t>(agent) + 1];
    }
    for (std::size_t agent = 0; agent < count; ++agent) {
        m_first[agent + 1] += m_first[agent];
    }
    std::vector<std::size_t> next = m_first;
    for (std::size_t row = 0; row < agents.size(); ++row) {
        m_rows[next[static_cast<std::size_t>(agents[row])]++] = static_cast<std::int32_t>(row);
    }
}

std::span<const std::int32_t> AgentRows::of(std::int32_t agent) const
{
    const auto number = static_cast<std::size_t>(agent);
    if (agent < 0 || number + 1 >= m_first.size()) {
        return {};
    }
    return std::span(m_rows).subspan(m_first[number], m_first[number + 1] - m_first[number]);
}

const RowsOfAgents::Tables& RowsOfAgents::of(const Trace& trace) const
{
    std::call_once(m_later->made, [&] {
        const std::size_t agents = trace.info().agents.size();
        m_later->tables = {AgentRows(trace.segments().agent, agents),
                           AgentRows(trace.waits().agent, agents)};
    });
    return m_later->tables;
}

} // namespace pallascope::trace
