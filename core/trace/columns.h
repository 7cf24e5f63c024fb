// Helpers to find rows in the columns of a trace. For core/trace, and for tests that make traces.
#pragma once

#include "core/trace/row.h"
#include "core/trace/trace.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pallascope::trace {

// Converts row numbers and iterator differences, which are signed, to an index.
[[nodiscard]] inline std::size_t at(std::int64_t index)
{
    return static_cast<std::size_t>(index);
}

// The number of rows of a sorted column at or before t: rows [0, result).
[[nodiscard]] inline std::size_t begunBy(const std::vector<std::int64_t>& column, std::int64_t t)
{
    return at(std::upper_bound(column.begin(), column.end(), t) - column.begin());
}

// The step of the pipeline of step `first` that has begun last by t; no earlier one than `first`.
// Steps of other agents, and of pipelines in its body, may lie between.
[[nodiscard]] inline StepRow stepOfPipelineAt(const Trace& trace, StepRow first, std::int64_t t)
{
    const Steps& steps = trace.steps();
    std::size_t row = begunBy(steps.begin, t);
    while (row > first.index() + 1 && steps.pipeline[row - 1] != steps.pipeline[first.index()]) {
        --row;
    }
    return row > first.index() ? StepRow::at(row - 1) : first;
}

// How many steps of a pipeline lie from one to a later one of it.
[[nodiscard]] inline std::int64_t stepsBetween(const Trace& trace, StepRow from, StepRow to)
{
    const std::vector<std::int64_t>& ordinal = trace.steps().ordinal;
    const std::int64_t apart = ordinal[to.index()] - ordinal[from.index()];
    return apart < 0 ? to.number - from.number
                     : apart; // below 0: the pipeline has begun anew between them
}

// The index along each axis of a row-major number, as of steps and blocks. An extent of 0 counts as
// 1.
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

// t, clamped to the length of the run.
[[nodiscard]] inline std::int64_t clamped(const Trace& trace, Picoseconds t)
{
    return std::clamp<std::int64_t>(t.value(), 0, trace.end().value());
}

} // namespace pallascope::trace
