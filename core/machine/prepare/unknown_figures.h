// Finds out which unpublished figures of the chip a run depends on.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"
#include "core/machine/prepare/plan.h"

#include <optional>
#include <vector>

namespace pallascope::machine {

// The finding that names the chip's unknown figures of the units, rates, memories and links that
// the program uses, and of its agents and constants. Empty if it needs none. `memories` are the
// indices of the memories that hold the program's arrays and buffers.
[[nodiscard]] std::optional<trace::Finding>
unknownFigures(const ir::Program& program, const chip::Chip& chip, const Plan& plan,
               const std::vector<std::int32_t>& memories);

} // namespace pallascope::machine
