#include "core/machine/arith/dot.h"

#include "core/base/check.h"
#include "core/machine/arith/subnormals.h"
#include "core/machine/ops/ops.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace pallascope::machine::ops {

namespace {

// A dot operand as batch x outer x contracting, by strides on its row-major array, when its free
// and contracting axes each collapse to one stride; else it is transposed into that order first.
struct Matrix
{
    const std::byte* data = nullptr;
    std::int64_t batch = 1, outer = 1, inner = 1;
    std::int64_t batchStride = 0, outerStride = 0, innerStride = 0;
    RuntimeValue holder; // keeps a transposed copy alive
};

std::int64_t product(const Shape& shape, const std::vector<std::int32_t>& axes)
{
    std::int64_t elements = 1;
    for (const std::int32_t axis : axes) {
        elements *= shape[static_cast<std::size_t>(axis)];
    }
    return elements;
}

Matrix arrange(const RuntimeValue& value, const std::vector<std::int32_t>& batch,
               const std::vector<std::int32_t>& contracting)
{
    std::vector<std::int32_t> free;
    for (std::size_t axis = 0; axis < value.shape.rank(); ++axis) {
        const auto here = static_cast<std::int32_t>(axis);
        if (std::count(batch.begin(), batch.end(), here) == 0
            && std::count(contracting.begin(), contracting.end(), here) == 0) {
            free.push_back(here);
        }
    }
    Matrix matrix{.batch = product(value.shape, batch),
                  .outer = product(value.shape, free),
                  .inner = product(value.shape, contracting)};
    const auto strides = value.pitch == 0 ? rowMajorStrides(value.shape) : Extents{value.pitch, 1};
    if (batch.empty() && free.size() <= 1 && contracting.size() == 1) {
        matrix.data = value.data.get();
        matrix.outerStride =
            free.empty() ? matrix.inner : strides[static_cast<std::size_t>(free[0])];
        matrix.innerStride = strides[static_cast<std::size_t>(contracting[0])];
        return matrix;
    }
    std::vector<std::int32_t> order = batch;
    order.insert(order.end(), free.begin(), free.end());
    order.insert(order.end(), contracting.begin(), contracting.end());
    matrix.holder = transposed(value, order);
    matrix.data = matrix.holder.data.get();
    matrix.innerStride = 1;
    matrix.outerStride = matrix.inner;
    matrix.batchStride = matrix.inner * matrix.outer;
    return matrix;
}

// Rows of an operand that hold an undefined element: their products are undefined.
std::vector<std::uint8_t> undefinedRows(const RuntimeValue& value,
                                        const std::vector<std::int32_t>& batch,
                                        const std::vector<std::int32_t>& contracting)
{
    RuntimeValue mask{.dtype = DType::Bool, .shape = value.shape};
    mask.data = value.shadow.expanded(value.elements());
    const Matrix matrix = arrange(mask, batch, contracting);
    std::vector<std::uint8_t> rows(static_cast<std::size_t>(matrix.batch * matrix.outer), 0);
    for (std::int64_t b = 0; b < matrix.batch; ++b) {
        for (std::int64_t o = 0; o < matrix.outer; ++o) {
            const std::byte* row = matrix.data + b * matrix.batchStride + o * matrix.outerStride;
            for (std::int64_t k = 0; k < matrix.inner; ++k) {
                if (row[k * matrix.innerStride] == std::byte{0}) {
                    rows[static_cast<std::size_t>(b * matrix.outer + o)] = 1;
                    break;
                }
            }
        }
    }
    return rows;
}

Shadow dotShadow(const ir::DotParams& dimensions, const RuntimeValue& lhs, const RuntimeValue& rhs,
                 std::int64_t batch, std::int64_t m, std::int64_t n)
{
    if (lhs.shadow.all() && rhs.shadow.all()) {
        return Shadow::allDefined();
    }
    const auto left = undefinedRows(lhs, dimensions.lhsBatch, dimensions.lhsContracting);
    const auto right = undefinedRows(rhs, dimensions.rhsBatch, dimensions.rhsContracting);
    SharedBytes mask = allocateBytes(batch * m * n);
    for (std::int64_t b = 0; b < batch; ++b) {
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                const bool undefined = (left[static_cast<std::size_t>(b * m + i)]
                                        | right[static_cast<std::size_t>(b * n + j)])
                                       != 0;
                mask[(b * m + i) * n + j] = undefined ? std::byte{0} : std::byte{1};
            }
        }
    }
    return Shadow::fromMask(std::move(mask), batch * m * n);
}

// A dot operand in a dtype that the products take: f32 or bf16, or 32 bits of whole numbers. They
// read it from memory, a scalar too.
RuntimeValue widened(const RuntimeValue& value, bool integers)
{
    RuntimeValue wide = integers                     ? converted(value, DType::Int32)
                        : value.dtype == DType::BF16 ? value
                                                     : converted(value, DType::F32);
    if (wide.isScalar()) {
        wide.data = allocateBytes(dtypeBytes(wide.dtype));
        writeElement(wide.dtype, wide.data.get(), 0, wide.scalar);
    }
    return wide;
}

// What is multiplied, made ready.
struct Factors
{
    const ir::DotParams& dimensions;
    bool integers;
    RuntimeValue lhs, rhs;
    Matrix a, b;

    explicit Factors(const Call& call)
        : dimensions(call.params<ir::DotParams>())
        , integers(!isFloat(call.operand(0).dtype) && !isFloat(call.operand(1).dtype))
        , lhs(widened(call.operand(0), integers))
        , rhs(widened(call.operand(1), integers))
        , a(arrange(lhs, dimensions.lhsBatch, dimensions.lhsContracting))
        , b(arrange(rhs, dimensions.rhsBatch, dimensions.rhsContracting))
    {
        PALLASCOPE_CHECK(a.inner == b.inner && a.batch == b.batch);
    }

    // out = plus + the product; plus is out, apart from it, or null for nothing.
    void multiply(std::byte* out, const std::byte* plus) const
    {
        for (std::int64_t batch = 0; batch < a.batch; ++batch) {
            const arith::DotOperand left{a.data + batch * a.batchStride * dtypeBytes(lhs.dtype),
                                         lhs.dtype, a.outerStride, a.innerStride};
            const arith::DotOperand right{b.data + batch * b.batchStride * dtypeBytes(rhs.dtype),
                                          rhs.dtype, b.innerStride, b.outerStride};
            const std::int64_t first = batch * a.outer * b.outer * 4;
            if (integers) {
                arith::dotInt32(a.outer, b.outer, a.inner, left, right,
                                reinterpret_cast<std::int32_t*>(out + first), b.outer, false);
            } else {
                arith::dot(a.outer, b.outer, a.inner, left, right,
                           reinterpret_cast<float*>(out + first), b.outer,
                           plus == nullptr ? nullptr
                                           : reinterpret_cast<const float*>(plus + first));
            }
        }
    }
};

// Of the result: batch axes, then the free ones of either side.
Shape productShape(const Factors& factors)
{
    const ir::DotParams& dimensions = factors.dimensions;
    std::vector<Extent> extents;
    for (const std::int32_t axis : dimensions.lhsBatch) {
        extents.push_back(factors.lhs.shape[static_cast<std::size_t>(axis)]);
    }
    const auto appendFree = [&](const Shape& shape, const auto& batch, const auto& contracting) {
        for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
            const auto here = static_cast<std::int32_t>(axis);
            if (std::count(batch.begin(), batch.end(), here) == 0
                && std::count(contracting.begin(), contracting.end(), here) == 0) {
                extents.push_back(shape[axis]);
            }
        }
    };
    appendFree(factors.lhs.shape, dimensions.lhsBatch, dimensions.lhsContracting);
    appendFree(factors.rhs.shape, dimensions.rhsBatch, dimensions.rhsContracting);
    return Shape(extents);
}

} // namespace

RuntimeValue dot(const Call& call)
{
    const Factors factors(call);
    RuntimeValue sum =
        RuntimeValue::arrayOf(factors.integers ? DType::Int32 : DType::F32, productShape(factors));
    std::byte scalar[4];
    factors.multiply(sum.isScalar() ? scalar : sum.data.get(), nullptr);
    if (sum.isScalar()) {
        sum.scalar = readElement(sum.dtype, scalar, 0);
    }
    sum.shadow = dotShadow(factors.dimensions, factors.lhs, factors.rhs, factors.a.batch,
                           factors.a.outer, factors.b.outer);
    return converted(sum, factors.dimensions.dtype);
}

bool addProduct(const Call& product, RuntimeValue& addend, bool dies, RuntimeValue& sum)
{
    if (!addend.shadow.all() || !product.operand(0).shadow.all()
        || !product.operand(1).shadow.all()) {
        return false;
    }
    const arith::Subnormals subnormals(true);
    const Factors factors(product);
    if (factors.integers || factors.a.inner > arith::longestRun()) {
        return false;
    }
    RuntimeValue made = dies && addend.data.use_count() == 1
                            ? std::move(addend)
                            : RuntimeValue::arrayOf(DType::F32, addend.shape);
    factors.multiply(made.data.get(), addend.data ? addend.data.get() : made.data.get());
    sum = std::move(made);
    return true;
}

} // namespace pallascope::machine::ops
