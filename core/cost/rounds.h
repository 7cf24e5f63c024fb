// In how many rounds a unit passes over the registers of a value to move its elements. `native` is
// the tile of 32-bit elements that a register holds, or empty if there is none.
#pragma once

#include "core/base/shape.h"

#include <vector>

namespace pallascope::cost {

// How many rounds of moves and selections a change of shape takes: none if whole tiles stay
// unchanged, one if only rows move, and if rows become lanes, as many as a tile's rows can be
// halved.
[[nodiscard]] int reshapeRounds(const Shape& before, const Shape& after,
                                const std::vector<std::int64_t>& native);

// The rounds of a bitonic network that sorts along an axis, and how many of them compare elements
// within one register.
struct SortRounds
{
    std::int64_t all = 0, within = 0;
};

[[nodiscard]] SortRounds sortRounds(const Shape& shape, std::size_t axis,
                                    const std::vector<std::int64_t>& native);

} // namespace pallascope::cost
