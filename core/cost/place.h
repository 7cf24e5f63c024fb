// Where in a segment its operations use their units.
#pragma once

#include "core/cost/segment.h"

#include <span>
#include <vector>

namespace pallascope::cost {

// Places operations on their units, on each unit in program order. An operation ends no earlier
// than what it uses, and early enough to leave room for what follows on its unit, so that
// everything fits in the cycles of `out`, which are no less than any unit's work. Adds to the
// places, operations and ends of `out`.
void placeWithin(const ir::Program& program, std::span<const ir::Operation* const> operations,
                 const std::vector<OperationCost>& costs, SegmentCost& out);

} // namespace pallascope::cost
