#include "core/ir/mesh.h"

#include <algorithm>

namespace pallascope::ir {

std::int32_t deviceCount(const Program& program)
{
    return sizeOf(program.mesh);
}

bool reachesDevices(const Operation& operation)
{
    const auto* copy = std::get_if<DmaParams>(&operation.params);
    return operation.code == OpCode::RemoteRef || (copy != nullptr && copy->device);
}

std::int32_t sizeOf(const std::vector<MeshAxis>& axes)
{
    std::int32_t count = 1;
    for (const MeshAxis& axis : axes) {
        count *= axis.size;
    }
    return count;
}

std::int32_t coordinate(const std::vector<MeshAxis>& axes, std::int32_t number, std::size_t axis)
{
    for (std::size_t inner = axes.size(); --inner > axis;) {
        number /= axes[inner].size;
    }
    return number % axes[axis].size;
}

std::optional<std::size_t> axisNamed(const std::vector<MeshAxis>& axes, std::string_view name)
{
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        if (axes[axis].name == name) {
            return axis;
        }
    }
    return std::nullopt;
}

Type wholeType(const Program& program, const Argument& argument)
{
    Type type = program.type(argument.ref);
    std::vector<Extent> extents = type.shape.extents();
    for (std::size_t i = 0; i < argument.partition.size(); ++i) {
        for (const std::string& name : argument.partition[i]) {
            extents[i] *= program.mesh[axisNamed(program.mesh, name).value()].size;
        }
    }
    type.shape = Shape(std::move(extents));
    return type;
}

std::vector<std::int64_t> partStart(const Program& program, const Argument& argument,
                                    std::int32_t device)
{
    const Shape& part = program.type(argument.ref).shape;
    std::vector<std::int64_t> start(part.rank(), 0);
    for (std::size_t i = 0; i < argument.partition.size(); ++i) {
        std::int64_t number = 0;
        for (const std::string& name : argument.partition[i]) {
            const std::size_t axis = axisNamed(program.mesh, name).value();
            number = number * program.mesh[axis].size + coordinate(program.mesh, device, axis);
        }
        start[i] = number * part[i];
    }
    return start;
}

} // namespace pallascope::ir
