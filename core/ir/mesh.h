// Programs that run on several devices: where each device is in the mesh, and which part of an
// array it holds.
#pragma once

#include "core/ir/program.h"

namespace pallascope::ir {

constexpr std::int32_t kMostDevices = 256;

// Number of devices in the mesh; 1 without one.
[[nodiscard]] std::int32_t deviceCount(const Program& program);

// Whether the operation reaches the memory of another device. Signals do not.
[[nodiscard]] bool reachesDevices(const Operation& operation);

// The product of all axis sizes; 1 for no axes.
[[nodiscard]] std::int32_t sizeOf(const std::vector<MeshAxis>& axes);

// The coordinate of a device (or a block) along one axis; numbers are row-major.
[[nodiscard]] std::int32_t coordinate(const std::vector<MeshAxis>& axes, std::int32_t number,
                                      std::size_t axis);

// The index of the axis with this name, if there is one.
[[nodiscard]] std::optional<std::size_t> axisNamed(const std::vector<MeshAxis>& axes,
                                                   std::string_view name);

// Calls a function for every operation of the kernels that JAX gives to Triton.
template<class Function>
void forEachOfTriton(const Program& program, const Function& visit)
{
    forEachOperation(program.body, [&](const Operation& operation) {
        const auto* mesh = std::get_if<CoreMapParams>(&operation.params);
        if (mesh != nullptr && mesh->compiler == kTriton) {
            forEachOperation(operation.regions[0], visit);
        }
    });
}

// The type of an argument's whole array. On a mesh each device has only a part of it.
[[nodiscard]] Type wholeType(const Program& program, const Argument& argument);

// The element at which a device's part of that array begins, for each axis.
[[nodiscard]] std::vector<std::int64_t> partStart(const Program& program, const Argument& argument,
                                                  std::int32_t device);

} // namespace pallascope::ir
