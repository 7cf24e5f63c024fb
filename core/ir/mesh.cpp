#include "core/ir/mesh.h"

#include <algorithm>

namespace pallascope::ir {

std::int32_t deviceCount(const Program& program)
{
    std::int32_t count = 1;
    for (const MeshAxis& axis : program.mesh) {
        count *= axis.size;
    }
    return count;
}

std::int32_t coreCount(const Program& program)
{
    std::int32_t most = 1;
    forEachOperation(program.body, [&](const Operation& operation) {
        if (operation.code == OpCode::CoreMap) {
            most = std::max(most, std::get<CoreMapParams>(operation.params).cores);
        }
    });
    return most;
}

std::int32_t coordinate(const Program& program, std::int32_t device, std::size_t axis)
{
    for (std::size_t inner = program.mesh.size(); --inner > axis;) {
        device /= program.mesh[inner].size;
    }
    return device % program.mesh[axis].size;
}

std::optional<std::size_t> meshAxis(const Program& program, std::string_view name)
{
    for (std::size_t axis = 0; axis < program.mesh.size(); ++axis) {
        if (program.mesh[axis].name == name) {
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
            extents[i] *= program.mesh[meshAxis(program, name).value()].size;
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
            const std::size_t axis = meshAxis(program, name).value();
            number = number * program.mesh[axis].size + coordinate(program, device, axis);
        }
        start[i] = number * part[i];
    }
    return start;
}

} // namespace pallascope::ir
