#include "core/trace/rows_by_block.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pallascope::trace {

RowsByBlock::RowsByBlock(std::vector<std::uint32_t> rows, const std::vector<std::int64_t>& blocks)
{
    std::int64_t lowest = 0, highest = -1;
    for (const std::uint32_t row : rows) {
        lowest = std::min(lowest, blocks[row]);
        highest = std::max(highest, blocks[row]);
    }
    if (lowest < 0 || highest > static_cast<std::int64_t>(2 * rows.size() + 1024)) {
        m_rows = std::move(rows);
        std::ranges::stable_sort(m_rows, {}, [&](std::uint32_t row) { return blocks[row]; });
        return;
    }
    // A counting sort, behind which the place of a block's next row is where the next block begins.
    m_begin.resize(static_cast<std::size_t>(highest + 3), 0);
    const auto place = [&](std::uint32_t row) { return static_cast<std::size_t>(blocks[row]) + 1; };
    for (const std::uint32_t row : rows) {
        ++m_begin[place(row) + 1];
    }
    std::partial_sum(m_begin.begin(), m_begin.end(), m_begin.begin());
    m_rows.resize(rows.size());
    for (const std::uint32_t row : rows) {
        m_rows[m_begin[place(row)]++] = row;
    }
    m_begin.pop_back();
}

std::span<const std::uint32_t> RowsByBlock::of(std::int64_t block,
                                               const std::vector<std::int64_t>& blocks) const
{
    if (m_begin.empty()) {
        const auto found = std::ranges::equal_range(m_rows, block, {},
                                                    [&](std::uint32_t row) { return blocks[row]; });
        return {found.begin(), found.end()};
    }
    if (block < 0 || block + 1 >= static_cast<std::int64_t>(m_begin.size())) {
        return {};
    }
    const auto number = static_cast<std::size_t>(block);
    return std::span(m_rows).subspan(m_begin[number], m_begin[number + 1] - m_begin[number]);
}

} // namespace pallascope::trace
