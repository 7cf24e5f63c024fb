#include "core/machine/races.h"

#include <algorithm>
#include <utility>

namespace pallascope::machine {

void learn(VectorClock& clock, const VectorClock& other)
{
    clock.resize(std::max(clock.size(), other.size()), 0);
    for (std::size_t i = 0; i < other.size(); ++i) {
        clock[i] = std::max(clock[i], other[i]);
    }
}

namespace {

// The axes of the array that a block lies in, or the place itself.
Reach spelledOut(const Place& place)
{
    if (place.operand == nullptr) {
        return reachOf(place.located->ref, place.located->memory);
    }
    Box box = place.operand->box(place.block);
    if (!place.located) { // of the whole array
        for (std::size_t axis = 0; axis < box.start.size(); ++axis) {
            box.size[axis] += box.start[axis];
        }
        return {std::move(box.start), std::move(box.size)};
    }
    std::vector<Window> windows;
    for (std::size_t axis = 0; axis < box.start.size(); ++axis) {
        windows.push_back({box.start[axis], box.size[axis], 1, true});
    }
    const Shape& memory = place.located->memory;
    return reachOf(narrowed(place.located->ref, memory, windows), memory);
}

const Reach& reach(const Place& place)
{
    if (!place.reach) {
        place.reach = spelledOut(place);
    }
    return *place.reach;
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
    return isAll(a) || isAll(b) || overlap(reach(a), reach(b));
}

} // namespace

void Races::fork(std::int32_t first, std::int32_t count)
{
    const auto all = std::max(m_clocks.size(), static_cast<std::size_t>(first + count));
    m_clocks.resize(all);
    for (VectorClock& clock : m_clocks) {
        clock.resize(all, 0);
    }
    for (std::int32_t agent = first + 1; agent < first + count; ++agent) {
        learn(clock(agent), clock(first));
        ++clock(agent)[static_cast<std::size_t>(agent)];
    }
    ++clock(first)[static_cast<std::size_t>(first)];
}

void Races::join(std::int32_t first, std::int32_t count)
{
    if (m_clocks.size() == static_cast<std::size_t>(count)) { // there is no other agent
        m_clocks.resize(1);
        m_clocks.front().resize(1);
        m_past.clear(); // everything is ordered before what follows
        return;
    }
    for (std::int32_t agent = first + 1; agent < first + count; ++agent) {
        learn(clock(first), clock(agent));
    }
}

std::optional<Race> Races::againstCopies(const Access& access) const
{
    const auto buffer = static_cast<std::size_t>(access.buffer);
    if (buffer >= m_copies.size()) {
        return std::nullopt;
    }
    for (const CopyAccess& other : m_copies[buffer]) {
        if ((access.writes || other.access.writes) && mayMeet(access.place, other.access.place)) {
            return Race{true, other.access.writes, access.writes,        other.copy,
                        -1,   other.access.step,   other.access.location};
        }
    }
    return std::nullopt;
}

std::optional<Race> Races::conflict(std::int32_t agent, const Access& access, const Reach& reach,
                                    const PastAccesses& past, bool writes) const
{
    const VectorClock& known = m_clocks[static_cast<std::size_t>(agent)];
    const std::int64_t start = reach.start.empty() ? 0 : reach.start[0],
                       stop = reach.stop.empty() ? 1 : reach.stop[0];
    for (auto it = past.byStart.upper_bound(start - past.longest);
         it != past.byStart.end() && it->first < stop; ++it) {
        const Past& other = it->second;
        if (other.agent != agent && other.epoch > known[static_cast<std::size_t>(other.agent)]
            && overlap(other.reach, reach)) {
            return Race{false, writes, access.writes, -1, other.agent, other.step, other.location};
        }
    }
    return std::nullopt;
}

std::optional<Race> Races::againstAgents(std::int32_t agent, const Access& access,
                                         const Reach& reach) const
{
    const auto buffer = static_cast<std::size_t>(access.buffer);
    if (buffer >= m_past.size()) {
        return std::nullopt;
    }
    std::optional<Race> race = conflict(agent, access, reach, m_past[buffer].writes, true);
    if (!race && access.writes) {
        race = conflict(agent, access, reach, m_past[buffer].reads, false);
    }
    return race;
}

void Races::remember(std::int32_t agent, const Access& access, Reach reach)
{
    History& history = of(m_past, access.buffer);
    PastAccesses& past = access.writes ? history.writes : history.reads;
    const std::uint32_t epoch = clock(agent)[static_cast<std::size_t>(agent)];
    const std::int64_t start = reach.start.empty() ? 0 : reach.start[0];
    const auto [first, last] = past.byStart.equal_range(start);
    for (auto it = first; it != last; ++it) {
        Past& same = it->second;
        if (same.agent == agent && same.reach.start == reach.start
            && same.reach.stop == reach.stop) {
            same.epoch = epoch; // what is not ordered after the later is not after the earlier
            return;
        }
    }
    past.longest = std::max(past.longest, (reach.stop.empty() ? 1 : reach.stop[0]) - start);
    past.byStart.emplace(start, Past{agent, epoch, std::move(reach), access.step, access.location});
}

std::optional<Race> Races::access(std::int32_t agent, const Access& access)
{
    std::optional<Race> race = againstCopies(access);
    if (isShared() && !access.isUncontested && !isAll(access.place)) {
        Reach where = reach(access.place);
        if (!race) {
            race = againstAgents(agent, access, where);
        }
        remember(agent, access, std::move(where));
    }
    return race;
}

std::optional<Race> Races::start(std::int32_t agent, std::int32_t copy, Access read, Access write)
{
    std::optional<Race> race;
    for (const Access* access : {&read, &write}) {
        if (race) {
            break;
        }
        race = againstCopies(*access);
        if (!race && isShared() && !access->isUncontested && !isAll(access->place)) {
            race = againstAgents(agent, *access, reach(access->place));
        }
    }
    const std::int32_t from = read.buffer, to = write.buffer;
    of(m_copies, from).push_back({copy, to, std::move(read)});
    of(m_copies, to).push_back({copy, from, std::move(write)});
    return race;
}

std::optional<Races::CopyAccess> Races::take(std::int32_t buffer, std::int32_t copy)
{
    std::vector<CopyAccess>& copies = of(m_copies, buffer);
    const auto found = std::find_if(copies.begin(), copies.end(),
                                    [&](const CopyAccess& one) { return one.copy == copy; });
    if (found == copies.end()) {
        return std::nullopt;
    }
    CopyAccess taken = std::move(*found);
    copies.erase(found);
    return taken;
}

void Races::await(std::int32_t agent, const AwaitedCopy& copy)
{
    for (const std::int32_t buffer : {copy.from, copy.to}) {
        if (buffer < 0) {
            continue;
        }
        const std::optional<CopyAccess> one = take(buffer, copy.copy);
        if (one && isShared() && !one->access.isUncontested && !isAll(one->access.place)) {
            remember(agent, one->access, reach(one->access.place));
        }
    }
}

void Races::signal(std::int32_t agent, VectorClock& semaphore)
{
    learn(semaphore, clock(agent));
    ++clock(agent)[static_cast<std::size_t>(agent)];
}

void Races::wait(std::int32_t agent, const VectorClock& semaphore)
{
    learn(clock(agent), semaphore);
}

void Races::forget(std::int32_t buffer)
{
    const auto at = static_cast<std::size_t>(buffer);
    if (at < m_copies.size()) {
        for (const CopyAccess& one : std::exchange(m_copies[at], {})) {
            (void)take(one.otherBuffer, one.copy);
        }
    }
    if (at < m_past.size()) {
        m_past[at] = {};
    }
}

} // namespace pallascope::machine
