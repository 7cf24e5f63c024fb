#include "core/machine/state/underway.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace pallascope::machine {

namespace {

constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();

std::uint64_t mixed(std::uint64_t hash, std::int64_t number)
{
    hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15ULL;
    return hash ^ (hash >> 29);
}

void drop(std::vector<std::int32_t>& cell, std::int32_t position)
{
    cell.erase(std::lower_bound(cell.begin(), cell.end(), position));
}

} // namespace

// Copies and products in one order of numbers.
std::int64_t UnderwayAccesses::numberOf(const Mover& mover)
{
    return mover.copy ? 2 * static_cast<std::int64_t>(mover.copy->number) : 2 * mover.product + 1;
}

auto UnderwayAccesses::kindOf(const Access& access) -> Kind
{
    const Reach& reach = reachOf(access.place);
    Kind kind{access.writes, access.adds, {}};
    for (std::size_t axis = 0; axis < reach.start.size(); ++axis) {
        const auto extent = std::max<std::int64_t>(1, reach.stop[axis] - reach.start[axis]);
        kind.shifts.push_back(
            static_cast<std::uint8_t>(std::bit_width(static_cast<std::uint64_t>(extent) - 1)));
    }
    return kind;
}

std::uint64_t UnderwayAccesses::cellOf(const Kind& kind, const Access& access)
{
    const Reach& reach = reachOf(access.place);
    std::uint64_t cell = 0;
    for (std::size_t axis = 0; axis < kind.shifts.size(); ++axis) {
        cell = mixed(cell, reach.start[axis] >> kind.shifts[axis]);
    }
    return cell;
}

void UnderwayAccesses::index(std::int32_t position)
{
    const UnderwayAccess& what = m_all[static_cast<std::size_t>(position)].what;
    m_byMover.emplace(numberOf(what.mover), position);
    if (isAll(what.access.place)) {
        m_unplaced.push_back(position);
        return;
    }
    const Kind kind = kindOf(what.access);
    Grid& grid = m_grids[kind];
    grid.cells[cellOf(kind, what.access)].push_back(position);
    ++grid.count;
}

// Drops entries that are gone, and finds the others again by where they lie.
void UnderwayAccesses::reindex()
{
    std::erase_if(m_all, [](const Entry& entry) { return !entry.isAlive; });
    m_byMover.clear();
    m_grids.clear();
    m_unplaced.clear();
    for (std::size_t i = 0; isIndexed() && i < m_all.size(); ++i) {
        index(static_cast<std::int32_t>(i));
    }
}

void UnderwayAccesses::add(UnderwayAccess access)
{
    const bool was = isIndexed();
    m_all.push_back({std::move(access)});
    ++m_alive;
    if (was) {
        index(static_cast<std::int32_t>(m_all.size()) - 1);
    } else if (isIndexed()) {
        reindex();
    }
}

std::int32_t UnderwayAccesses::positionOf(const Mover& mover) const
{
    if (isIndexed()) {
        const auto [begin, end] = m_byMover.equal_range(numberOf(mover));
        const auto found = std::min_element(
            begin, end, [](const auto& a, const auto& b) { return a.second < b.second; });
        return found == end ? -1 : found->second;
    }
    const auto found = std::find_if(m_all.begin(), m_all.end(), [&](const Entry& entry) {
        return entry.isAlive && entry.what.mover == mover;
    });
    return found == m_all.end() ? -1 : static_cast<std::int32_t>(found - m_all.begin());
}

const UnderwayAccess* UnderwayAccesses::find(const Mover& mover) const
{
    const std::int32_t position = positionOf(mover);
    return position < 0 ? nullptr : &m_all[static_cast<std::size_t>(position)].what;
}

void UnderwayAccesses::remove(const Mover& mover)
{
    const std::int32_t position = positionOf(mover);
    if (position < 0) {
        return;
    }
    --m_alive;
    if (!isIndexed()) {
        m_all.erase(m_all.begin() + position);
        return;
    }
    Entry& entry = m_all[static_cast<std::size_t>(position)];
    entry.isAlive = false;
    auto [known, end] = m_byMover.equal_range(numberOf(mover));
    m_byMover.erase(
        std::find_if(known, end, [&](const auto& one) { return one.second == position; }));
    if (isAll(entry.what.access.place)) {
        drop(m_unplaced, position);
    } else {
        const Kind kind = kindOf(entry.what.access);
        Grid& grid = m_grids.at(kind);
        const auto cell = grid.cells.find(cellOf(kind, entry.what.access));
        drop(cell->second, position);
        if (cell->second.empty()) {
            grid.cells.erase(cell);
        }
        --grid.count;
    }
    entry.what.access.place = {}; // what it refers to is no longer needed
    if (2 * m_alive < m_all.size()) {
        reindex();
    }
}

bool UnderwayAccesses::conflicts(const Entry& entry, const Access& access) const
{
    return entry.isAlive && !commute(entry.what.access, access)
           && mayMeet(entry.what.access.place, access.place);
}

// The first entry of a grid that conflicts; kNone if there is none.
std::int32_t UnderwayAccesses::firstIn(const Kind& kind, const Grid& grid,
                                       const Access& access) const
{
    std::int32_t first = kNone;
    const auto look = [&](const Cell& cell) {
        const auto found = std::find_if(cell.begin(), cell.end(), [&](std::int32_t position) {
            return conflicts(m_all[static_cast<std::size_t>(position)], access);
        });
        first = found == cell.end() ? first : std::min(first, *found);
    };
    const auto lookAtAll = [&] {
        for (const auto& [hash, cell] : grid.cells) {
            look(cell);
        }
        return first;
    };
    if (isAll(access.place)) {
        return lookAtAll();
    }
    const Reach& reach = reachOf(access.place);
    std::vector<std::int64_t> from, to;
    double cells = 1;
    for (std::size_t axis = 0; axis < kind.shifts.size(); ++axis) {
        const int shift = kind.shifts[axis];
        from.push_back((reach.start[axis] - (std::int64_t{1} << shift) + 1) >> shift);
        to.push_back((reach.stop[axis] - 1) >> shift);
        cells *= static_cast<double>(to.back() - from.back() + 1);
    }
    if (cells > static_cast<double>(grid.count)) {
        return lookAtAll();
    }
    std::vector<std::int64_t> at = from;
    while (true) {
        std::uint64_t hash = 0;
        for (const std::int64_t number : at) {
            hash = mixed(hash, number);
        }
        if (const auto cell = grid.cells.find(hash); cell != grid.cells.end()) {
            look(cell->second);
        }
        std::size_t axis = at.size();
        while (axis > 0 && at[axis - 1] >= to[axis - 1]) {
            --axis;
            at[axis] = from[axis];
        }
        if (axis == 0) {
            return first;
        }
        ++at[axis - 1];
    }
}

const UnderwayAccess* UnderwayAccesses::conflict(const Access& access) const
{
    if (!isIndexed()) {
        const auto found = std::find_if(m_all.begin(), m_all.end(), [&](const Entry& entry) {
            return conflicts(entry, access);
        });
        return found == m_all.end() ? nullptr : &found->what;
    }
    std::int32_t first = kNone;
    for (const std::int32_t position : m_unplaced) {
        if (conflicts(m_all[static_cast<std::size_t>(position)], access)) {
            first = position;
            break;
        }
    }
    for (const auto& [kind, grid] : m_grids) {
        const bool mayConflict =
            grid.count > 0 && (kind.writes || access.writes) && !(kind.adds && access.adds);
        if (mayConflict) {
            first = std::min(first, firstIn(kind, grid, access));
        }
    }
    return first == kNone ? nullptr : &m_all[static_cast<std::size_t>(first)].what;
}

} // namespace pallascope::machine
