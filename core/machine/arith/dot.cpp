// Divides a matrix product into slabs, parts and strips that fit the caches, and runs the kernels
// of the active level on them (kernels.h).
#include "core/machine/arith/dot.h"

#include "core/base/check.h"
#include "core/base/element.h"
#include "core/machine/arith/active_kernels.h"
#include "core/machine/arith/ahead.h"
#include "core/machine/arith/element_code.h"
#include "core/machine/arith/going_on.h"
#include "core/machine/arith/threads.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

namespace pallascope::arith {

namespace {

// How many columns of b are packed at a time: at most 8 MiB, which fits in a last-level cache.
constexpr std::int64_t kPackedColumns = 4096;
// Below this number of multiplications, waking another thread costs more than it saves. They take
// about 10 us on one core.
constexpr std::int64_t kThreadedProducts = 1 << 19;
// Below this number of multiplications, every thread packs its own columns of b.
constexpr std::int64_t kSmallProducts = 1 << 25;
// A task has at least this many multiplications, so that the cost of handing it out is negligible.
constexpr std::int64_t kTaskProducts = 1 << 17;

std::int64_t ceilDiv(std::int64_t a, std::int64_t b)
{
    return (a + b - 1) / b;
}

// The buffer for packed panels of b, kept for the thread's next product.
float* packBuffer(std::int64_t count)
{
    struct alignas(64) CacheLine
    {
        std::array<float, 16> values;
    };

    thread_local std::vector<CacheLine> buffer;
    const auto lines = static_cast<std::size_t>(ceilDiv(count, 16));
    if (buffer.size() < lines) {
        buffer.clear(); // so that resize copies nothing
        buffer.resize(lines);
    }
    return buffer.front().values.data();
}

MatrixView viewFrom(const DotOperand& operand, std::int64_t row, std::int64_t column)
{
    const std::int64_t offset = row * operand.rowStride + column * operand.columnStride;
    const auto* bytes = static_cast<const std::byte*>(operand.data);
    return {bytes + offset * dtypeBytes(operand.dtype), &elementCode(operand.dtype),
            operand.rowStride, operand.columnStride};
}

// One piece of a product, limited in columns and k: all rows of a times a part of b that fits the
// packing buffer.
struct Slab
{
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t depth;
    DotOperand a; // points to its first element
    DotOperand b;
    float* out;
    std::int64_t outStride;
    const float* plus; // null: no addend
    SumKind sums;
};

struct Range
{
    std::int64_t begin;
    std::int64_t end;
};

// Range number `part` when [0, count) is divided into `parts` nearly equal ranges.
Range partOf(std::int64_t count, std::int64_t part, std::int64_t parts)
{
    return {count * part / parts, count * (part + 1) / parts};
}

void packColumns(const Kernels& kernels, const Slab& slab, Range columns, float* packed)
{
    kernels.packColumns(viewFrom(slab.b, 0, columns.begin), slab.depth, columns.end - columns.begin,
                        packed);
}

void multiplyStrip(const Kernels& kernels, const Slab& slab, Range rows, Range columns,
                   const float* b, std::int64_t bPitch, std::span<const Ahead> ahead = {})
{
    const std::int64_t first = rows.begin * slab.outStride + columns.begin;
    kernels.multiplyStrip({viewFrom(slab.a, rows.begin, 0), b, bPitch, rows.end - rows.begin,
                           columns.end - columns.begin, slab.depth, slab.out + first,
                           slab.outStride, slab.plus == nullptr ? nullptr : slab.plus + first,
                           slab.sums, ahead.data(), static_cast<std::int64_t>(ahead.size())});
}

// Hands out the parts of a product. A thread gets the same part each time if it is still free,
// because what it prefetched for the next product lies in its core's own cache.
class Parts
{
public:
    static constexpr std::int64_t kMost = 64;

    explicit Parts(std::int64_t count)
        : m_free(~std::uint64_t{0} >> static_cast<unsigned>(kMost - count))
    {}

    std::int64_t take()
    {
        std::uint64_t free = m_free.load();
        int part = 0;
        do {
            const int own = threadNumber() % static_cast<int>(kMost);
            part = ((free >> own) & 1U) != 0 ? own : std::countr_zero(free);
        } while (!m_free.compare_exchange_weak(free, free & ~(std::uint64_t{1} << part)));
        return part;
    }

private:
    std::atomic<std::uint64_t> m_free;
};

// Each part packs its own columns of b and multiplies all rows of a with them. No core then reads
// what another core has written. For a small product such reads would take longer than widening
// the rows of a once for each part.
void multiplyByColumns(const Kernels& kernels, const Slab& slab, std::int64_t parts)
{
    const std::int64_t tiles = ceilDiv(slab.columns, kernels.tileColumns);
    // If b is read only once, packing does not pay.
    const bool inRows = slab.rows <= kernels.tileRows && dtypeBits(slab.b.dtype) == 32
                        && slab.b.columnStride == 1 && slab.b.rowStride > 0
                        && slab.columns % kernels.tileColumns == 0;
    const Later later = takeLater();
    Parts open(parts);
    parallelForUnlessGivenUp(parts, 1, [&](std::int64_t /*begin*/, std::int64_t /*end*/) {
        const std::int64_t part = open.take();
        std::array<Ahead, Later::kMost> ahead;
        const Range tileRange = partOf(tiles, part, parts);
        const Range columns{tileRange.begin * kernels.tileColumns,
                            std::min(tileRange.end * kernels.tileColumns, slab.columns)};
        const std::span<const Ahead> fetched = later.part(part, parts, ahead);
        if (inRows) {
            const auto* b = static_cast<const float*>(viewFrom(slab.b, 0, columns.begin).data);
            multiplyStrip(kernels, slab, {0, slab.rows}, columns, b, slab.b.rowStride, fetched);
            return;
        }
        float* packed =
            packBuffer((tileRange.end - tileRange.begin) * kernels.tileColumns * slab.depth);
        packColumns(kernels, slab, columns, packed);
        multiplyStrip(kernels, slab, {0, slab.rows}, columns, packed, 0, fetched);
    });
}

// All threads pack b, then all threads multiply strips of rows with it. Strips that use the same
// columns follow each other, so that a core finds that part of b in its own cache.
void multiplyByStrips(const Kernels& kernels, const Slab& slab)
{
    const std::int64_t width = kernels.stripColumns;
    const std::int64_t columnParts = ceilDiv(slab.columns, width);
    const auto columnsOf = [&](std::int64_t part) {
        return Range{part * width, std::min((part + 1) * width, slab.columns)};
    };
    const std::int64_t tiles = ceilDiv(slab.columns, kernels.tileColumns);
    float* packed = packBuffer(tiles * kernels.tileColumns * slab.depth);
    parallelForUnlessGivenUp(columnParts, 1, [&](std::int64_t part, std::int64_t /*end*/) {
        packColumns(kernels, slab, columnsOf(part), packed + part * width * slab.depth);
    });

    const std::int64_t tileProducts = kernels.tileRows * std::min(slab.columns, width) * slab.depth;
    const std::int64_t stripRows = kernels.tileRows * ceilDiv(kTaskProducts, tileProducts);
    const std::int64_t strips = ceilDiv(slab.rows, stripRows);
    parallelForUnlessGivenUp(columnParts * strips, 1, [&](std::int64_t task, std::int64_t /*end*/) {
        const std::int64_t part = task / strips;
        multiplyStrip(kernels, slab, partOf(slab.rows, task % strips, strips), columnsOf(part),
                      packed + part * width * slab.depth, 0);
    });
}

void multiplySlab(const Kernels& kernels, const Slab& slab)
{
    const std::int64_t products = slab.rows * slab.columns * slab.depth;
    if (products < kThreadedProducts) {
        multiplyByColumns(kernels, slab, 1);
        return;
    }
    const std::int64_t threads = std::min<std::int64_t>(threadCount(), Parts::kMost);
    if (products < kSmallProducts && slab.columns >= threads * kernels.tileColumns) {
        multiplyByColumns(kernels, slab, threads);
        return;
    }
    multiplyByStrips(kernels, slab);
}

// What dot and dotInt32 share. `out` and `plus` hold the bits of either kind of sum.
struct Product
{
    std::int64_t m, n, k;
    DotOperand a, b;
    float* out;
    std::int64_t ldOut;
    const float* plus;
    SumKind sums;

    void multiply(const Kernels& kernels, std::int64_t maxDepth) const
    {
        PALLASCOPE_CHECK(m >= 0 && n >= 0 && k >= 0);
        PALLASCOPE_CHECK(m <= 1 || ldOut >= n);
        for (std::int64_t i = 0; k == 0 && i < m && plus != out; ++i) {
            plus == nullptr ? std::memset(out + i * ldOut, 0, rowBytes())
                            : std::memcpy(out + i * ldOut, plus + i * ldOut, rowBytes());
        }
        for (std::int64_t column = 0; m > 0 && column < n; column += kPackedColumns) {
            for (std::int64_t depth = 0; depth < k; depth += maxDepth) {
                multiplyBlock(kernels, column, depth, std::min(maxDepth, k - depth));
            }
        }
    }

private:
    [[nodiscard]] std::size_t rowBytes() const
    {
        return static_cast<std::size_t>(n) * sizeof(float);
    }

    void multiplyBlock(const Kernels& kernels, std::int64_t column, std::int64_t first,
                       std::int64_t depth) const
    {
        DotOperand aPart = a;
        DotOperand bPart = b;
        aPart.data = viewFrom(a, 0, first).data;
        bPart.data = viewFrom(b, first, column).data;
        const float* before = first > 0 ? out : plus;
        multiplySlab(kernels,
                     {m, std::min(kPackedColumns, n - column), depth, aPart, bPart, out + column,
                      ldOut, before == nullptr ? nullptr : before + column, sums});
    }
};

// The largest number of products whose sum cannot exceed 2^24, whatever their factors are.
std::int64_t exactDepth(DType a, DType b)
{
    const auto largest = [](DType dtype) {
        return std::max(-lowestInteger(dtype), highestInteger(dtype));
    };
    const std::int64_t depth = (std::int64_t{1} << 24) / (largest(a) * largest(b));
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(depth)));
}

} // namespace

void dot(std::int64_t m, std::int64_t n, std::int64_t k, DotOperand a, DotOperand b, float* out,
         std::int64_t ldOut, const float* plus)
{
    PALLASCOPE_CHECK(readByProducts(a.dtype) && readByProducts(b.dtype));
    const Kernels& kernels = activeKernels();
    const Product product{m, n, k, a, b, out, ldOut, plus, SumKind::F32};
    product.multiply(kernels, kernels.maxDepth);
}

std::int64_t longestRun()
{
    return activeKernels().maxDepth;
}

void dotInt32(std::int64_t m, std::int64_t n, std::int64_t k, DotOperand a, DotOperand b,
              std::int32_t* out, std::int64_t ldOut, const std::int32_t* plus)
{
    const bool wide = a.dtype == DType::Int32 && b.dtype == DType::Int32;
    PALLASCOPE_CHECK(wide || (isNarrowWhole(a.dtype) && isNarrowWhole(b.dtype)));
    const Kernels& kernels = activeKernels();
    const Product product{m,
                          n,
                          k,
                          a,
                          b,
                          reinterpret_cast<float*>(out),
                          ldOut,
                          reinterpret_cast<const float*>(plus),
                          wide ? SumKind::Int32 : SumKind::WholeInF32};
    product.multiply(kernels, wide ? kernels.maxDepth
                                   : std::min(kernels.maxDepth, exactDepth(a.dtype, b.dtype)));
}

} // namespace pallascope::arith
