// Where in a segment its operations use their units.
#pragma once

#include "core/cost/segment.h"

#include <map>
#include <span>
#include <vector>

namespace pallascope::cost {

// How many cycles of work each unit has in all, by index into Chip::units.
[[nodiscard]] std::map<std::int32_t, Cycles> workOf(const std::vector<OperationCost>& costs);

// Places operations on their units, on each unit in program order. An operation ends no earlier
// than what it uses, and early enough to leave room for what follows on its unit, so that
// everything fits in the cycles of `out`, which are no less than any unit's work. Adds to the
// places, operations and ends of `out`. `work` is that of the costs.
void placeWithin(const ir::Program& program, std::span<const ir::Operation* const> operations,
                 const std::vector<OperationCost>& costs,
                 const std::map<std::int32_t, Cycles>& work, SegmentCost& out);

} // namespace pallascope::cost
