// How long a segment of a GPU's agent takes, which issues its instructions in order.
#pragma once

#include "core/cost/segment.h"

#include <span>
#include <vector>

namespace pallascope::cost {

// Instructions of different units overlap where they work on different elements. So a segment is a
// sequence of sections: one ends where all of a result is needed before the next can begin, as that
// of a reduction or a product. A section takes as long as its busiest unit, or its longest chain.
// The agent's warpgroups, if there are several, divide every operation and meet at the end. Fewer
// warps than one has use as many partitions of the multiprocessor.
// Sets the cycles of `out`, and where each operation has its place.
void placeInSections(const ir::Program& program, std::span<const ir::Operation* const> operations,
                     const std::vector<OperationCost>& costs, const chip::Chip& chip,
                     const Runner& runner, SegmentCost& out);

} // namespace pallascope::cost
