// Loops over whole arrays, split over the threads where that pays. Elements are independent, so the
// result depends neither on the threads nor, but for expF32 and exp2F32, on the level of
// instructions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pallascope::arith {

// Elements that a thread takes at a time. 128 KiB of f32: a few microseconds of work, well above
// the cost of handing it over.
inline constexpr std::int64_t kGrain = 1 << 15;

// Max and Min take subnormals for 0, and +0 for larger than -0; NaN of either is the quiet NaN.
enum class Binary : std::uint8_t
{
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min
};
enum class Comparison : std::uint8_t
{
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge
};

// On the caller's thread; `out` may be an operand.
void binaryF32(Binary rule, const float* a, const float* b, float* out, std::int64_t count);
// To 1 where it holds, else 0.
void compareF32(Comparison rule, const float* a, const float* b, std::uint8_t* out,
                std::int64_t count);
// out[row]: Max or Min of `start` and all of in[row, length].
void reduceRowsF32(Binary rule, const float* in, std::int64_t rows, std::int64_t length,
                   float start, float* out);

// Bit for bit bf16ToFloat and floatToBf16 of core/base/dtype.h.
void bf16ToF32(const std::uint16_t* from, float* to, std::int64_t count);
void f32ToBf16(const float* from, std::uint16_t* to, std::int64_t count);

// Within 0.501 ulp of e^x and 2^x, on the caller's thread; where the level can fuse, that may turn
// the last bit. `to` may be `from`.
void expF32(const float* from, float* to, std::int64_t count);
void exp2F32(const float* from, float* to, std::int64_t count);

// Copies a block of rows between arrays with different row lengths; strides in bytes. The two
// blocks may not overlap.
void copyRows(const std::byte* from, std::int64_t fromStride, std::byte* to, std::int64_t toStride,
              std::int64_t rows, std::int64_t rowBytes);

} // namespace pallascope::arith
