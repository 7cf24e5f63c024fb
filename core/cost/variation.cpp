// Says, for each kind of operation, along which axes the elements of its results may differ.
#include "core/cost/variation.h"

#include <algorithm>

namespace pallascope::cost {

using ir::OpCode;
using ir::OpKind;

namespace {

std::uint32_t allOf(std::size_t rank)
{
    return (1U << rank) - 1;
}

std::uint32_t bit(std::int32_t axis)
{
    return 1U << static_cast<std::uint32_t>(axis);
}

} // namespace

Shape Variation::distinct(ir::ValueId value) const
{
    Shape shape = m_program.type(value).shape;
    const Axes axes = axesOf(value);
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        shape[axis] = (axes & bit(static_cast<std::int32_t>(axis))) != 0 ? shape[axis] : 1;
    }
    return shape;
}

Variation::Axes Variation::axesOf(ir::ValueId value) const
{
    const auto known = m_axes.find(value);
    return known != m_axes.end() ? known->second : allOf(m_program.type(value).shape.rank());
}

void Variation::add(const ir::Operation& operation)
{
    for (const ir::ValueId result : operation.results) {
        const ir::Type& type = m_program.type(result);
        if (type.isRef() || type.shape.rank() == 0) {
            continue;
        }
        const Axes axes = ofResult(operation) & allOf(type.shape.rank());
        if (axes != allOf(type.shape.rank())) {
            m_axes[result] = axes;
        }
    }
}

Variation::Axes Variation::ofResult(const ir::Operation& operation) const
{
    switch (ir::opEntry(operation.code).kind) {
    case OpKind::Elementwise:
    case OpKind::Transcendental:
    case OpKind::Comparison:
    case OpKind::Convert:
    case OpKind::Select: {
        const std::size_t rank = m_program.type(operation.results[0]).shape.rank();
        Axes axes = 0;
        for (const ir::ValueId operand : operation.operands) {
            if (m_program.type(operand).shape.rank() == rank) {
                axes |= axesOf(operand);
            }
        }
        return axes;
    }
    case OpKind::Generate:
        if (const auto* iota = std::get_if<ir::IotaParams>(&operation.params)) {
            return bit(iota->dimension);
        }
        return ~Axes{0};
    case OpKind::Reduction:
        return kept(operation);
    default:
        break;
    }
    switch (operation.code) {
    case OpCode::BroadcastInDim:
        return broadcast(operation);
    case OpCode::Squeeze:
        return kept(operation);
    case OpCode::Reshape:
        return reshaped(operation);
    case OpCode::Tile: // repeats, along an axis, what already differed there
        return axesOf(operation.operands[0]);
    case OpCode::Copy:
    case OpCode::StopGradient:
    case OpCode::BitcastConvertType:
    case OpCode::Slice:
        return axesOf(operation.operands[0]);
    default:
        return ~Axes{0};
    }
}

Variation::Axes Variation::broadcast(const ir::Operation& operation) const
{
    const auto& dimensions = std::get<ir::BroadcastParams>(operation.params).dimensions;
    const ir::Type& source = m_program.type(operation.operands[0]);
    const Axes before = axesOf(operation.operands[0]);
    Axes axes = 0;
    for (std::size_t axis = 0; axis < dimensions.size(); ++axis) {
        const bool differs = (before & bit(static_cast<std::int32_t>(axis))) != 0;
        axes |= differs && source.shape[axis] > 1 ? bit(dimensions[axis]) : 0;
    }
    return axes;
}

// If only axes of extent 1 are added or removed, the others are unchanged; otherwise axes may be
// split and joined.
Variation::Axes Variation::reshaped(const ir::Operation& operation) const
{
    const Axes before = axesOf(operation.operands[0]);
    const Shape &from = m_program.type(operation.operands[0]).shape,
                &to = m_program.type(operation.results[0]).shape;
    Axes axes = 0;
    std::size_t at = 0;
    for (std::size_t axis = 0; axis < from.rank(); ++axis) {
        if (from[axis] == 1) {
            continue;
        }
        while (at < to.rank() && to[at] == 1) {
            ++at;
        }
        if (at == to.rank() || to[at] != from[axis]) {
            return before == 0 ? 0 : ~Axes{0};
        }
        axes |= (before & bit(static_cast<std::int32_t>(axis))) != 0
                    ? bit(static_cast<std::int32_t>(at))
                    : 0;
        ++at;
    }
    return axes;
}

// For an operation that drops axes: which of the operand's remaining axes may differ.
Variation::Axes Variation::kept(const ir::Operation& operation) const
{
    const auto* params = std::get_if<ir::AxesParams>(&operation.params);
    if (params == nullptr) { // it drops one axis, or works along it
        return ~Axes{0};
    }
    const Axes before = axesOf(operation.operands[0]);
    const std::size_t rank = m_program.type(operation.operands[0]).shape.rank();
    Axes axes = 0;
    std::int32_t to = 0;
    for (std::int32_t axis = 0; axis < static_cast<std::int32_t>(rank); ++axis) {
        if (std::find(params->axes.begin(), params->axes.end(), axis) == params->axes.end()) {
            axes |= (before & bit(axis)) != 0 ? bit(to) : 0;
            ++to;
        }
    }
    return axes;
}

} // namespace pallascope::cost
