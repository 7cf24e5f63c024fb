#include "core/machine/state/place.h"

#include <utility>

namespace pallascope::machine {

namespace {

// The axes of the array in which a block lies, or the place itself.
Reach spelledOut(const Place& place)
{
    if (place.operand == nullptr && place.located->rows) {
        std::vector<Reach> parts;
        for (const RefBinding& row : *place.located->rows) {
            parts.push_back(reachOf(row, place.located->memory));
        }
        return unionOf(std::move(parts), place.located->memory.rank());
    }
    if (place.operand == nullptr) {
        return reachOf(place.located->ref, place.located->memory);
    }
    if (!place.located) { // a block of the whole array
        return place.operand->reach(place.block);
    }
    return place.operand->reach(place.block, place.located->ref, place.located->memory);
}

} // namespace

const Reach& reachOf(const Place& place)
{
    if (!place.reach) {
        place.reach = std::make_shared<const Reach>(spelledOut(place));
    }
    return *place.reach;
}

std::int64_t startOf(const Reach& reach)
{
    return reach.start.empty() ? 0 : reach.start[0];
}

std::int64_t stopOf(const Reach& reach)
{
    return reach.stop.empty() ? 1 : reach.stop[0];
}

bool isAll(const Place& place)
{
    return place.located == nullptr && place.operand == nullptr;
}

bool mayMeet(const Place& a, const Place& b)
{
    if (a.operand != nullptr && a.operand == b.operand && a.operand->tiles) {
        return a.block == b.block;
    }
    return isAll(a) || isAll(b) || overlap(reachOf(a), reachOf(b));
}

} // namespace pallascope::machine
