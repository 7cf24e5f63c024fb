#include "core/base/check.h"
#include "core/machine/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace pallascope::machine {

using ir::OpCode;

namespace {

double identity(OpCode code, DType dtype)
{
    switch (code) {
    case OpCode::ReduceSum:
    case OpCode::ReduceOr:
        return 0;
    case OpCode::ReduceAnd:
        return dtype == DType::Bool ? 1 : -1;
    case OpCode::ReduceMax:
        return lowestNumber(dtype);
    case OpCode::ReduceMin:
        return highestNumber(dtype);
    default:
        PALLASCOPE_CHECK(false && "not a reduction");
    }
}

double accumulate(OpCode code, DType dtype, double sum, double value)
{
    const auto a = static_cast<std::int64_t>(isFloat(dtype) ? 0 : sum),
               b = static_cast<std::int64_t>(isFloat(dtype) ? 0 : value);
    switch (code) {
    case OpCode::ReduceSum:
        if (isFloat(dtype)) {
            return static_cast<double>(static_cast<float>(sum)
                                       + static_cast<float>(value)); // f32 accumulation
        }
        return static_cast<double>(
            static_cast<std::int32_t>(static_cast<std::uint32_t>(a + b))); // wraps
    case OpCode::ReduceMax:
        return std::isnan(sum) || std::isnan(value) ? std::numeric_limits<double>::quiet_NaN()
                                                    : std::max(sum, value);
    case OpCode::ReduceMin:
        return std::isnan(sum) || std::isnan(value) ? std::numeric_limits<double>::quiet_NaN()
                                                    : std::min(sum, value);
    case OpCode::ReduceAnd:
        return static_cast<double>(a & b);
    case OpCode::ReduceOr:
        return static_cast<double>(a | b);
    default:
        PALLASCOPE_CHECK(false && "not a reduction");
    }
}

} // namespace

RuntimeValue evaluateReduction(const ir::Operation& operation, const RuntimeValue& input)
{
    const auto& axes = std::get<ir::AxesParams>(operation.params).axes;
    const auto reduced = [&](std::size_t axis) {
        return std::find(axes.begin(), axes.end(), static_cast<std::int32_t>(axis)) != axes.end();
    };
    std::vector<Extent> kept;
    for (std::size_t axis = 0; axis < input.shape.rank(); ++axis) {
        if (!reduced(axis)) {
            kept.push_back(input.shape[axis]);
        }
    }
    const Shape shape(kept);
    const std::vector<std::int64_t> outStrides = rowMajorStrides(shape);
    std::vector<std::int64_t> strides(input.shape.rank(), 0); // of the result, per input axis
    for (std::size_t axis = 0, next = 0; axis < input.shape.rank(); ++axis) {
        if (!reduced(axis)) {
            strides[axis] = outStrides[next++];
        }
    }
    std::vector<double> sums(static_cast<std::size_t>(shape.elements()),
                             identity(operation.code, input.dtype));
    std::vector<std::uint8_t> defined(sums.size(), 1);
    std::vector<Extent> index(input.shape.rank(), 0);
    const SharedBytes mask = input.shadow.all() ? nullptr : input.shadow.expanded(input.elements());
    for (std::int64_t i = 0; i < input.elements(); ++i) {
        std::int64_t at = 0;
        for (std::size_t axis = 0; axis < index.size(); ++axis) {
            at += index[axis] * strides[axis];
        }
        const auto slot = static_cast<std::size_t>(at);
        const double element =
            input.isScalar() ? input.scalar : readElement(input.dtype, input.data.get(), i);
        sums[slot] = accumulate(operation.code, input.dtype, sums[slot], element);
        if (mask && mask[i] == std::byte{0}) {
            defined[slot] = 0;
        }
        for (std::size_t axis = index.size(); axis-- > 0;) {
            if (++index[axis] < input.shape[axis]) {
                break;
            }
            index[axis] = 0;
        }
    }
    RuntimeValue result = RuntimeValue::arrayOf(input.dtype, shape);
    SharedBytes outMask = allocateBytes(shape.elements());
    for (std::size_t i = 0; i < sums.size(); ++i) {
        if (result.isScalar()) {
            result.scalar = roundTo(input.dtype, sums[i]);
        } else {
            writeElement(input.dtype, result.data.get(), static_cast<std::int64_t>(i), sums[i]);
        }
        outMask[static_cast<std::ptrdiff_t>(i)] = static_cast<std::byte>(defined[i]);
    }
    result.shadow = Shadow::fromMask(std::move(outMask), shape.elements());
    return result;
}

} // namespace pallascope::machine
