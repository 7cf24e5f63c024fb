// How much of products lies inside of the arrays whose blocks they multiply. A block that overhangs
// its array holds elements past the end, which nobody asks for.
#pragma once

#include "core/ir/program.h"

#include <cstdint>
#include <map>

namespace pallascope::cost {

// By Operation::id, for each dot_general of which it is less than 1: the share of its
// multiplications that are of elements inside, on average over all positions of the blocks.
// Followed are blocks that are loaded whole, through transposes, broadcasts and operations that
// keep their shape.
[[nodiscard]] std::map<std::int32_t, double> insideShares(const ir::Program& program);

} // namespace pallascope::cost
