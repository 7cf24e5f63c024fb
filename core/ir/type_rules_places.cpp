// Type rules of operations that read or write elements at positions known only at run time.
#include "core/ir/type_rules.h"

#include <algorithm>
#include <set>

namespace pallascope::ir::type_rules {

namespace {

// Checks that the indices are integers with the shape of `type` and one more axis of extent 1 at
// the end. Along `axis` their extent may differ.
Status indicesFor(const Operation& operation, const Type& type, std::int32_t axis,
                  const Type& indices)
{
    if (!hasAxis(type, axis)) {
        return noAxis(operation, type, axis);
    }
    const Extents& extents = indices.shape.extents();
    bool sound =
        isInteger(indices.dtype) && extents.size() == type.shape.rank() + 1 && extents.back() == 1;
    for (std::size_t i = 0; sound && i + 1 < extents.size(); ++i) {
        sound = static_cast<std::int32_t>(i) == axis || extents[i] == type.shape[i];
    }
    if (!sound) {
        return error(operation, "takes integer indices like " + toString(type)
                                    + " with an axis of 1 behind, free along axis "
                                    + std::to_string(axis) + "; not " + toString(indices) + ".");
    }
    return Done{};
}

// Checks that there is one start and one size for each axis of `whole`. Operand `first` is the
// start along axis 0.
Status startsAndSizes(const Program& program, const Operation& operation, std::size_t first,
                      const Type& whole, const std::vector<Extent>& sizes)
{
    if (operation.operands.size() != first + whole.shape.rank()
        || sizes.size() != whole.shape.rank()) {
        return error(operation,
                     "needs one start and one size per axis of " + toString(whole) + ".");
    }
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
        if (sizes[axis] < 0 || sizes[axis] > whole.shape[axis]) {
            return error(operation, "takes " + std::to_string(sizes[axis]) + " of axis "
                                        + std::to_string(axis) + " of " + toString(whole) + ".");
        }
    }
    for (std::size_t i = first; i < operation.operands.size(); ++i) {
        const Type& start = operand(program, operation, i);
        if (!start.isScalar() || !isInteger(start.dtype)) {
            return error(operation, "starts at scalar integers, not " + toString(start) + ".");
        }
    }
    return Done{};
}

} // namespace

Result<Types> gather(const Program& program, const Operation& operation)
{
    const Type &input = operand(program, operation, 0), &indices = operand(program, operation, 1);
    if (Status status = indicesFor(operation, input, params<GatherParams>(operation).axis, indices);
        !status) {
        return status.error();
    }
    std::vector<Extent> extents = indices.shape.extents();
    extents.pop_back();
    return Types{{input.dtype, Shape(extents), {}}};
}

Result<Types> scatter(const Program& program, const Operation& operation)
{
    const auto& [axis, combine, mode] = params<ScatterParams>(operation);
    const Type &input = operand(program, operation, 0), &indices = operand(program, operation, 1),
               &updates = operand(program, operation, 2);
    if (Status status = indicesFor(operation, input, axis, indices); !status) {
        return status.error();
    }
    std::vector<Extent> extents = indices.shape.extents();
    extents.pop_back();
    if (updates != Type{input.dtype, Shape(extents), {}}) {
        return error(operation, "puts one update of " + toString(input) + " at each index of "
                                    + toString(indices) + "; not " + toString(updates) + ".");
    }
    const bool isBool = input.dtype == DType::Bool;
    if (isBool && (combine == Combine::Add || combine == Combine::Mul)) {
        return error(operation, "adds and multiplies numbers, not " + toString(input) + ".");
    }
    return Types{input};
}

Result<Types> dynamicSlice(const Program& program, const Operation& operation)
{
    const auto& sizes = params<SizesParams>(operation).sizes;
    const Type& input = operand(program, operation, 0);
    if (Status status = startsAndSizes(program, operation, 1, input, sizes); !status) {
        return status.error();
    }
    return Types{{input.dtype, Shape(sizes), {}}};
}

Result<Types> dynamicUpdateSlice(const Program& program, const Operation& operation)
{
    const Type &input = operand(program, operation, 0), &update = operand(program, operation, 1);
    if (update.dtype != input.dtype) {
        return error(operation, "puts " + toString(update) + " into " + toString(input) + ".");
    }
    if (Status status = startsAndSizes(program, operation, 2, input, update.shape.extents());
        !status) {
        return status.error();
    }
    return Types{input};
}

Result<Types> rev(const Program& program, const Operation& operation)
{
    const Type& input = operand(program, operation, 0);
    const auto& axes = params<AxesParams>(operation).axes;
    for (const std::int32_t axis : axes) {
        if (!hasAxis(input, axis)) {
            return noAxis(operation, input, axis);
        }
    }
    if (std::set<std::int32_t>(axes.begin(), axes.end()).size() != axes.size()) {
        return error(operation, "names an axis of " + toString(input) + " twice.");
    }
    return Types{input};
}

Result<Types> cumulative(const Program& program, const Operation& operation)
{
    const Type& input = operand(program, operation, 0);
    const auto axis = params<CumulativeParams>(operation).axis;
    if (!hasAxis(input, axis)) {
        return noAxis(operation, input, axis);
    }
    if (input.dtype == DType::Bool) {
        return error(operation, "takes numbers, not " + toString(input) + ".");
    }
    return Types{input};
}

Result<Types> sort(const Program& program, const Operation& operation)
{
    const auto& [axis, keys] = params<SortParams>(operation);
    const Type& first = operand(program, operation, 0);
    if (!hasAxis(first, axis)) {
        return noAxis(operation, first, axis);
    }
    const auto count = static_cast<std::int32_t>(operation.operands.size());
    if (keys < 1 || keys > count) {
        return error(operation, "sorts " + std::to_string(count) + " arrays by the first "
                                    + std::to_string(keys) + ".");
    }
    Types types;
    for (std::size_t i = 0; i < operation.operands.size(); ++i) {
        types.push_back(operand(program, operation, i));
        if (types.back().shape != first.shape || types.size() > kMostValues) {
            return error(operation, "sorts at most " + std::to_string(kMostValues)
                                        + " arrays of one shape, not " + toString(first) + " and "
                                        + toString(types.back()) + ".");
        }
    }
    return types;
}

} // namespace pallascope::ir::type_rules
