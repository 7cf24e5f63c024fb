// A value whose elements are those of other values, moved: what most operations on shapes make.
// Such an operation says which part of which operand goes to which part of its result.
#pragma once

#include "core/machine/values/value.h"

#include <vector>

namespace pallascope::machine::ops {

// Copies elements of one source to elements of the result. Both views have the same shape.
struct Move
{
    const RuntimeValue* source;
    StridedView from, to;
};

// An element keeps whether it is defined. A single move of everything as it lies shares the
// source's storage.
[[nodiscard]] RuntimeValue moved(DType dtype, const Shape& shape, const std::vector<Move>& moves);

// The part of a row-major array of shape `whole` that begins at start[axis] and advances by
// steps[axis].
[[nodiscard]] StridedView part(const Shape& whole, const Shape& extents,
                               const std::vector<Extent>& start, const std::vector<Extent>& steps);

// All of `whole`, except that one axis is limited to [start, start + length).
[[nodiscard]] StridedView along(const Shape& whole, std::size_t axis, Extent start, Extent length);

// `view` without one of its axes.
[[nodiscard]] StridedView withoutAxis(StridedView view, std::size_t axis);

} // namespace pallascope::machine::ops
