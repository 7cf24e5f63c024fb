// Interface of the arithmetic that is compiled once for each level of x86-64 instructions.
// active_kernels.h chooses one level at start.
//
// This header holds plain data only. The files that include it are compiled with instructions that
// the CPU may lack, so neither it nor anything it includes may define an inline function or use a
// template of the standard library. The linker keeps only one copy of those, and it could keep one
// with instructions that the CPU lacks.
#pragma once

#include <cstdint>

namespace pallascope::arith {

enum class ElementKind : std::uint8_t
{
    Bits32, // f32 or int32: read without conversion
    Bf16,
    Whole,  // whole numbers of at most 8 bits, one byte each
    Float8, // floats of at most 8 bits, one byte each
    Float16 // two bytes each
};

// How to read a float of at most 8 bits: its fields are moved to those of an f16 with the same
// sign, and its value is that of the f16 times a power of two.
struct FloatCode
{
    std::uint16_t up;   // how far the code is shifted left, so that its sign is the top bit
    std::uint16_t down; // how far it is then shifted right, filled with copies of the sign
    std::uint16_t mask; // keeps the f16's sign and fields
    // The code is NaN if (bits of the f16 as f32 & nanMask) == nanBits.
    std::uint32_t nanMask, nanBits;
    float scale;
};

// How to read the elements of a matrix.
struct ElementCode
{
    ElementKind kind;
    // The bits of a whole number, and its sign bit (0 if unsigned).
    std::uint32_t wholeMask, wholeSign;
    FloatCode floats;
};

// A matrix in memory, with strides in elements.
struct MatrixView
{
    const void* data;
    const ElementCode* code;
    std::int64_t rowStride;
    std::int64_t columnStride;
};

enum class SumKind : std::uint8_t
{
    F32,
    WholeInF32, // stored as int32. Exact as long as no sum of |a| * |b| exceeds 2^24
    Int32       // a and b are int32 too
};

// Memory that a later product will read: `rows` rows of `bytes` bytes, `pitch` bytes apart.
struct Ahead
{
    const char* data;
    std::int64_t rows;
    std::int64_t bytes;
    std::int64_t pitch;
};

// A strip of whole rows of the output: plus (null for no addend) + a[rows, depth] * b[depth,
// columns]. b is packed by packColumns or lies in rows. depth is at most Kernels::maxDepth. The
// rows of plus are as far apart as those of out, and plus may be out.
struct Strip
{
    MatrixView a;
    const float* b;
    std::int64_t bPitch; // 0: packed; else row distance in 32-bit elements, whole tiles
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t depth;
    float* out;
    std::int64_t outStride;
    const float* plus;
    SumKind sums;
    const Ahead* ahead; // this much memory is prefetched meanwhile
    std::int64_t aheadCount;
};

struct Kernels
{
    std::int64_t tileRows;     // rows of the register tile
    std::int64_t tileColumns;  // columns of the register tile and of one packed panel of b
    std::int64_t stripColumns; // whole tiles whose part of b fits in a core's own cache
    std::int64_t
        maxDepth; // how many products are summed in registers before anything else is added

    // Packs b[depth, columns] into f32 panels, each [depth, tileColumns], padded with zeros.
    void (*packColumns)(const MatrixView& b, std::int64_t depth, std::int64_t columns,
                        float* packed);
    void (*multiplyStrip)(const Strip& strip);

    // Indexed by Binary and Comparison of elementwise.h.
    void (*binaryF32[6])(const float* a, const float* b, float* out, std::int64_t count);
    void (*compareF32[6])(const float* a, const float* b, std::uint8_t* out, std::int64_t count);
    void (*maxOfRowsF32)(const float* in, std::int64_t rows, std::int64_t length, float start,
                         float* out);
    void (*minOfRowsF32)(const float* in, std::int64_t rows, std::int64_t length, float start,
                         float* out);
    void (*bf16ToF32)(const std::uint16_t* from, float* to, std::int64_t count);
    void (*f32ToBf16)(const float* from, std::uint16_t* to, std::int64_t count);
    void (*expF32)(const float* from, float* to, std::int64_t count);
    void (*exp2F32)(const float* from, float* to, std::int64_t count);
};

namespace x86v2 {
extern const Kernels kKernels;
} // namespace x86v2

namespace x86v3 {
extern const Kernels kKernels;
} // namespace x86v3

namespace x86v4 {
extern const Kernels kKernels;
} // namespace x86v4

} // namespace pallascope::arith
