// In how many rounds a unit goes over the registers of a value to move its elements. `native` is
// the tile of 32-bit elements that a register holds; empty: there is none.
#pragma once

#include "core/base/shape.h"

#include <vector>

namespace pallascope::cost {

// How often registers are turned and chosen from where a value is seen in another shape: never if
// whole tiles stay as they are, once if only rows move, and if rows become lanes as often as a
// tile's rows can be halved.
[[nodiscard]] int reshapeRounds(const Shape& before, const Shape& after,
                                const std::vector<std::int64_t>& native);

// Those of a bitonic network that sorts along an axis, and those of them in which elements of one
// register meet.
struct SortRounds
{
    std::int64_t all = 0, within = 0;
};

[[nodiscard]] SortRounds sortRounds(const Shape& shape, std::size_t axis,
                                    const std::vector<std::int64_t>& native);

} // namespace pallascope::cost
