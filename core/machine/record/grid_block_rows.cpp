#include "core/machine/record/grid_block_rows.h"

#include <algorithm>
#include <utility>

namespace pallascope::machine {

void GridBlockRows::begin(const BegunBlocks& blocks, Picoseconds time)
{
    std::int64_t block = blocks.point * static_cast<std::int64_t>(blocks.agents.size());
    for (const std::int32_t agent : blocks.agents) {
        m_open[blocks.agents.front()].push_back(m_rows.size());
        m_rows.grid.push_back(blocks.grid);
        m_rows.block.push_back(block++);
        m_rows.agent.push_back(agent);
        m_rows.claimed.push_back(blocks.areClaimed ? 1 : 0);
        m_rows.begin.push_back(time.value());
        m_rows.end.push_back(time.value());
    }
}

void GridBlockRows::end(std::int32_t agent, Picoseconds time)
{
    for (const std::size_t row : std::exchange(m_open[agent], {})) {
        m_rows.end[row] = time.value();
    }
}

trace::GridBlocks GridBlockRows::take(Picoseconds end)
{
    for (const auto& [agent, rows] : m_open) {
        for (const std::size_t row : rows) {
            m_rows.end[row] = end.value();
        }
    }
    for (std::size_t row = 0; row < m_rows.size(); ++row) {
        m_rows.end[row] = std::min(m_rows.end[row], end.value());
        m_rows.begin[row] = std::min(m_rows.begin[row], m_rows.end[row]);
    }
    return std::move(m_rows);
}

} // namespace pallascope::machine
