// Finds where each value is used for the last time, so that its storage is free from there on.
#pragma once

#include "core/machine/prepare/plan.h"

namespace pallascope::machine {

// Sets the bits `dying` of the evaluations in a region's block. A value dies at its last evaluated
// use, if that is in the region that defines it and the value is not used in a nested region,
// returned or carried.
void markLastUses(const ir::Program& program, const ir::Region& region, BlockPlan& block);

} // namespace pallascope::machine
