// Rows of a table, sorted by the block that they are about.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pallascope::trace {

class RowsByBlock
{
public:
    RowsByBlock() = default;

    // `blocks` is the column with the block of each row of the table. Rows of one block stay in
    // their order.
    RowsByBlock(std::vector<std::uint32_t> rows, const std::vector<std::int64_t>& blocks);

    [[nodiscard]] std::span<const std::uint32_t> all() const { return m_rows; }

    // The rows of one block; `blocks` as before.
    [[nodiscard]] std::span<const std::uint32_t> of(std::int64_t block,
                                                    const std::vector<std::int64_t>& blocks) const;

    // How many blocks, from the first on, rows may be about; 0 if they are too many to be counted.
    [[nodiscard]] std::size_t blocks() const { return m_begin.empty() ? 0 : m_begin.size() - 1; }

private:
    std::vector<std::uint32_t> m_rows;
    // For each block: where its rows begin, and where those of the last block end. Empty if an
    // array has far more blocks than rows are about.
    std::vector<std::uint32_t> m_begin;
};

} // namespace pallascope::trace
