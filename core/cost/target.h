// Whether a program is for the kind of chip that it is to run on: kernels for TPUs, for GPUs and
// for GPUs of different generations are made of different operations.
#pragma once

#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/ir/program.h"

namespace pallascope::cost {

// The error names the program, what of it another kind of chip has, and the chip.
[[nodiscard]] Status checkTarget(const ir::Program& program, const chip::Chip& chip);

} // namespace pallascope::cost
