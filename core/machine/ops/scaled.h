// Factors of products whose elements share scales (MXFP8, MXFP4 and NVFP4 of Blackwell).
#pragma once

#include "core/machine/values/value.h"

#include <cstddef>

namespace pallascope::machine {

// The elements of a matrix times their scales, as f32. Along the axis `contracted`, of k elements,
// k / scales.shape[1] neighbours share one scale; along the other axis each has a row of `scales`,
// which may have further rows. A scale of uint8 is the exponent of a power of two, less 127; 255 is
// NaN (OCP Microscaling Formats 1.0, E8M0). An element is defined where it and its scale are.
[[nodiscard]] RuntimeValue scaled(const RuntimeValue& factor, const RuntimeValue& scales,
                                  std::size_t contracted);

} // namespace pallascope::machine
