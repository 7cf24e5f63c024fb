// A chip that does not exist. It has three agents in a slot, two slots for the blocks of a grid,
// one matrix unit that all agents share and that works beside them, two memories and three links.
#pragma once

#include "core/chip/chip.h"
#include "tests/machine/support.h"

namespace pallascope::machine_test {

constexpr std::int32_t kBlocks = 5, kThreads = 3;

[[nodiscard]] const chip::Chip& madeUpChip();

// out[block, thread] = x[block, thread] @ weights + x[block, thread]. A copy within the chip makes
// the second x while the matrix unit works.
[[nodiscard]] ir::Program madeUpProgram();
[[nodiscard]] std::vector<Array> madeUpInputs();

} // namespace pallascope::machine_test
