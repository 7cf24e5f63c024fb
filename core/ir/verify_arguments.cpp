#include "core/ir/mesh.h"
#include "core/ir/verifier.h"

#include <algorithm>
#include <set>

namespace pallascope::ir {

namespace {

Status checkMesh(const Program& program)
{
    std::int64_t devices = 1;
    std::set<std::string> names;
    for (const MeshAxis& axis : program.mesh) {
        devices = axis.size < 1 ? 0 : std::min<std::int64_t>(devices * axis.size, kMostDevices + 1);
        if (axis.name.empty() || !names.insert(axis.name).second || devices < 1
            || devices > kMostDevices) {
            return userError("The mesh of " + program.name + " has the axis \"" + axis.name
                             + "\" of " + std::to_string(axis.size)
                             + "; expected axes with names of their own and 1 to "
                             + std::to_string(kMostDevices) + " devices together.");
        }
    }
    return Done{};
}

Status checkPartition(const Program& program, const Argument& argument)
{
    const Shape& shape = program.type(argument.ref).shape;
    std::set<std::string> used;
    bool sound = argument.partition.empty() || argument.partition.size() == shape.rank();
    for (const std::vector<std::string>& axis : argument.partition) {
        for (const std::string& name : axis) {
            sound = sound && axisNamed(program.mesh, name) && used.insert(name).second;
        }
    }
    if (!sound) {
        return userError("The partition of " + argument.name + " of " + program.name
                         + " must have one list for each of " + std::to_string(shape.rank())
                         + " axes, with axes of the mesh, each at most once.");
    }
    return Done{};
}

} // namespace

Status checkArguments(const Program& program)
{
    if (Status status = checkMesh(program); !status) {
        return status;
    }
    for (const Argument& argument : program.arguments) {
        if (Status status = checkPartition(program, argument); !status) {
            return status;
        }
        const Type& type = program.type(argument.ref);
        const bool smem = type.space == MemorySpace::Smem;
        const bool isLocal = type.space == MemorySpace::Vmem || type.space == MemorySpace::TileSpmem
                             || type.space == MemorySpace::Spmem;
        if (!type.isRef() || isLocal || (smem && argument.kind == ArgumentKind::Output)) {
            return userError("The argument " + argument.name + " of " + program.name + " is "
                             + toString(type) + "; expected a ref in hbm, or an input in smem.");
        }
        if (argument.aliasOf < 0) {
            continue;
        }
        const auto other = static_cast<std::size_t>(argument.aliasOf);
        const bool sound = argument.kind == ArgumentKind::Output && other < program.arguments.size()
                           && program.arguments[other].kind == ArgumentKind::Input
                           && &program.arguments[other] < &argument
                           && program.type(program.arguments[other].ref) == type
                           && program.arguments[other].partition == argument.partition;
        if (!sound) {
            return userError("The output " + argument.name + " of " + program.name
                             + " must alias an input of its own type, " + toString(type) + ".");
        }
    }
    return Done{};
}

} // namespace pallascope::ir
