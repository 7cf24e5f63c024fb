// Decides which arrays XLA keeps in VMEM between fusions. docs/xla.md gives the source of the rule.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <vector>

namespace pallascope::machine {

// For each ValueId, whether the array is kept. `between` marks arrays that only fusions use. Of
// these it chooses arrays that fit next to each other into the part of VMEM beyond the scoped
// limit. No kernel runs while one is kept.
[[nodiscard]] std::vector<bool> keptArrays(const ir::Program& program, const chip::Chip& chip,
                                           const std::vector<bool>& between);

} // namespace pallascope::machine
