// Chips by name or file: the chips embedded in the program, and any file of the same schema.
#pragma once

#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <string>
#include <vector>

namespace pallascope::app {

// The chip for kernels that were not made for a certain one.
inline constexpr const char* kUsualChip = "tpu_v5e";

// TPUs, then GPUs, each in the order of their names.
[[nodiscard]] const std::vector<chip::Chip>& builtInChips();

// Takes a name ("tpu_v5e"), an alias ("v5e") or the path of a file. An error names what was asked
// for and the choices, or says what is wrong in the file.
[[nodiscard]] Result<chip::Chip> loadChip(const std::string& nameOrFile);

// The chip on which a kernel runs if none is asked for: the one that it is for, or else
// kUsualChip. The error says what the kernel asks for. A kernel cannot ask for a chip in a file.
[[nodiscard]] Result<chip::Chip> chipOf(const ir::Program& program);

} // namespace pallascope::app
