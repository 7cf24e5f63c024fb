#include "views/layout/values/plane.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pallascope::layout::values {

namespace {

constexpr std::int64_t kRowOfVector = 128; // elements: the lanes of a register

class Counter
{
public:
    void add(Kind kind, double value)
    {
        switch (kind) {
        case Kind::None:
            return;
        case Kind::Undefined:
            ++m_counts.undefined;
            return;
        case Kind::Inf:
            ++m_counts.inf;
            return;
        case Kind::Nan:
            ++m_counts.nan;
            return;
        case Kind::Value:
            break;
        }
        ++m_counts.values;
        m_sum += value;
        m_least = std::min(m_least, value);
        m_largest = std::max(m_largest, value);
        if (value != 0) {
            m_leastMagnitude = std::min(m_leastMagnitude, std::fabs(value));
        }
    }

    [[nodiscard]] Counts done()
    {
        if (m_counts.values > 0) {
            m_counts.least = m_least;
            m_counts.largest = m_largest;
            m_counts.mean = m_sum / static_cast<double>(m_counts.values);
            m_counts.leastMagnitude = std::isfinite(m_leastMagnitude) ? m_leastMagnitude : 0;
        }
        return m_counts;
    }

private:
    static constexpr double kInf = std::numeric_limits<double>::infinity();
    Counts m_counts;
    double m_sum = 0, m_least = kInf, m_largest = -kInf, m_leastMagnitude = kInf;
};

} // namespace

Plane planeOf(const Shape& shape, std::int64_t element)
{
    const std::int64_t all = shape.elements();
    if (shape.rank() < 2) {
        const std::int64_t columns = std::clamp<std::int64_t>(all, 1, kRowOfVector);
        return {0, (std::max<std::int64_t>(all, 1) + columns - 1) / columns, columns, all};
    }
    const std::int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
    const std::int64_t count = rows * columns;
    return {count == 0 ? 0 : element / count * count, rows, columns, count};
}

Kind kindOf(const ValuesView& view, std::int64_t element)
{
    if (element < 0) {
        return Kind::None;
    }
    if (view.defined[static_cast<std::size_t>(element)] == 0) {
        return Kind::Undefined;
    }
    const double value = view.elements.at(element);
    return std::isnan(value) ? Kind::Nan : std::isinf(value) ? Kind::Inf : Kind::Value;
}

Counts countsOf(const ValuesView& view)
{
    return countsOf(view, {0, 1, view.elements.shape.elements(), view.elements.shape.elements()});
}

Counts countsOf(const ValuesView& view, const Plane& plane)
{
    Counter counter;
    for (std::int64_t i = plane.first; i < plane.first + plane.elements; ++i) {
        counter.add(kindOf(view, i), view.elements.at(i));
    }
    return counter.done();
}

Cells cellsOf(const ValuesView& view, const Plane& plane, std::int64_t side)
{
    Cells cells{side, (plane.rows + side - 1) / side, (plane.columns + side - 1) / side, {}};
    cells.cells.resize(static_cast<std::size_t>(cells.rows * cells.columns));
    for (std::int64_t row = 0; row < plane.rows; ++row) {
        for (std::int64_t column = 0; column < plane.columns; ++column) {
            const std::int64_t element = plane.at(row, column);
            const Kind kind = kindOf(view, element);
            const auto number =
                static_cast<std::size_t>(row / side * cells.columns + column / side);
            Cell& cell = cells.cells[number];
            if (kind == Kind::Value && cell.kind <= Kind::Value) {
                const double value = view.elements.at(element);
                cell.value = cell.kind == Kind::None || std::fabs(value) > std::fabs(cell.value)
                                 ? value
                                 : cell.value;
            } else if (kind == Kind::Inf && cell.kind < Kind::Inf) {
                cell.value = view.elements.at(element) > 0 ? 1 : -1;
            }
            cell.kind = std::max(cell.kind, kind);
        }
    }
    return cells;
}

std::int64_t notableElement(const ValuesView& view)
{
    std::int64_t inf = -1;
    for (std::int64_t i = 0; i < view.elements.shape.elements(); ++i) {
        const Kind kind = kindOf(view, i);
        if (kind == Kind::Nan) {
            return i;
        }
        if (kind == Kind::Inf && inf < 0) {
            inf = i;
        }
    }
    return std::max<std::int64_t>(inf, 0);
}

} // namespace pallascope::layout::values
