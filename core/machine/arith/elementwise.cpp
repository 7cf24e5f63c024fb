// Calls the kernels of the active level, for large copies and conversions on several threads.
#include "core/machine/arith/elementwise.h"

#include "core/base/check.h"
#include "core/machine/arith/active_kernels.h"
#include "core/machine/arith/threads.h"

#include <algorithm>
#include <cstring>

namespace pallascope::arith {

namespace {

constexpr std::int64_t kCopyGrainBytes = kGrain * 4;

} // namespace

void binaryF32(Binary rule, const float* a, const float* b, float* out, std::int64_t count)
{
    activeKernels().binaryF32[static_cast<std::size_t>(rule)](a, b, out, count);
}

void compareF32(Comparison rule, const float* a, const float* b, std::uint8_t* out,
                std::int64_t count)
{
    activeKernels().compareF32[static_cast<std::size_t>(rule)](a, b, out, count);
}

void reduceRowsF32(Binary rule, const float* in, std::int64_t rows, std::int64_t length,
                   float start, float* out)
{
    const Kernels& kernels = activeKernels();
    PALLASCOPE_CHECK(rule == Binary::Max || rule == Binary::Min);
    (rule == Binary::Max ? kernels.maxOfRowsF32 : kernels.minOfRowsF32)(in, rows, length, start,
                                                                        out);
}

void expF32(const float* from, float* to, std::int64_t count)
{
    activeKernels().expF32(from, to, count);
}

void exp2F32(const float* from, float* to, std::int64_t count)
{
    activeKernels().exp2F32(from, to, count);
}

void bf16ToF32(const std::uint16_t* from, float* to, std::int64_t count)
{
    const Kernels& kernels = activeKernels();
    parallelFor(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
        kernels.bf16ToF32(from + begin, to + begin, end - begin);
    });
}

void f32ToBf16(const float* from, std::uint16_t* to, std::int64_t count)
{
    const Kernels& kernels = activeKernels();
    parallelFor(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
        kernels.f32ToBf16(from + begin, to + begin, end - begin);
    });
}

void copyRows(const std::byte* from, std::int64_t fromStride, std::byte* to, std::int64_t toStride,
              std::int64_t rows, std::int64_t rowBytes)
{
    if (rows <= 0 || rowBytes <= 0) {
        return;
    }
    if (rows > 1 && fromStride == rowBytes && toStride == rowBytes) {
        copyRows(from, 0, to, 0, 1, rows * rowBytes);
        return;
    }
    if (rows == 1) {
        parallelFor(rowBytes, kCopyGrainBytes, [&](std::int64_t begin, std::int64_t end) {
            std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
        });
        return;
    }
    const std::int64_t grain = std::max<std::int64_t>(1, kCopyGrainBytes / rowBytes);
    parallelFor(rows, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            std::memcpy(to + row * toStride, from + row * fromStride,
                        static_cast<std::size_t>(rowBytes));
        }
    });
}

} // namespace pallascope::arith
