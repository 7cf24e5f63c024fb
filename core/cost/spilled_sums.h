// Sums of wgmma that do not fit in the registers of a GPU's threads.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <set>

namespace pallascope::cost {

// The accumulators of a core_map, and views of them, that are in memory between their products:
// those that outlive a round of the loop in which their products stand, if all accumulators that
// exist at a time need more registers than a thread can have. ptxas then loads each before its
// product and stores it after that, and waits for each instruction of wgmma (it says so: C7512).
// Empty if all of them fit. Other values that spill are not counted.
[[nodiscard]] std::set<ir::ValueId>
spilledSums(const ir::Program& program, const ir::Operation& coreMap, const chip::Chip& chip);

} // namespace pallascope::cost
