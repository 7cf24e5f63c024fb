// Loops over whole arrays, split over the threads if they are large. Elements are independent, so
// that results do not depend on the number of threads. Only those of expF32 and exp2F32 depend on
// the instruction level.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pallascope::arith {

// How many elements a thread takes at a time. 128 KiB of f32 are a few microseconds of work, well
// above the cost of handing them to a thread.
inline constexpr std::int64_t kGrain = 1 << 15;

// Max and Min treat subnormals as 0, and +0 as larger than -0; if either operand is NaN, the
// result is the quiet NaN.
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

// Runs on the caller's thread. `out` may be an operand.
void binaryF32(Binary rule, const float* a, const float* b, float* out, std::int64_t count);
// Writes 1 where the comparison holds, otherwise 0.
void compareF32(Comparison rule, const float* a, const float* b, std::uint8_t* out,
                std::int64_t count);
// out[row] becomes the Max or Min of `start` and all of in[row, length].
void reduceRowsF32(Binary rule, const float* in, std::int64_t rows, std::int64_t length,
                   float start, float* out);

// The same bits as bf16ToFloat and floatToBf16 of core/base/dtype.h.
void bf16ToF32(const std::uint16_t* from, float* to, std::int64_t count);
void f32ToBf16(const float* from, std::uint16_t* to, std::int64_t count);

// Within 0.501 ulp of e^x and 2^x, on the caller's thread. At levels with fused multiply-add the
// last bit may differ. `to` may be `from`.
void expF32(const float* from, float* to, std::int64_t count);
void exp2F32(const float* from, float* to, std::int64_t count);

// Copies rows between arrays with different row lengths; strides are in bytes. The two areas must
// not overlap.
void copyRows(const std::byte* from, std::int64_t fromStride, std::byte* to, std::int64_t toStride,
              std::int64_t rows, std::int64_t rowBytes);

} // namespace pallascope::arith
