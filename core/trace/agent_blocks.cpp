#include "core/trace/agent_blocks.h"

#include "core/trace/columns.h"

#include <algorithm>
#include <iterator>

namespace pallascope::trace {

AgentBlocks::AgentBlocks(const Trace& trace)
    : m_blocks(trace.gridBlocks())
    , m_rowsOf(m_blocks.size() > 0 ? trace.info().agents.size() : 0)
{
    for (std::size_t row = 0; row < m_blocks.size(); ++row) {
        const std::int64_t first = m_blocks.agent[row];
        const auto last =
            std::min(first + agentsOfBlock(trace, row), static_cast<std::int64_t>(m_rowsOf.size()));
        for (std::int64_t agent = first; m_blocks.claimed[row] == 0 && agent < last; ++agent) {
            m_rowsOf[at(agent)].push_back(static_cast<std::int64_t>(row));
        }
    }
}

std::optional<std::int64_t> AgentBlocks::lastOf(std::int32_t agent, Picoseconds t) const
{
    if (agent < 0 || at(agent) >= m_rowsOf.size()) {
        return std::nullopt;
    }
    const std::vector<std::int64_t>& rows = m_rowsOf[at(agent)];
    const auto later =
        std::upper_bound(rows.begin(), rows.end(), t.value(), [&](std::int64_t time, auto row) {
            return time < m_blocks.begin[at(row)];
        });
    return later == rows.begin() ? std::nullopt : std::optional(*std::prev(later));
}

bool AgentBlocks::isInBlock(std::int32_t agent, Picoseconds t) const
{
    const std::optional<std::int64_t> row = lastOf(agent, t);
    return row && t.value() < m_blocks.end[at(*row)];
}

std::int64_t agentsOfBlock(const Trace& trace, std::size_t row)
{
    return trace.info().blockGrids[at(trace.gridBlocks().grid[row])].agents;
}

} // namespace pallascope::trace
