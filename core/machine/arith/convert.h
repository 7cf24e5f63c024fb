// Conversions of whole arrays between any two dtypes. Every element is converted exactly as by
// convertNumber of core/base/element.h. Large arrays are split over the threads.
#pragma once

#include "core/base/dtype.h"

#include <cstddef>
#include <cstdint>

namespace pallascope::arith {

// `out` may be `in` if both dtypes have the same dtypeBytes.
void convert(DType from, const std::byte* in, DType to, std::byte* out, std::int64_t count);

} // namespace pallascope::arith
