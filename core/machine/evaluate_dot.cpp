#include "core/base/check.h"
#include "core/machine/arith/convert.h"
#include "core/machine/arith/dot.h"
#include "core/machine/arith/elementwise.h"
#include "core/machine/evaluate.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace pallascope::machine {

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
    const auto strides = rowMajorStrides(value.shape);
    if (batch.empty() && free.size() <= 1 && contracting.size() == 1) {
        matrix.data = value.data.get();
        matrix.outerStride =
            free.empty() ? matrix.inner : strides[static_cast<std::size_t>(free[0])];
        matrix.innerStride = strides[static_cast<std::size_t>(contracting[0])];
        return matrix;
    }
    ir::Operation transpose{.code = ir::OpCode::Transpose};
    ir::PermutationParams order;
    for (const std::vector<std::int32_t>* axes :
         {&batch, static_cast<const std::vector<std::int32_t>*>(&free), &contracting}) {
        order.permutation.insert(order.permutation.end(), axes->begin(), axes->end());
    }
    transpose.params = order;
    matrix.holder = evaluateLayout(transpose, value);
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

// A dot operand in a dtype that the products take: f32 or bf16, or 32 bits of whole numbers.
RuntimeValue widened(const RuntimeValue& value, bool integers)
{
    const DType to = integers ? DType::Int32 : DType::F32;
    if (value.isScalar() || value.dtype == to || (value.dtype == DType::BF16 && !integers)) {
        return value;
    }
    RuntimeValue wide{.dtype = to, .shape = value.shape, .shadow = value.shadow};
    wide.data = allocateBytes(value.elements() * dtypeBytes(to));
    arith::convert(value.dtype, value.data.get(), to, wide.data.get(), value.elements());
    return wide;
}

} // namespace

RuntimeValue evaluateDot(const ir::Operation& operation, const RuntimeValue& x,
                         const RuntimeValue& y)
{
    const bool integers = !isFloat(x.dtype) && !isFloat(y.dtype);
    const RuntimeValue lhs = widened(x, integers), rhs = widened(y, integers);
    const auto& dimensions = std::get<ir::DotParams>(operation.params);
    const Matrix a = arrange(lhs, dimensions.lhsBatch, dimensions.lhsContracting);
    const Matrix b = arrange(rhs, dimensions.rhsBatch, dimensions.rhsContracting);
    PALLASCOPE_CHECK(a.inner == b.inner && a.batch == b.batch);
    std::vector<Extent> extents;
    for (const std::int32_t axis : dimensions.lhsBatch) {
        extents.push_back(lhs.shape[static_cast<std::size_t>(axis)]);
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
    appendFree(lhs.shape, dimensions.lhsBatch, dimensions.lhsContracting);
    appendFree(rhs.shape, dimensions.rhsBatch, dimensions.rhsContracting);
    RuntimeValue sum = RuntimeValue::arrayOf(integers ? DType::Int32 : DType::F32, Shape(extents));
    std::byte scalar[4];
    std::byte* out = sum.isScalar() ? scalar : sum.data.get();
    for (std::int64_t batch = 0; batch < a.batch; ++batch) {
        const arith::DotOperand left{a.data + batch * a.batchStride * dtypeBytes(lhs.dtype),
                                     lhs.dtype, a.outerStride, a.innerStride};
        const arith::DotOperand right{b.data + batch * b.batchStride * dtypeBytes(rhs.dtype),
                                      rhs.dtype, b.innerStride, b.outerStride};
        std::byte* target = out + batch * a.outer * b.outer * 4;
        if (integers) {
            arith::dotInt32(a.outer, b.outer, a.inner, left, right,
                            reinterpret_cast<std::int32_t*>(target), b.outer, false);
        } else {
            arith::dot(a.outer, b.outer, a.inner, left, right, reinterpret_cast<float*>(target),
                       b.outer, false);
        }
    }
    if (sum.isScalar()) {
        sum.scalar = readElement(sum.dtype, scalar, 0);
    }
    sum.shadow = dotShadow(dimensions, lhs, rhs, a.batch, a.outer, b.outer);
    if (sum.dtype == dimensions.dtype) {
        return sum;
    }
    const ir::Operation convert{.code = ir::OpCode::ConvertElementType,
                                .params = ir::DTypeParams{dimensions.dtype}};
    RuntimeValue* const operands[] = {&sum};
    return evaluateElementwise(convert, operands, 0);
}

} // namespace pallascope::machine
