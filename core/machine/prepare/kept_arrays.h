// Arrays that XLA keeps in VMEM from one fusion to the next: docs/xla.md says where the rule is
// from.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <vector>

namespace pallascope::machine {

// By ValueId. `between`: arrays that only fusions touch, of which those are chosen that fit side by
// side in what the chip's VMEM has beyond its scoped limit. No kernel runs while one is kept.
[[nodiscard]] std::vector<bool> keptArrays(const ir::Program& program, const chip::Chip& chip,
                                           const std::vector<bool>& between);

} // namespace pallascope::machine
