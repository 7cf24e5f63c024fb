#include "core/machine/evaluate.h"

#include "core/base/check.h"

#include <algorithm>

namespace pallascope::machine {

using ir::OpCode;
using ir::OpKind;

namespace {

// The source view of a layout operation on a row-major input: the result's element order.
StridedView layoutView(const ir::Operation& operation, const Shape& input, Shape& result)
{
    const std::vector<std::int64_t> strides = rowMajorStrides(input);
    StridedView view;
    if (const auto* broadcast = std::get_if<ir::BroadcastParams>(&operation.params)) {
        result = broadcast->shape;
        view.strides.assign(result.rank(), 0);
        for (std::size_t axis = 0; axis < input.rank(); ++axis) {
            const auto to = static_cast<std::size_t>(broadcast->dimensions[axis]);
            view.strides[to] = input[axis] == 1 ? 0 : strides[axis];
        }
    } else {
        const auto& permutation = std::get<ir::PermutationParams>(operation.params).permutation;
        std::vector<Extent> extents;
        for (const std::int32_t axis : permutation) {
            extents.push_back(input[static_cast<std::size_t>(axis)]);
            view.strides.push_back(strides[static_cast<std::size_t>(axis)]);
        }
        result = Shape(extents);
    }
    view.shape = result;
    return view;
}

RuntimeValue filled(DType dtype, const Shape& shape, double number, const Shadow& shadow)
{
    RuntimeValue value = RuntimeValue::arrayOf(dtype, shape);
    value.shadow = shadow;
    fillElements(dtype, value.data.get(), value.elements(), number);
    return value;
}

} // namespace

Shadow combined(std::span<RuntimeValue* const> operands, std::int64_t count)
{
    Shadow result;
    for (const RuntimeValue* operand : operands) {
        if (operand->shadow.all() || result.none()) {
            continue;
        }
        if (operand->shadow.none()) {
            return Shadow::noneDefined();
        }
        if (result.all()) {
            result = operand->shadow;
            continue;
        }
        SharedBytes mask = allocateBytes(count);
        auto* out = reinterpret_cast<std::uint8_t*>(mask.get());
        for (std::int64_t i = 0; i < count; ++i) {
            out[i] = result.bytes()[i] & operand->shadow.bytes()[i];
        }
        result = Shadow::fromMask(std::move(mask), count);
    }
    return result;
}

RuntimeValue evaluateLayout(const ir::Operation& operation, const RuntimeValue& input)
{
    if (operation.code == OpCode::Reshape || operation.code == OpCode::Squeeze) {
        RuntimeValue result = input;
        if (const auto* target = std::get_if<ir::ShapeParams>(&operation.params)) {
            result.shape = target->shape;
        } else {
            std::vector<Extent> kept;
            const auto& axes = std::get<ir::AxesParams>(operation.params).axes;
            for (std::size_t axis = 0; axis < input.shape.rank(); ++axis) {
                if (std::find(axes.begin(), axes.end(), static_cast<std::int32_t>(axis))
                    == axes.end()) {
                    kept.push_back(input.shape[axis]);
                }
            }
            result.shape = Shape(kept);
        }
        if (input.isScalar() != result.isScalar()) { // one element changes its home
            const double element =
                input.isScalar() ? input.scalar : readElement(input.dtype, input.data.get(), 0);
            const Shadow shadow = input.shadow.all() ? Shadow::allDefined() : Shadow::noneDefined();
            if (!result.isScalar()) {
                return filled(input.dtype, result.shape, element, shadow);
            }
            result = RuntimeValue::scalarOf(input.dtype, element);
            result.shadow = shadow;
        }
        return result;
    }
    if (input.isScalar()) {
        const Shape shape = std::get<ir::BroadcastParams>(operation.params).shape;
        if (shape.rank() == 0) {
            return input;
        }
        return filled(input.dtype, shape, input.scalar, input.shadow);
    }
    Shape shape;
    const StridedView from = layoutView(operation, input.shape, shape);
    RuntimeValue result = RuntimeValue::arrayOf(input.dtype, shape);
    const StridedView to = StridedView::whole(shape);
    copyStrided(input.data.get(), from, result.data.get(), to, dtypeBytes(input.dtype));
    result.shadow = input.shadow;
    if (input.shadow.kind == Shadow::Kind::Some) {
        SharedBytes mask = allocateBytes(shape.elements());
        copyStrided(input.shadow.mask.get(), from, mask.get(), to, 1);
        result.shadow = Shadow::fromMask(std::move(mask), shape.elements());
    }
    return result;
}

RuntimeValue evaluateIota(const ir::Operation& operation)
{
    const auto& params = std::get<ir::IotaParams>(operation.params);
    RuntimeValue result = RuntimeValue::arrayOf(params.dtype, params.shape);
    const auto strides = rowMajorStrides(params.shape);
    const auto axis = static_cast<std::size_t>(params.dimension);
    for (std::int64_t i = 0; i < result.elements(); ++i) {
        writeElement(params.dtype, result.data.get(), i,
                     static_cast<double>(i / strides[axis] % params.shape[axis]));
    }
    return result;
}

RuntimeValue evaluate(const ir::Operation& operation, std::span<RuntimeValue* const> operands,
                      std::uint32_t dying)
{
    switch (ir::opEntry(operation.code).kind) {
    case OpKind::Elementwise:
    case OpKind::Transcendental:
    case OpKind::Comparison:
    case OpKind::Convert:
    case OpKind::Select:
        return evaluateElementwise(operation, operands, dying);
    case OpKind::Reduction:
        return evaluateReduction(operation, *operands[0]);
    case OpKind::Layout:
        return evaluateLayout(operation, *operands[0]);
    case OpKind::Generate:
        return evaluateIota(operation);
    case OpKind::Dot:
        return evaluateDot(operation, *operands[0], *operands[1]);
    case OpKind::Memory:
    case OpKind::Control:
        break;
    }
    PALLASCOPE_CHECK(false && "the engine evaluates memory and control");
}

} // namespace pallascope::machine
