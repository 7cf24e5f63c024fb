// Chips by name or file: the embedded ones, and any file of the same schema.
#pragma once

#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <string>
#include <vector>

namespace pallascope::app {

inline constexpr const char* kUsualChip = "tpu_v5e"; // of kernels that are for none

[[nodiscard]] const std::vector<chip::Chip>& builtInChips();

// A name ("tpu_v5e"), an alias ("v5e"), or the path of a file. Errors name what was asked for and
// the choices, or what is wrong in the file.
[[nodiscard]] Result<chip::Chip> loadChip(const std::string& nameOrFile);

// The chip on which a kernel runs where no other is asked for: that which it was captured for, else
// kUsualChip. The error says what the kernel asks for; a kernel's chip is never a file.
[[nodiscard]] Result<chip::Chip> chipOf(const ir::Program& program);

} // namespace pallascope::app
