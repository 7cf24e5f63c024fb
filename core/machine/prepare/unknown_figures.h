// Which figures that nobody has published a run depends on.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"
#include "core/machine/prepare/plan.h"

#include <optional>
#include <vector>

namespace pallascope::machine {

// The finding that names the chip's unknown figures of the units, rates, memories and links that
// the program uses, and of its agents and constants; none if it needs none. `memories`: indices of
// the memories that hold the program's arrays and buffers.
[[nodiscard]] std::optional<trace::Finding>
unknownFigures(const ir::Program& program, const chip::Chip& chip, const Plan& plan,
               const std::vector<std::int32_t>& memories);

} // namespace pallascope::machine
