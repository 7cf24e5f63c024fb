#include "views/layout/values/move.h"

#include <algorithm>
#include <bit>

namespace pallascope::layout::values {

std::optional<ValuesChoice> moved(const ValuesSight& sight, ValuesChoice choice, int rows,
                                  int columns)
{
    if (sight.plane.elements == 0 || !sight.unknown.empty()) {
        return std::nullopt;
    }
    const std::int64_t from =
        choice.element ? numberOf(sight.shape, *choice.element) : sight.element;
    const std::int64_t row =
        std::clamp<std::int64_t>(sight.plane.rowOf(from) + rows, 0, sight.plane.rows - 1);
    const std::int64_t column =
        std::clamp<std::int64_t>(sight.plane.columnOf(from) + columns, 0, sight.plane.columns - 1);
    const std::optional<std::int64_t> element = sight.plane.at(row, column);
    if (!element) {
        return std::nullopt;
    }
    if (choice.corner) { // keeps it in sight
        const Region& region = sight.frame.region;
        const auto into = [](std::int64_t first, std::int64_t at, std::int64_t count) {
            return at < first ? at : at >= first + count ? at - count + 1 : first;
        };
        const auto side = sight.frame.side;
        choice.corner = {into(choice.corner->first, row, region.rows),
                         into(choice.corner->second, column, region.columns)};
        choice.corner->first = ceilDiv(choice.corner->first, side) * side;
        choice.corner->second = ceilDiv(choice.corner->second, side) * side;
    }
    choice.element = indexOf(sight.shape, *element);
    return choice;
}

std::optional<Zoomed> zoomed(const ValuesSight& sight, int direction, std::int64_t element)
{
    const auto now = static_cast<std::uint64_t>(sight.frame.side);
    const auto side = static_cast<std::int64_t>(
        direction > 0 ? std::bit_floor(std::max<std::uint64_t>(now - 1, 1))
                      : std::bit_floor(now) * 2);
    if (side == sight.frame.side || side > kLargestSide) {
        return std::nullopt;
    }
    const Frame next = frameOf(sight.plane, {.element = element, .side = side}, sight.size);
    if (next.side < side) { // all of it is in sight
        return Zoomed{};
    }
    const auto corner = [](std::int64_t at, std::int64_t first, std::int64_t count,
                           std::int64_t nextCount) {
        const double share = static_cast<double>(at - first) / static_cast<double>(count);
        return std::max<std::int64_t>(
            0, at - static_cast<std::int64_t>(share * static_cast<double>(nextCount)));
    };
    const Region& region = sight.frame.region;
    return Zoomed{side, std::pair(corner(sight.plane.rowOf(element), region.row, region.rows,
                                         next.region.rows),
                                  corner(sight.plane.columnOf(element), region.column,
                                         region.columns, next.region.columns))};
}

} // namespace pallascope::layout::values
