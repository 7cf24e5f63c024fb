#include "core/trace/rows_by.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pallascope::trace {

namespace {

std::vector<std::uint32_t> firstRows(std::size_t count)
{
    std::vector<std::uint32_t> rows(count);
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
}

} // namespace

template<class Number>
RowsBy<Number>::RowsBy(const std::vector<Number>& numbers)
    : RowsBy(firstRows(numbers.size()), numbers)
{}

template<class Number>
RowsBy<Number>::RowsBy(std::vector<std::uint32_t> rows, const std::vector<Number>& numbers)
{
    Number lowest = 0, highest = -1;
    for (const std::uint32_t row : rows) {
        lowest = std::min(lowest, numbers[row]);
        highest = std::max(highest, numbers[row]);
    }
    if (lowest < 0 || highest > static_cast<std::int64_t>(2 * rows.size() + 1024)) {
        m_rows = std::move(rows);
        std::ranges::stable_sort(m_rows, {}, [&](std::uint32_t row) { return numbers[row]; });
        return;
    }
    // A counting sort, behind which the place of a number's next row is where the next number
    // begins.
    m_begin.resize(static_cast<std::size_t>(highest) + 3, 0);
    const auto place = [&](std::uint32_t row) {
        return static_cast<std::size_t>(numbers[row]) + 1;
    };
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

template<class Number>
std::span<const std::uint32_t> RowsBy<Number>::of(Number number,
                                                  const std::vector<Number>& numbers) const
{
    if (m_begin.empty()) {
        const auto found = std::ranges::equal_range(
            m_rows, number, {}, [&](std::uint32_t row) { return numbers[row]; });
        return {found.begin(), found.end()};
    }
    if (number < 0 || static_cast<std::size_t>(number) + 1 >= m_begin.size()) {
        return {};
    }
    const auto from = m_begin.begin() + static_cast<std::ptrdiff_t>(number);
    return std::span(m_rows).subspan(from[0], from[1] - from[0]);
}

template class RowsBy<std::int32_t>;
template class RowsBy<std::int64_t>;

} // namespace pallascope::trace
