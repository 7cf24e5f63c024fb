// The arithmetic that is compiled once per level of x86-64 instructions and chosen at start.
//
// Plain data only: the files that include this header are compiled with instructions the CPU may
// lack, so neither this header nor anything it includes may define an inline function or a template
// of the standard library. The linker keeps one copy of those, and it could keep the wrong one.
#pragma once

#include <cstdint>

namespace pallascope::arith {

enum class ElementKind : std::uint8_t
{
    Bits32, // f32, or int32: read as they are
    Bf16,
    Whole,  // whole numbers of at most 8 bits, one byte each
    Float8, // of at most 8 bits, one byte each
    Float16 // of two bytes
};

// A float of at most 8 bits: how its fields become those of an f16, sign first, and its value that
// of the f16 times a power of two.
struct FloatCode
{
    std::uint16_t up;   // bits that the code moves up, its sign to the top
    std::uint16_t down; // and back, the sign filling up what is left behind
    std::uint16_t mask; // of the fields then
    std::uint32_t nanMask,
        nanBits; // the bits of the f16's f32 where the code is NaN and that is not
    float scale;
};

// How the elements of a matrix are read.
struct ElementCode
{
    ElementKind kind;
    std::uint32_t wholeMask, wholeSign; // of its code; an unsigned one has no sign
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
    WholeInF32, // stored as int32. No sum of |a| * |b| may be above 2^24: up to there it is exact
    Int32       // a and b too
};

// Memory that a later product reads: `rows` rows of `bytes` bytes, `pitch` bytes apart.
struct Ahead
{
    const char* data;
    std::int64_t rows;
    std::int64_t bytes;
    std::int64_t pitch;
};

// A strip of whole rows of the output: plus (null: nothing) + a[rows, depth] * b[depth, columns], b
// packed by packColumns or in rows. depth is at most Kernels::maxDepth. plus lies in rows like out,
// and may be out.
struct Strip
{
    MatrixView a;
    const float* b;
    std::int64_t bPitch; // 0: packed; else 32-bit elements in rows so far apart, for whole tiles
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t depth;
    float* out;
    std::int64_t outStride;
    const float* plus;
    SumKind sums;
    const Ahead* ahead; // this many, fetched into the caches meanwhile
    std::int64_t aheadCount;
};

struct Kernels
{
    std::int64_t tileRows;     // rows of the register tile
    std::int64_t tileColumns;  // columns of the register tile and of one packed panel of b
    std::int64_t stripColumns; // columns of a strip that fit a core's own cache, whole tiles
    std::int64_t maxDepth;     // products summed in registers before anything else is added

    // b[depth, columns] to f32 panels of tileColumns, each [depth, tileColumns], padded with zeros.
    void (*packColumns)(const MatrixView& b, std::int64_t depth, std::int64_t columns,
                        float* packed);
    void (*multiplyStrip)(const Strip& strip);

    // By Binary and Comparison of elementwise.h.
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
