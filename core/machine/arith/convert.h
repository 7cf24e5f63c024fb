// Conversions of whole arrays between any two dtypes, element by element the same as convertNumber
// of core/base/element.h, split over the threads where that pays.
#pragma once

#include "core/base/dtype.h"

#include <cstddef>
#include <cstdint>

namespace pallascope::arith {

// `out` may be `in` when both dtypes have the same dtypeBytes.
void convert(DType from, const std::byte* in, DType to, std::byte* out, std::int64_t count);

} // namespace pallascope::arith
