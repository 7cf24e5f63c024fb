// The matrix products of a program. Converts and arranges the operands for
// core/machine/arith/dot.h, which multiplies them, and finds which elements of the result are
// undefined.
#include "core/machine/arith/dot.h"

#include "core/base/check.h"
#include "core/machine/arith/subnormals.h"
#include "core/machine/ops/ops.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace pallascope::machine::ops {

namespace {

using Axes = std::vector<std::int32_t>;

// Several axes of an array treated as one: their joint extent, and the stride if one stride fits
// all.
struct JoinedAxis
{
    std::int64_t extent = 1, stride = 0;
    bool hasStride = true;

    void join(Extent inner, std::int64_t innerStride)
    {
        hasStride = hasStride && (extent == 1 || inner == 1 || stride == inner * innerStride);
        stride = inner != 1 || stride == 0 ? innerStride : stride;
        extent *= inner;
    }
};

// A dot operand as batch x outer x contracting. If its batch, free and contracting axes each join
// to one axis, it is read through strides on its row-major array; otherwise it is transposed into
// that order first.
struct Matrix
{
    const std::byte* data = nullptr;
    std::int64_t batch = 1, outer = 1, inner = 1;
    std::int64_t batchStride = 0, outerStride = 0, innerStride = 0;
    RuntimeValue holder; // keeps a transposed copy alive
};

bool isAmong(std::int32_t axis, const Axes& axes)
{
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// Calls a function with each axis that is neither batch nor contracting, in order.
template<class Function>
void forEachFree(const Shape& shape, const Axes& batch, const Axes& contracting,
                 const Function& function)
{
    for (std::int32_t axis = 0; axis < static_cast<std::int32_t>(shape.rank()); ++axis) {
        if (!isAmong(axis, batch) && !isAmong(axis, contracting)) {
            function(axis);
        }
    }
}

void transposeInto(Matrix& matrix, const RuntimeValue& value, const Axes& batch,
                   const Axes& contracting)
{
    Axes order = batch;
    forEachFree(value.shape, batch, contracting, [&](std::int32_t axis) { order.push_back(axis); });
    order.insert(order.end(), contracting.begin(), contracting.end());
    matrix.holder = transposed(value, order);
    matrix.data = matrix.holder.data.get();
    matrix.innerStride = 1;
    matrix.outerStride = matrix.inner;
    matrix.batchStride = matrix.inner * matrix.outer;
}

Matrix arrange(const RuntimeValue& value, const Axes& batch, const Axes& contracting)
{
    const Extents strides =
        value.pitch == 0 ? rowMajorStrides(value.shape) : Extents{value.pitch, 1};
    JoinedAxis batches, outer, inner;
    const auto joinTo = [&](JoinedAxis& joined) {
        return [&](std::int32_t axis) {
            const auto at = static_cast<std::size_t>(axis);
            joined.join(value.shape[at], strides[at]);
        };
    };
    std::for_each(batch.begin(), batch.end(), joinTo(batches));
    std::for_each(contracting.begin(), contracting.end(), joinTo(inner));
    forEachFree(value.shape, batch, contracting, joinTo(outer));
    Matrix matrix{.data = value.data.get(),
                  .batch = batches.extent,
                  .outer = outer.extent,
                  .inner = inner.extent,
                  .batchStride = batches.stride,
                  .outerStride = outer.stride,
                  .innerStride = inner.stride};
    if (!batches.hasStride || !outer.hasStride || !inner.hasStride) {
        transposeInto(matrix, value, batch, contracting);
    }
    return matrix;
}

// Marks the rows of an operand that hold an undefined element: their products are undefined.
std::vector<std::uint8_t> undefinedRows(const RuntimeValue& value, const Axes& batch,
                                        const Axes& contracting)
{
    RuntimeValue mask{.dtype = DType::Bool, .shape = value.shape};
    mask.data = value.shadow.expanded(value.elements());
    const Matrix matrix = arrange(mask, batch, contracting);
    std::vector<std::uint8_t> rows(static_cast<std::size_t>(matrix.batch * matrix.outer), 0);
    for (std::int64_t b = 0; b < matrix.batch; ++b) {
        for (std::int64_t o = 0; o < matrix.outer; ++o) {
            const std::byte* row = matrix.data + b * matrix.batchStride + o * matrix.outerStride;
            const std::int64_t stride = matrix.innerStride;
            bool undefined =
                stride == 1
                && std::memchr(row, 0, static_cast<std::size_t>(matrix.inner)) != nullptr;
            for (std::int64_t k = 0; k < matrix.inner && stride != 1 && !undefined; ++k) {
                undefined = row[k * stride] == std::byte{0};
            }
            rows[static_cast<std::size_t>(b * matrix.outer + o)] = undefined ? 1 : 0;
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

// An operand in a dtype that products can read. Most operands already are and need no conversion.
// Products read from memory, so that a scalar is stored there too.
class Factor
{
public:
    Factor(const RuntimeValue& value, DType dtype)
        : m_value(&value)
    {
        if (value.dtype != dtype || value.isScalar()) {
            m_made = converted(value.dense(), dtype);
            m_value = &m_made;
        }
        if (value.isScalar()) {
            m_made.data = allocateBytes(dtypeBytes(dtype));
            writeElement(dtype, m_made.data.get(), 0, m_made.scalar);
        }
    }

    Factor(const Factor&) = delete;
    Factor& operator=(const Factor&) = delete;
    Factor(Factor&&) = delete;
    Factor& operator=(Factor&&) = delete;
    ~Factor() = default;

    const RuntimeValue* operator->() const { return m_value; }

    const RuntimeValue& operator*() const { return *m_value; }

private:
    RuntimeValue m_made;
    const RuntimeValue* m_value;
};

// The operands of a product, converted and laid out for it.
struct Factors
{
    const ir::DotParams& dimensions;
    bool integers, narrow; // integers on both sides; of at most 8 bits on both
    Factor lhs, rhs;
    Matrix a, b;

    explicit Factors(const Call& call)
        : dimensions(call.params<ir::DotParams>())
        , integers(!isFloat(call.operand(0).dtype) && !isFloat(call.operand(1).dtype))
        , narrow(arith::isNarrowWhole(call.operand(0).dtype)
                 && arith::isNarrowWhole(call.operand(1).dtype))
        , lhs(call.operand(0), multipliedAs(call.operand(0).dtype))
        , rhs(call.operand(1), multipliedAs(call.operand(1).dtype))
        , a(arrange(*lhs, dimensions.lhsBatch, dimensions.lhsContracting))
        , b(arrange(*rhs, dimensions.rhsBatch, dimensions.rhsContracting))
    {
        PALLASCOPE_CHECK(a.inner == b.inner && a.batch == b.batch);
    }

    [[nodiscard]] DType multipliedAs(DType dtype) const
    {
        return integers ? (narrow ? dtype : DType::Int32)
                        : (arith::readByProducts(dtype) ? dtype : DType::F32);
    }

    [[nodiscard]] DType sumType() const { return integers ? DType::Int32 : DType::F32; }

    // out = plus + the product. plus is out itself, does not overlap it, or is null for no addend.
    void multiply(std::byte* out, const std::byte* plus) const
    {
        for (std::int64_t batch = 0; batch < a.batch; ++batch) {
            const arith::DotOperand left{a.data + batch * a.batchStride * dtypeBytes(lhs->dtype),
                                         lhs->dtype, a.outerStride, a.innerStride};
            const arith::DotOperand right{b.data + batch * b.batchStride * dtypeBytes(rhs->dtype),
                                          rhs->dtype, b.innerStride, b.outerStride};
            const std::int64_t first = batch * a.outer * b.outer * 4;
            if (integers) {
                arith::dotInt32(a.outer, b.outer, a.inner, left, right,
                                reinterpret_cast<std::int32_t*>(out + first), b.outer,
                                plus == nullptr
                                    ? nullptr
                                    : reinterpret_cast<const std::int32_t*>(plus + first));
            } else {
                arith::dot(a.outer, b.outer, a.inner, left, right,
                           reinterpret_cast<float*>(out + first), b.outer,
                           plus == nullptr ? nullptr
                                           : reinterpret_cast<const float*>(plus + first));
            }
        }
    }
};

// The shape of the result: batch axes, then the free axes of the left and of the right operand.
Shape productShape(const Factors& factors)
{
    const ir::DotParams& dimensions = factors.dimensions;
    Extents extents;
    for (const std::int32_t axis : dimensions.lhsBatch) {
        extents.push_back(factors.lhs->shape[static_cast<std::size_t>(axis)]);
    }
    const auto append = [&](const Shape& shape) {
        return [&](std::int32_t axis) { extents.push_back(shape[static_cast<std::size_t>(axis)]); };
    };
    forEachFree(factors.lhs->shape, dimensions.lhsBatch, dimensions.lhsContracting,
                append(factors.lhs->shape));
    forEachFree(factors.rhs->shape, dimensions.rhsBatch, dimensions.rhsContracting,
                append(factors.rhs->shape));
    return Shape(std::move(extents));
}

} // namespace

RuntimeValue dot(const Call& call)
{
    const Factors factors(call);
    RuntimeValue sum = RuntimeValue::arrayOf(factors.sumType(), productShape(factors));
    std::byte scalar[4];
    factors.multiply(sum.isScalar() ? scalar : sum.data.get(), nullptr);
    if (sum.isScalar()) {
        sum.scalar = readElement(sum.dtype, scalar, 0);
    }
    sum.shadow = dotShadow(factors.dimensions, *factors.lhs, *factors.rhs, factors.a.batch,
                           factors.a.outer, factors.b.outer);
    const DType wanted = factors.dimensions.dtype;
    return sum.dtype == wanted ? std::move(sum) : converted(sum, wanted);
}

bool addProduct(const Call& product, RuntimeValue& addend, bool dies, RuntimeValue& sum)
{
    if (!addend.shadow.all() || !product.operand(0).shadow.all()
        || !product.operand(1).shadow.all()) {
        return false;
    }
    const arith::Subnormals subnormals(true);
    const Factors factors(product);
    if (addend.dtype != factors.sumType()
        || (!factors.integers && factors.a.inner > arith::longestRun())) {
        return false;
    }
    RuntimeValue made = dies && addend.data.use_count() == 1
                            ? std::move(addend)
                            : RuntimeValue::arrayOf(addend.dtype, addend.shape);
    factors.multiply(made.data.get(), addend.data ? addend.data.get() : made.data.get());
    sum = std::move(made);
    return true;
}

} // namespace pallascope::machine::ops
