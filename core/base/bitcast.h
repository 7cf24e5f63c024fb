// The same bits as elements of another width: a TPU packs narrow elements of neighbouring rows into
// one wide element, lowest row in the lowest bits (JAX's pltpu.bitcast and ref.bitcast).
#pragma once

#include "core/base/array.h"
#include "core/base/result.h"

namespace pallascope {

// The shape after a bitcast: the second axis from the end scales with the ratio of the widths.
// Errors: bool; another width and a rank below 2; rows that do not fill whole elements.
[[nodiscard]] Result<Shape> bitcastShape(const Shape& shape, DType from, DType to);

// A bitcast of `array`, whose shape bitcastShape accepts.
[[nodiscard]] Array bitcast(const Array& array, DType to);

} // namespace pallascope
