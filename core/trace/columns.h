// Places in the columns of a trace. For core/trace, and for tests that make traces.
#pragma once

#include "core/trace/trace.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pallascope::trace {

// Row numbers and differences of iterators are signed, indices are not.
[[nodiscard]] inline std::size_t at(std::int64_t index)
{
    return static_cast<std::size_t>(index);
}

// Rows [0, result) of a sorted column are at or before t.
[[nodiscard]] inline std::size_t begunBy(const std::vector<std::int64_t>& column, std::int64_t t)
{
    return at(std::upper_bound(column.begin(), column.end(), t) - column.begin());
}

// The place along each axis of a row-major number, as of steps and blocks; an extent of 0 is as 1.
[[nodiscard]] inline std::vector<Extent> rowMajorIndex(const std::vector<Extent>& extents,
                                                       std::int64_t number)
{
    std::vector<Extent> index(extents.size());
    for (std::size_t axis = index.size(); axis > 0; --axis) {
        const Extent extent = std::max<Extent>(extents[axis - 1], 1);
        index[axis - 1] = number % extent;
        number /= extent;
    }
    return index;
}

// The time within the run that is nearest to t.
[[nodiscard]] inline std::int64_t clamped(const Trace& trace, Picoseconds t)
{
    return std::clamp<std::int64_t>(t.value(), 0, trace.end().value());
}

} // namespace pallascope::trace
