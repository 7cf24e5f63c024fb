// Rows of a table, sorted by the number that a column gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pallascope::trace {

// `Number` is the type of the column.
template<class Number>
class RowsBy
{
public:
    RowsBy() = default;

    // `numbers` is the column with the number of each row of the table. Rows of one number stay in
    // their order.
    RowsBy(std::vector<std::uint32_t> rows, const std::vector<Number>& numbers);

    // Of all rows of the table.
    explicit RowsBy(const std::vector<Number>& numbers);

    [[nodiscard]] std::span<const std::uint32_t> all() const { return m_rows; }

    // The rows of one number; `numbers` as before.
    [[nodiscard]] std::span<const std::uint32_t> of(Number number,
                                                    const std::vector<Number>& numbers) const;

    // How many numbers, from 0 on, rows may have; 0 if they are too many to be counted.
    [[nodiscard]] std::size_t counted() const { return m_begin.empty() ? 0 : m_begin.size() - 1; }

private:
    std::vector<std::uint32_t> m_rows;
    // For each number: where its rows begin, and where those of the last one end. Empty if numbers
    // are far more than rows.
    std::vector<std::uint32_t> m_begin;
};

using RowsByAgent = RowsBy<std::int32_t>;
using RowsByBlock = RowsBy<std::int64_t>;

} // namespace pallascope::trace
