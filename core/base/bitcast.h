// Reads the bits of an array as elements of another width. A TPU packs narrow elements of
// neighbouring rows into one wide element, the lowest row in the lowest bits (JAX's pltpu.bitcast
// and ref.bitcast).
#pragma once

#include "core/base/array.h"
#include "core/base/result.h"

namespace pallascope {

// The shape after a bitcast: the second axis from the end is scaled by the ratio of the widths. It
// is an error if a dtype is bool, if the widths differ and the rank is below 2, or if the rows do
// not fill whole elements.
[[nodiscard]] Result<Shape> bitcastShape(const Shape& shape, DType from, DType to);

// The bitcast of `array`, whose shape bitcastShape must accept.
[[nodiscard]] Array bitcast(const Array& array, DType to);

} // namespace pallascope
