// Counts the rounds of reshapes and of sorting networks.
#include "core/cost/rounds.h"

#include <algorithm>

namespace pallascope::cost {

namespace {

std::vector<Extent> withoutOnes(const Shape& shape)
{
    std::vector<Extent> extents;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        if (shape[axis] != 1) {
            extents.push_back(shape[axis]);
        }
    }
    return extents;
}

// How many elements along an axis one register holds.
std::int64_t heldAlong(const Shape& shape, std::size_t axis,
                       const std::vector<std::int64_t>& native)
{
    if (native.size() != 2 || axis + 2 < shape.rank()) {
        return 1;
    }
    const bool inLanes = axis + 1 == shape.rank();
    return shape.rank() == 1 ? native[0] * native[1] : native[inLanes ? 1 : 0];
}

} // namespace

int reshapeRounds(const Shape& before, const Shape& after, const std::vector<std::int64_t>& native)
{
    const std::vector<Extent> from = withoutOnes(before), to = withoutOnes(after);
    if (native.size() != 2 || from == to) {
        return 0;
    }
    if (std::min(from.size(), to.size()) >= 2 && from.back() == to.back()) {
        const Extent old = from[from.size() - 2], now = to[to.size() - 2];
        return old == now || (old % native[0] == 0 && now % native[0] == 0) ? 0 : 1;
    }
    int rounds = 0;
    for (std::int64_t rows = native[0]; rows > 1; rows /= 2) {
        ++rounds;
    }
    return rounds;
}

SortRounds sortRounds(const Shape& shape, std::size_t axis, const std::vector<std::int64_t>& native)
{
    const std::int64_t held = heldAlong(shape, axis, native);
    SortRounds rounds;
    std::int64_t steps = 0,
                 near = 0; // of one stage, which merges runs twice as long as the stage before
    for (std::int64_t sorted = 1; sorted < shape[axis]; sorted *= 2) {
        ++steps;
        near += sorted < held ? 1 : 0;
        rounds.all += steps;
        rounds.within += near;
    }
    return rounds;
}

} // namespace pallascope::cost
