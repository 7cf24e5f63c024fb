// Matrix products of the machine: floats summed in f32, and whole numbers in int32. Operands are
// read as they lie, and widened where they are multiplied.
//
// The bits of a result depend on the operands and on the level of instructions, never on the number
// of threads: products of one element are added in the order of k, in runs of a fixed length.
// Infinities and NaN propagate as in the scalar loop.
#pragma once

#include "core/base/dtype.h"

#include <cstdint>

namespace pallascope::arith {

// Dtypes that products read: all floats, and whole numbers of at most 8 bits.
[[nodiscard]] bool readByProducts(DType dtype);
[[nodiscard]] bool isNarrowWhole(DType dtype);

// A matrix in memory. Strides count elements and may be anything, so a transposed or broadcast
// operand needs no copy. Fastest where one of the two strides is 1.
struct DotOperand
{
    const void* data;
    DType dtype;
    std::int64_t rowStride;
    std::int64_t columnStride;
};

// out[m, n] = plus[m, n] + a[m, k] * b[k, n], out and plus in rows of ldOut elements. a and b are
// of dtypes that products read, each on its own. plus is out itself, apart from it, or null for
// nothing. out may not overlap a and b. k = 0 is a sum of nothing.
void dot(std::int64_t m, std::int64_t n, std::int64_t k, DotOperand a, DotOperand b, float* out,
         std::int64_t ldOut, const float* plus);

// Up to this k an element is plus + (the sum of its products), rounded as the product and the sum
// one after the other are.
[[nodiscard]] std::int64_t longestRun();

// The same for two int32 operands, or two narrow whole numbers; sums wrap around.
void dotInt32(std::int64_t m, std::int64_t n, std::int64_t k, DotOperand a, DotOperand b,
              std::int32_t* out, std::int64_t ldOut, const std::int32_t* plus);

// x86-64-v2 (SSE4.2), v3 (AVX2, FMA) and v4 (AVX-512). The best that the CPU has is the default;
// setting it is for tests and benches. V2 multiplies and adds with two roundings, V3 and V4 fuse.
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
