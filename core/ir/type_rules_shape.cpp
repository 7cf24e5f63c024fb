#include "core/ir/type_rules.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace pallascope::ir::type_rules {

namespace {

Result<Types> dropAxes(const Program& program, const Operation& operation)
{
    const Type& input = operand(program, operation, 0);
    const auto& listed = params<AxesParams>(operation).axes;
    const std::set<std::int32_t> axes(listed.begin(), listed.end());
    std::vector<Extent> kept;
    for (const std::int32_t axis : axes) {
        if (!hasAxis(input, axis)) {
            return noAxis(operation, input, axis);
        }
        if (operation.code == OpCode::Squeeze && input.shape[static_cast<std::size_t>(axis)] != 1) {
            return error(operation, "drops axis " + std::to_string(axis) + " of " + toString(input)
                                        + ", which is not 1.");
        }
    }
    for (std::size_t axis = 0; axis < input.shape.rank(); ++axis) {
        if (!axes.contains(static_cast<std::int32_t>(axis))) {
            kept.push_back(input.shape[axis]);
        }
    }
    return Types{{input.dtype, Shape(kept), {}}};
}

Error wrongLists(const Operation& operation, const Type& type)
{
    return error(operation, "needs one entry per axis of " + toString(type) + ".");
}

} // namespace

Result<Types> reduceAnything(const Program& program, const Operation& operation)
{
    return dropAxes(program, operation);
}

Result<Types> reduceNumbers(const Program& program, const Operation& operation)
{
    if (operand(program, operation, 0).dtype == DType::Bool) {
        return error(operation,
                     "takes numbers, not " + toString(operand(program, operation, 0)) + ".");
    }
    return dropAxes(program, operation);
}

Result<Types> reduceBits(const Program& program, const Operation& operation)
{
    if (isFloat(operand(program, operation, 0).dtype)) {
        return error(operation, "takes bools or integers, not "
                                    + toString(operand(program, operation, 0)) + ".");
    }
    return dropAxes(program, operation);
}

Result<Types> squeeze(const Program& program, const Operation& operation)
{
    return dropAxes(program, operation);
}

Result<Types> argReduction(const Program& program, const Operation& operation)
{
    const auto& [axis, dtype] = params<ArgParams>(operation);
    const Type& input = operand(program, operation, 0);
    if (!hasAxis(input, axis)) {
        return noAxis(operation, input, axis);
    }
    if (!isInteger(dtype) || input.shape[static_cast<std::size_t>(axis)] < 1) {
        return error(operation, "yields an integer index into an axis of one element or more, not "
                                    + std::string(dtypeName(dtype)) + " into axis "
                                    + std::to_string(axis) + " of " + toString(input) + ".");
    }
    std::vector<Extent> kept = input.shape.extents();
    kept.erase(kept.begin() + axis);
    return Types{{dtype, Shape(kept), {}}};
}

Result<Types> broadcast(const Program& program, const Operation& operation)
{
    const auto& [shape, dimensions] = params<BroadcastParams>(operation);
    const Type& input = operand(program, operation, 0);
    if (dimensions.size() != input.shape.rank()) {
        return error(operation, "maps " + std::to_string(dimensions.size()) + " axes of "
                                    + toString(input) + ".");
    }
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        const auto to = static_cast<std::size_t>(dimensions[i]);
        const bool ordered = i == 0 || dimensions[i] > dimensions[i - 1];
        if (!ordered || dimensions[i] < 0 || to >= shape.rank()
            || (input.shape[i] != 1 && input.shape[i] != shape[to])) {
            return error(operation, "cannot place axis " + std::to_string(i) + " of "
                                        + toString(input) + " in " + toString(shape) + ".");
        }
    }
    return Types{{input.dtype, shape, {}}};
}

Result<Types> reshape(const Program& program, const Operation& operation)
{
    const Shape& shape = params<ShapeParams>(operation).shape;
    const Type& input = operand(program, operation, 0);
    const Result<std::int64_t> elements = checkedElements(shape);
    if (!elements) {
        return elements.error();
    }
    if (*elements != input.shape.elements()) {
        return error(operation, "cannot make " + toString(shape) + " of " + toString(input)
                                    + ": the numbers of elements differ.");
    }
    return Types{{input.dtype, shape, {}}};
}

Result<Types> transpose(const Program& program, const Operation& operation)
{
    const auto& permutation = params<PermutationParams>(operation).permutation;
    const Type& input = operand(program, operation, 0);
    std::vector<std::int32_t> sorted = permutation;
    std::sort(sorted.begin(), sorted.end());
    bool sound = sorted.size() == input.shape.rank();
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        sound = sound && sorted[i] == static_cast<std::int32_t>(i);
    }
    if (!sound) {
        return error(operation, "takes a permutation of the axes of " + toString(input) + ".");
    }
    std::vector<Extent> extents;
    for (const std::int32_t axis : permutation) {
        extents.push_back(input.shape[static_cast<std::size_t>(axis)]);
    }
    return Types{{input.dtype, Shape(extents), {}}};
}

Result<Types> concatenate(const Program& program, const Operation& operation)
{
    const std::int32_t axis = params<AxisParams>(operation).axis;
    Type result = operand(program, operation, 0);
    if (!hasAxis(result, axis)) {
        return noAxis(operation, result, axis);
    }
    const auto along = static_cast<std::size_t>(axis);
    for (std::size_t i = 1; i < operation.operands.size(); ++i) {
        Type other = operand(program, operation, i);
        const Extent length = other.shape.rank() > along ? other.shape[along] : 0;
        if (other.shape.rank() > along) {
            other.shape[along] = result.shape[along];
        }
        if (other != result) {
            return error(operation, "cannot join " + toString(operand(program, operation, i))
                                        + " to " + toString(operand(program, operation, 0))
                                        + " along axis " + std::to_string(axis) + ".");
        }
        if (__builtin_add_overflow(result.shape[along], length, &result.shape[along])) {
            return error(operation, "joins more than 2^63 elements.");
        }
    }
    return Types{result};
}

Result<Types> stack(const Program& program, const Operation& operation)
{
    const std::int32_t axis = params<AxisParams>(operation).axis;
    const Type& first = operand(program, operation, 0);
    if (axis < 0 || static_cast<std::size_t>(axis) > first.shape.rank()) {
        return noAxis(operation, first, axis);
    }
    for (std::size_t i = 1; i < operation.operands.size(); ++i) {
        if (operand(program, operation, i) != first) {
            return error(operation, "takes operands of one type, not " + toString(first) + " and "
                                        + toString(operand(program, operation, i)) + ".");
        }
    }
    std::vector<Extent> extents = first.shape.extents();
    extents.insert(extents.begin() + axis, static_cast<Extent>(operation.operands.size()));
    return Types{{first.dtype, Shape(extents), {}}};
}

Result<Types> unstack(const Program& program, const Operation& operation)
{
    const std::int32_t axis = params<AxisParams>(operation).axis;
    const Type& input = operand(program, operation, 0);
    if (!hasAxis(input, axis)) {
        return noAxis(operation, input, axis);
    }
    std::vector<Extent> extents = input.shape.extents();
    const Extent count = extents[static_cast<std::size_t>(axis)];
    if (count < 1 || count > static_cast<Extent>(kMostValues)) {
        return error(operation, "makes " + std::to_string(count) + " values; expected 1 to "
                                    + std::to_string(kMostValues) + ".");
    }
    extents.erase(extents.begin() + axis);
    return Types(static_cast<std::size_t>(count), {input.dtype, Shape(extents), {}});
}

Result<Types> split(const Program& program, const Operation& operation)
{
    const auto& [sizes, axis] = params<SplitParams>(operation);
    const Type& input = operand(program, operation, 0);
    if (!hasAxis(input, axis)) {
        return noAxis(operation, input, axis);
    }
    const auto along = static_cast<std::size_t>(axis);
    if (sizes.empty() || sizes.size() > kMostValues) {
        return error(operation, "makes " + std::to_string(sizes.size()) + " values; expected 1 to "
                                    + std::to_string(kMostValues) + ".");
    }
    Extent left = input.shape[along];
    Types results;
    for (const Extent size : sizes) {
        results.push_back(input);
        results.back().shape[along] = size;
        left = size < 0 || size > left ? -1 : left - size;
        if (left < 0) {
            break;
        }
    }
    if (left != 0) {
        return error(operation, "cuts axis " + std::to_string(axis) + " of " + toString(input)
                                    + " in parts of " + join(sizes, ", ")
                                    + "; together they must be the axis.");
    }
    return results;
}

Result<Types> slice(const Program& program, const Operation& operation)
{
    const auto& [start, limit, strides] = params<SliceParams>(operation);
    Type result = operand(program, operation, 0);
    const std::size_t rank = result.shape.rank();
    if (start.size() != rank || limit.size() != rank
        || (!strides.empty() && strides.size() != rank)) {
        return wrongLists(operation, result);
    }
    for (std::size_t axis = 0; axis < rank; ++axis) {
        const Extent stride = strides.empty() ? 1 : strides[axis];
        if (start[axis] < 0 || limit[axis] < start[axis] || limit[axis] > result.shape[axis]
            || stride < 1) {
            return error(operation, "takes " + std::to_string(start[axis]) + ":"
                                        + std::to_string(limit[axis]) + ":" + std::to_string(stride)
                                        + " of axis " + std::to_string(axis) + " of "
                                        + toString(operand(program, operation, 0)) + ".");
        }
        const Extent length = limit[axis] - start[axis];
        result.shape[axis] = length == 0 ? 0 : (length - 1) / stride + 1;
    }
    return Types{result};
}

Result<Types> pad(const Program& program, const Operation& operation)
{
    const auto& [low, high, interior] = params<PadParams>(operation);
    Type result = operand(program, operation, 0);
    const Type& filler = operand(program, operation, 1);
    const std::size_t rank = result.shape.rank();
    if (low.size() != rank || high.size() != rank || interior.size() != rank) {
        return wrongLists(operation, result);
    }
    if (filler != Type{result.dtype, Shape{}, {}}) {
        return error(operation, "fills " + toString(result) + " with " + toString(filler)
                                    + "; expected a scalar of the same dtype.");
    }
    for (std::size_t axis = 0; axis < rank; ++axis) {
        constexpr Extent kMost = Extent{1} << 40;
        const bool sound = std::abs(low[axis]) <= kMost && std::abs(high[axis]) <= kMost
                           && interior[axis] >= 0 && interior[axis] <= kMost
                           && result.shape[axis] <= kMost;
        Extent length = -1;
        if (sound
            && !__builtin_mul_overflow(std::max<Extent>(0, result.shape[axis] - 1), interior[axis],
                                       &length)
            && !__builtin_add_overflow(length, result.shape[axis] + low[axis] + high[axis],
                                       &length)) {
            result.shape[axis] = length;
        } else {
            length = -1;
        }
        if (length < 0) {
            return error(operation, "pads axis " + std::to_string(axis) + " of "
                                        + toString(operand(program, operation, 0)) + " by "
                                        + std::to_string(low[axis]) + ", "
                                        + std::to_string(high[axis]) + " and "
                                        + std::to_string(interior[axis]) + " between elements.");
        }
    }
    return Types{result};
}

Result<Types> tile(const Program& program, const Operation& operation)
{
    const auto& repetitions = params<TileParams>(operation).repetitions;
    Type result = operand(program, operation, 0);
    if (repetitions.size() != result.shape.rank()) {
        return wrongLists(operation, result);
    }
    for (std::size_t axis = 0; axis < repetitions.size(); ++axis) {
        if (repetitions[axis] < 0
            || __builtin_mul_overflow(result.shape[axis], repetitions[axis], &result.shape[axis])) {
            return error(operation, "repeats axis " + std::to_string(axis) + " of "
                                        + toString(operand(program, operation, 0)) + " "
                                        + std::to_string(repetitions[axis]) + " times.");
        }
    }
    return Types{result};
}

Result<Types> roll(const Program& program, const Operation& operation)
{
    const auto& [axis, stride, strideAxis] = params<RollParams>(operation);
    const Type &input = operand(program, operation, 0), &shift = operand(program, operation, 1);
    if (!hasAxis(input, axis)) {
        return noAxis(operation, input, axis);
    }
    if (strideAxis != -1 && (!hasAxis(input, strideAxis) || strideAxis == axis || stride < 0)) {
        return error(operation, "shifts axis " + std::to_string(axis) + " of " + toString(input)
                                    + " by a stride of " + std::to_string(stride) + " along axis "
                                    + std::to_string(strideAxis) + ".");
    }
    if (!shift.isScalar() || !isInteger(shift.dtype)) {
        return error(operation, "shifts by a scalar integer, not " + toString(shift) + ".");
    }
    return Types{input};
}

Result<Types> dot(const Program& program, const Operation& operation)
{
    const auto& dimensions = params<DotParams>(operation);
    const Type &lhs = operand(program, operation, 0), &rhs = operand(program, operation, 1);
    const auto mismatch = [&](const std::vector<std::int32_t>& l,
                              const std::vector<std::int32_t>& r) {
        if (l.size() != r.size()) {
            return true;
        }
        for (std::size_t i = 0; i < l.size(); ++i) {
            const auto a = static_cast<std::size_t>(l[i]), b = static_cast<std::size_t>(r[i]);
            if (a >= lhs.shape.rank() || b >= rhs.shape.rank() || lhs.shape[a] != rhs.shape[b]) {
                return true;
            }
        }
        return false;
    };
    const auto repeats = [](std::vector<std::int32_t> axes, const std::vector<std::int32_t>& more) {
        axes.insert(axes.end(), more.begin(), more.end());
        std::sort(axes.begin(), axes.end());
        return std::adjacent_find(axes.begin(), axes.end()) != axes.end();
    };
    if (repeats(dimensions.lhsContracting, dimensions.lhsBatch)
        || repeats(dimensions.rhsContracting, dimensions.rhsBatch)) {
        return error(operation,
                     "names an axis of " + toString(lhs) + " or " + toString(rhs) + " twice.");
    }
    if (mismatch(dimensions.lhsContracting, dimensions.rhsContracting)
        || mismatch(dimensions.lhsBatch, dimensions.rhsBatch)) {
        return error(operation, "cannot contract " + toString(lhs) + " with " + toString(rhs)
                                    + ": the axes differ in size.");
    }
    if (lhs.dtype == DType::Bool || rhs.dtype == DType::Bool) {
        return error(operation, "does not take bool operands (" + toString(lhs) + " and "
                                    + toString(rhs) + ").");
    }
    std::vector<Extent> extents;
    for (const std::int32_t axis : dimensions.lhsBatch) {
        extents.push_back(lhs.shape[static_cast<std::size_t>(axis)]);
    }
    const auto free = [&](const Shape& shape, const auto& contracting, const auto& batch) {
        for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
            const auto here = static_cast<std::int32_t>(axis);
            if (std::count(contracting.begin(), contracting.end(), here) == 0
                && std::count(batch.begin(), batch.end(), here) == 0) {
                extents.push_back(shape[axis]);
            }
        }
    };
    free(lhs.shape, dimensions.lhsContracting, dimensions.lhsBatch);
    free(rhs.shape, dimensions.rhsContracting, dimensions.rhsBatch);
    return Types{{dimensions.dtype, Shape(extents), {}}};
}

} // namespace pallascope::ir::type_rules
