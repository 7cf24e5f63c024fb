// Programs that several devices run: who is who, and who has which part of an array.
#pragma once

#include "core/ir/program.h"

namespace pallascope::ir {

constexpr std::int32_t kMostDevices = 256;

// Of the mesh; 1 without one.
[[nodiscard]] std::int32_t deviceCount(const Program& program);

// Of all axes together; 1 without any.
[[nodiscard]] std::int32_t sizeOf(const std::vector<MeshAxis>& axes);

// Where a device (or block) is on an axis; numbers are row-major.
[[nodiscard]] std::int32_t coordinate(const std::vector<MeshAxis>& axes, std::int32_t number,
                                      std::size_t axis);

// Number of the axis with this name; absent: there is none.
[[nodiscard]] std::optional<std::size_t> axisNamed(const std::vector<MeshAxis>& axes,
                                                   std::string_view name);

// The whole array of an argument, of which each device has a part.
[[nodiscard]] Type wholeType(const Program& program, const Argument& argument);

// Where a device's part of it begins.
[[nodiscard]] std::vector<std::int64_t> partStart(const Program& program, const Argument& argument,
                                                  std::int32_t device);

} // namespace pallascope::ir
