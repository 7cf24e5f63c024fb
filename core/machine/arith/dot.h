// The matrix products of the machine: floats are summed in f32, whole numbers in int32. Operands
// are read in the layout that they have, and widened when they are multiplied.
//
// The bits of a result depend on the operands and on the instruction level, but never on the
// number of threads: the products of one element are added in the order of k, in runs of a fixed
// length. Infinities and NaN propagate as in the scalar loop.
//
// A caller may give a product up (going_on.h).
#pragma once

#include "core/base/dtype.h"

#include <cstdint>

namespace pallascope::arith {

// The dtypes that products read: all floats, and whole numbers of at most 8 bits.
[[nodiscard]] bool readByProducts(DType dtype);
[[nodiscard]] bool isNarrowWhole(DType dtype);

// A matrix in memory. Strides count elements and may have any value, so that a transposed or
// broadcast operand needs no copy. Reading is fastest if one of the two strides is 1.
struct DotOperand
{
    const void* data;
    DType dtype;
    std::int64_t rowStride;
    std::int64_t columnStride;
};

// out[m, n] = plus[m, n] + a[m, k] * b[k, n]; rows of out and plus are ldOut elements apart. a and
// b each have any dtype that products read. plus is out itself, does not overlap it, or is null
// for no addend. out must not overlap a or b. If k is 0 the sum is empty.
void dot(std::int64_t m, std::int64_t n, std::int64_t k, DotOperand a, DotOperand b, float* out,
         std::int64_t ldOut, const float* plus);

// Up to this k, an element is plus + (the sum of its products) with the same rounding as the
// product followed by the addition.
[[nodiscard]] std::int64_t longestRun();

// The same for two operands of int32, or two of whole numbers of at most 8 bits. Sums wrap around.
void dotInt32(std::int64_t m, std::int64_t n, std::int64_t k, DotOperand a, DotOperand b,
              std::int32_t* out, std::int64_t ldOut, const std::int32_t* plus);

// x86-64-v2 (SSE4.2), v3 (AVX2, FMA) and v4 (AVX-512). The default is the best level that the CPU
// has; tests and benches set others. V2 rounds after multiplying and again after adding; V3 and V4
// use fused multiply-add.
enum class DotLevel : std::uint8_t
{
    V2,
    V3,
    V4
};

[[nodiscard]] DotLevel dotLevel();
[[nodiscard]] bool dotLevelSupported(DotLevel level);
void setDotLevel(DotLevel level);

} // namespace pallascope::arith
