// Operations that only move elements of their operands. Each one makes a list of moves.
#include "core/base/check.h"
#include "core/machine/ops/moves.h"
#include "core/machine/ops/ops.h"

#include <algorithm>

namespace pallascope::machine::ops {

namespace {

RuntimeValue withShape(const RuntimeValue& value, const Shape& shape)
{
    if (value.isScalar()
        != (shape.rank() == 0)) { // a scalar becomes an array of one element, or the reverse
        const Shape one(std::vector<Extent>(shape.rank(), 1));
        return moved(value.dtype, shape,
                     {{&value, {0, one, Extents(shape.rank())}, StridedView::whole(one)}});
    }
    RuntimeValue result = value;
    result.shape = shape;
    return result;
}

RuntimeValue filled(DType dtype, const Shape& shape, double number, const Shadow& shadow)
{
    RuntimeValue value = RuntimeValue::arrayOf(dtype, shape);
    value.shadow = shadow;
    fillElements(dtype, value.data.get(), value.elements(), number);
    return value;
}

std::size_t asIndex(std::int32_t axis)
{
    return static_cast<std::size_t>(axis);
}

} // namespace

RuntimeValue identity(const Call& call)
{
    return call.operand(0);
}

RuntimeValue reshape(const Call& call)
{
    const RuntimeValue& input = call.operand(0);
    if (const auto* target = std::get_if<ir::ShapeParams>(&call.operation.params)) {
        return withShape(input, target->shape);
    }
    std::vector<Extent> kept; // the axes that squeeze keeps
    const auto& axes = call.params<ir::AxesParams>().axes;
    for (std::size_t axis = 0; axis < input.shape.rank(); ++axis) {
        if (std::find(axes.begin(), axes.end(), static_cast<std::int32_t>(axis)) == axes.end()) {
            kept.push_back(input.shape[axis]);
        }
    }
    return withShape(input, Shape(kept));
}

RuntimeValue broadcast(const Call& call)
{
    const auto& [shape, dimensions] = call.params<ir::BroadcastParams>();
    const RuntimeValue& input = call.operand(0);
    if (input.isScalar()) {
        return shape.rank() == 0 ? input : filled(input.dtype, shape, input.scalar, input.shadow);
    }
    const Extents strides = rowMajorStrides(input.shape);
    StridedView from{.shape = shape, .strides = Extents(shape.rank())};
    for (std::size_t axis = 0; axis < input.shape.rank(); ++axis) {
        from.strides[asIndex(dimensions[axis])] = input.shape[axis] == 1 ? 0 : strides[axis];
    }
    return moved(input.dtype, shape, {{&input, from, StridedView::whole(shape)}});
}

RuntimeValue transposed(const RuntimeValue& value, const std::vector<std::int32_t>& permutation)
{
    if (value.isScalar()) {
        return value;
    }
    const Extents strides = rowMajorStrides(value.shape);
    std::vector<Extent> extents;
    StridedView from;
    for (const std::int32_t axis : permutation) {
        extents.push_back(value.shape[asIndex(axis)]);
        from.strides.push_back(strides[asIndex(axis)]);
    }
    from.shape = Shape(extents);
    return moved(value.dtype, from.shape, {{&value, from, StridedView::whole(from.shape)}});
}

RuntimeValue transpose(const Call& call)
{
    return transposed(call.operand(0), call.params<ir::PermutationParams>().permutation);
}

RuntimeValue concatenate(const Call& call)
{
    const std::size_t axis = asIndex(call.params<ir::AxisParams>().axis);
    Shape shape = call.operand(0).shape;
    for (std::size_t i = 1; i < call.operands.size(); ++i) {
        shape[axis] += call.operand(i).shape[axis];
    }
    std::vector<Move> moves;
    Extent at = 0;
    for (const RuntimeValue* operand : call.operands) {
        const Extent length = operand->shape[axis];
        moves.push_back(
            {operand, StridedView::whole(operand->shape), along(shape, axis, at, length)});
        at += length;
    }
    return moved(call.operand(0).dtype, shape, moves);
}

RuntimeValue stack(const Call& call)
{
    const std::size_t axis = asIndex(call.params<ir::AxisParams>().axis);
    const RuntimeValue& first = call.operand(0);
    std::vector<Extent> extents = first.shape.extents();
    extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(axis),
                   static_cast<Extent>(call.operands.size()));
    const Shape shape(extents);
    std::vector<Move> moves;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
        const StridedView slot = along(shape, axis, static_cast<Extent>(i), 1);
        moves.push_back(
            {&call.operand(i), StridedView::whole(first.shape), withoutAxis(slot, axis)});
    }
    return moved(first.dtype, shape, moves);
}

RuntimeValue unstack(const Call& call)
{
    const std::size_t axis = asIndex(call.params<ir::AxisParams>().axis);
    const RuntimeValue& input = call.operand(0);
    const StridedView from =
        withoutAxis(along(input.shape, axis, static_cast<Extent>(call.result), 1), axis);
    return moved(input.dtype, from.shape, {{&input, from, StridedView::whole(from.shape)}});
}

RuntimeValue split(const Call& call)
{
    const auto& [sizes, axis] = call.params<ir::SplitParams>();
    const RuntimeValue& input = call.operand(0);
    Extent start = 0;
    for (std::size_t i = 0; i < call.result; ++i) {
        start += sizes[i];
    }
    const StridedView from = along(input.shape, asIndex(axis), start, sizes[call.result]);
    return moved(input.dtype, from.shape, {{&input, from, StridedView::whole(from.shape)}});
}

RuntimeValue slice(const Call& call)
{
    const auto& [start, limit, strides] = call.params<ir::SliceParams>();
    const RuntimeValue& input = call.operand(0);
    if (input.isScalar()) {
        return input;
    }
    const std::vector<Extent> steps =
        strides.empty() ? std::vector<Extent>(start.size(), 1) : strides;
    Shape shape = input.shape;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        shape[axis] = ceilDiv(limit[axis] - start[axis], steps[axis]);
    }
    const StridedView from = part(input.shape, shape, start, steps);
    return moved(input.dtype, shape, {{&input, from, StridedView::whole(shape)}});
}

RuntimeValue pad(const Call& call)
{
    const auto& [low, high, interior] = call.params<ir::PadParams>();
    const RuntimeValue &input = call.operand(0), &filler = call.operand(1);
    const std::size_t rank = input.shape.rank();
    if (rank == 0) {
        return input;
    }
    Shape shape = input.shape, kept = input.shape;
    std::vector<Extent> first(rank, 0), to(rank, 0), steps(rank, 1);
    for (std::size_t axis = 0; axis < rank; ++axis) {
        steps[axis] = interior[axis] + 1;
        const Extent length = input.shape[axis];
        shape[axis] =
            low[axis] + high[axis] + length + std::max<Extent>(0, length - 1) * interior[axis];
        // Element i goes to low + i * step. Elements that would lie outside the result are cut
        // off.
        first[axis] = low[axis] < 0 ? ceilDiv(-low[axis], steps[axis]) : 0;
        to[axis] = low[axis] + first[axis] * steps[axis];
        const Extent room =
            to[axis] < shape[axis] ? (shape[axis] - 1 - to[axis]) / steps[axis] + 1 : 0;
        kept[axis] = std::clamp<Extent>(length - first[axis], 0, room);
    }
    const std::vector<Move> moves{
        {&filler, {0, shape, std::vector<std::int64_t>(rank, 0)}, StridedView::whole(shape)},
        {&input, part(input.shape, kept, first, std::vector<Extent>(rank, 1)),
         part(shape, kept, to, steps)}};
    return moved(input.dtype, shape, moves);
}

RuntimeValue tile(const Call& call)
{
    const auto& repetitions = call.params<ir::TileParams>().repetitions;
    const RuntimeValue& input = call.operand(0);
    if (input.isScalar()) {
        return input;
    }
    // Views each axis as the pair (repetition, element). The source has stride 0 along the
    // repetition.
    const Extents strides = rowMajorStrides(input.shape);
    std::vector<Extent> pairs;
    StridedView from;
    Shape shape = input.shape;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        pairs.insert(pairs.end(), {repetitions[axis], shape[axis]});
        from.strides.push_back(0);
        from.strides.push_back(strides[axis]);
        shape[axis] *= repetitions[axis];
    }
    from.shape = Shape(pairs);
    RuntimeValue result =
        moved(input.dtype, from.shape, {{&input, from, StridedView::whole(from.shape)}});
    result.shape = shape;
    return result;
}

RuntimeValue roll(const Call& call)
{
    const auto& [axisNumber, stride, strideAxisNumber] = call.params<ir::RollParams>();
    const RuntimeValue &input = call.operand(0), &shift = call.operand(1);
    const std::size_t axis = asIndex(axisNumber);
    const Extent length = input.shape[axis];
    if (length == 0) {
        return input;
    }
    const bool strided = strideAxisNumber >= 0;
    const std::size_t strideAxis = strided ? asIndex(strideAxisNumber) : 0;
    const Extent rows = strided ? input.shape[strideAxis] : 1;
    std::vector<Move> moves;
    for (Extent row = 0; row < rows; ++row) {
        const auto by = static_cast<std::int64_t>(shift.scalar) + row * stride;
        const Extent start = ((by % length) + length) % length;
        const auto add = [&](Extent source, Extent target, Extent count) {
            StridedView from = along(input.shape, axis, source, count),
                        to = along(input.shape, axis, target, count);
            if (strided) {
                for (StridedView* view : {&from, &to}) {
                    view->offset += row * view->strides[strideAxis];
                    view->shape[strideAxis] = 1;
                }
            }
            moves.push_back({&input, from, to});
        };
        add(0, start, length - start);
        add(length - start, 0, start);
    }
    RuntimeValue result = moved(input.dtype, input.shape, moves);
    if (shift.shadow.none()) {
        result.shadow = Shadow::noneDefined();
    }
    return result;
}

namespace {

// The part of a shape at starts that are known only at run time, clamped so that all of it lies
// inside. An undefined start could lead anywhere: `known` says whether all starts are defined.
StridedView dynamicPart(const Call& call, std::size_t first, const Shape& whole,
                        const Shape& extents, bool& known)
{
    std::vector<Extent> start;
    for (std::size_t axis = 0; axis < whole.rank(); ++axis) {
        const RuntimeValue& asked = call.operand(first + axis);
        known = known && asked.shadow.all();
        start.push_back(
            std::clamp<Extent>(static_cast<Extent>(asked.scalar), 0, whole[axis] - extents[axis]));
    }
    return part(whole, extents, start, std::vector<Extent>(whole.rank(), 1));
}

} // namespace

RuntimeValue dynamicSlice(const Call& call)
{
    const RuntimeValue& input = call.operand(0);
    if (input.isScalar()) {
        return input;
    }
    const Shape shape(call.params<ir::SizesParams>().sizes);
    bool known = true;
    const StridedView from = dynamicPart(call, 1, input.shape, shape, known);
    RuntimeValue result = moved(input.dtype, shape, {{&input, from, StridedView::whole(shape)}});
    result.shadow = known ? result.shadow : Shadow::noneDefined();
    return result;
}

RuntimeValue dynamicUpdateSlice(const Call& call)
{
    const RuntimeValue &input = call.operand(0), &update = call.operand(1);
    if (input.isScalar()) {
        return update;
    }
    bool known = true;
    const StridedView to = dynamicPart(call, 2, input.shape, update.shape, known);
    const StridedView whole = StridedView::whole(input.shape);
    RuntimeValue result =
        moved(input.dtype, input.shape,
              {{&input, whole, whole}, {&update, StridedView::whole(update.shape), to}});
    result.shadow = known ? result.shadow : Shadow::noneDefined();
    return result;
}

RuntimeValue rev(const Call& call)
{
    const RuntimeValue& input = call.operand(0);
    if (input.isScalar()) {
        return input;
    }
    StridedView from = StridedView::whole(input.shape);
    for (const std::int32_t axis : call.params<ir::AxesParams>().axes) {
        const std::size_t at = asIndex(axis);
        from.offset += std::max<Extent>(input.shape[at] - 1, 0) * from.strides[at];
        from.strides[at] = -from.strides[at];
    }
    return moved(input.dtype, input.shape, {{&input, from, StridedView::whole(input.shape)}});
}

} // namespace pallascope::machine::ops
