#include "core/machine/state/races.h"

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

void Races::fork(std::int32_t parent, std::int32_t first, std::int32_t count)
{
    const auto all =
        std::max(m_clocks.size(), static_cast<std::size_t>(std::max(parent + 1, first + count)));
    m_clocks.resize(all);
    for (VectorClock& clock : m_clocks) {
        clock.resize(all, 0);
    }
    for (std::int32_t agent = first; agent < first + count; ++agent) {
        if (agent != parent) {
            learn(clock(agent), clock(parent));
            ++clock(agent)[static_cast<std::size_t>(agent)];
        }
    }
    ++clock(parent)[static_cast<std::size_t>(parent)];
}

void Races::join(std::int32_t parent, std::int32_t first, std::int32_t count)
{
    if (parent == 0
        && m_clocks.size() == static_cast<std::size_t>(first + count)) { // no other agent runs
        m_clocks.resize(1);
        m_clocks.front().resize(1);
        m_past.clear(); // everything so far is ordered before what follows
        return;
    }
    for (std::int32_t agent = first; agent < first + count; ++agent) {
        if (agent != parent) {
            learn(clock(parent), clock(agent));
        }
    }
}

std::optional<Race> Races::againstCopies(const Access& access) const
{
    const auto buffer = static_cast<std::size_t>(access.buffer);
    if (buffer >= m_copies.size()) {
        return std::nullopt;
    }
    for (const CopyAccess& other : m_copies[buffer]) {
        const bool ordered =
            !(access.writes || other.access.writes) || (access.adds && other.access.adds);
        if (!ordered && mayMeet(access.place, other.access.place)) {
            return Race{
                true,        other.access.writes, access.writes,         other.copy,
                other.agent, other.access.step,   other.access.location, other.access.byPipeline};
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
    const VectorClock& known = m_clocks[static_cast<std::size_t>(agent)];
    const Past* other = m_past[buffer].writes.conflict(agent, known, reach, access.adds);
    const bool writes = other != nullptr;
    if (other == nullptr && access.writes) {
        other = m_past[buffer].reads.conflict(agent, known, reach, false);
    }
    if (other == nullptr) {
        return std::nullopt;
    }
    return Race{false, writes, access.writes, {}, other->agent, other->step, other->location};
}

void Races::remember(std::int32_t agent, const Access& access,
                     trace::OptionalRow<trace::CopyRow> copy)
{
    const std::int64_t start = startOf(reachOf(access.place));
    History& history = of(m_past, access.buffer);
    (access.writes ? history.writes : history.reads)
        .add({agent, clock(agent)[static_cast<std::size_t>(agent)], start, access.place.reach,
              access.step, access.location, access.adds, copy});
}

std::optional<Race> Races::access(std::int32_t agent, const Access& access)
{
    std::optional<Race> race = againstCopies(access);
    if (isShared() && !access.isUncontested && !isAll(access.place)) {
        if (!race) {
            race = againstAgents(agent, access, reachOf(access.place));
        }
        remember(agent, access);
    }
    return race;
}

std::optional<Race> Races::start(std::int32_t agent, trace::CopyRow copy, Access read, Access write)
{
    std::optional<Race> race;
    for (const Access* access : {&read, &write}) {
        if (race || access->buffer < 0) {
            continue;
        }
        race = againstCopies(*access);
        if (!race && isShared() && !access->isUncontested && !isAll(access->place)) {
            race = againstAgents(agent, *access, reachOf(access->place));
        }
    }
    const std::int32_t from = read.buffer, to = write.buffer;
    if (from >= 0) {
        of(m_copies, from).push_back({copy, to, agent, std::move(read)});
    }
    of(m_copies, to).push_back({copy, from, agent, std::move(write)});
    return race;
}

std::vector<Races::CopyAccess>::iterator Races::find(std::vector<CopyAccess>& copies,
                                                     trace::CopyRow copy)
{
    return std::find_if(copies.begin(), copies.end(),
                        [&](const CopyAccess& one) { return one.copy == copy; });
}

void Races::await(std::int32_t agent, const AwaitedCopy& copy)
{
    for (const std::int32_t buffer : {copy.from, copy.to}) {
        if (buffer < 0) {
            continue;
        }
        std::vector<CopyAccess>& copies = of(m_copies, buffer);
        const auto one = find(copies, *copy.copy);
        if (one == copies.end()) {
            continue;
        }
        if (isShared() && !one->access.isUncontested && !isAll(one->access.place)) {
            remember(agent, one->access, copy.copy);
        }
        copies.erase(one);
    }
}

Races::Settled Races::settle(std::int32_t agent, const AwaitedCopy& copy)
{
    Settled settled{agent, clock(agent)[static_cast<std::size_t>(agent)], {}, {}};
    for (const std::int32_t buffer : {copy.from, copy.to}) {
        if (buffer < 0) {
            continue;
        }
        std::vector<CopyAccess>& copies = of(m_copies, buffer);
        if (const auto one = find(copies, *copy.copy); one != copies.end()) {
            settled.ends.push_back(*one);
            settled.lives.push_back(of(m_lives, buffer));
        }
    }
    await(agent, copy);
    return settled;
}

bool Races::knows(std::int32_t agent, const Settled& settled) const
{
    const VectorClock& clock = m_clocks[static_cast<std::size_t>(agent)];
    const auto waited = static_cast<std::size_t>(settled.agent);
    return agent == settled.agent || (waited < clock.size() && clock[waited] >= settled.epoch);
}

void Races::doubt(const CopyAccess& end, const VectorClock& started,
                  std::vector<Doubt>& doubts) const
{
    const Access& mine = end.access;
    const auto add = [&](const Accessor& accessor, bool writes) {
        doubts.push_back({{true, mine.writes, writes, end.copy, end.agent, mine.step, mine.location,
                           mine.byPipeline},
                          accessor,
                          mine.writes});
    };
    const auto buffer = static_cast<std::size_t>(mine.buffer);
    for (const CopyAccess& other : m_copies[buffer]) {
        const bool ordered =
            !(mine.writes || other.access.writes) || (mine.adds && other.access.adds);
        if (!ordered && mayMeet(mine.place, other.access.place)) {
            add({other.agent, other.copy, other.access.step, other.access.location},
                other.access.writes);
        }
    }
    if (buffer >= m_past.size() || mine.isUncontested || isAll(mine.place)) {
        return;
    }
    const auto addAll = [&](const PastAccesses& past, bool writes) {
        for (const Past* other :
             past.conflicts(started, reachOf(mine.place), writes && mine.adds)) {
            if (other->copy != end.copy) { // else the copy itself, as the wait remembered it
                add({other->agent, other->copy, other->step, other->location}, writes);
            }
        }
    };
    addAll(m_past[buffer].writes, true);
    if (mine.writes) {
        addAll(m_past[buffer].reads, false);
    }
}

std::vector<Races::Doubt> Races::doubt(Settled settled, const VectorClock& started)
{
    std::vector<Doubt> doubts;
    for (std::size_t i = 0; i < settled.ends.size(); ++i) {
        CopyAccess& end = settled.ends[i];
        if (of(m_lives, end.access.buffer) != settled.lives[i]) {
            continue; // the memory is somebody else's by now
        }
        doubt(end, started, doubts);
        of(m_copies, end.access.buffer).push_back(std::move(end));
    }
    return doubts;
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

void Races::synchronise(std::int32_t agent, std::int32_t buffer, std::int64_t element)
{
    VectorClock& known = m_atomic[{buffer, element}];
    wait(agent, known);
    signal(agent, known);
}

std::vector<Race> Races::unawaited(std::int32_t buffer) const
{
    std::vector<Race> found;
    const auto at = static_cast<std::size_t>(buffer);
    for (std::size_t i = 0; at < m_copies.size() && i < m_copies[at].size(); ++i) {
        const auto& [copy, otherBuffer, agent, access] = m_copies[at][i];
        found.push_back({true, access.writes, false, copy, agent, access.step, access.location,
                         access.byPipeline});
    }
    return found;
}

void Races::forget(std::int32_t buffer)
{
    const auto at = static_cast<std::size_t>(buffer);
    if (at < m_copies.size() && !m_copies[at].empty()) {
        for (const CopyAccess& one : std::exchange(m_copies[at], {})) {
            if (one.otherBuffer >= 0) {
                std::vector<CopyAccess>& others = of(m_copies, one.otherBuffer);
                if (const auto other = find(others, one.copy); other != others.end()) {
                    others.erase(other);
                }
            }
        }
    }
    m_atomic.erase(m_atomic.lower_bound({buffer, 0}), m_atomic.lower_bound({buffer + 1, 0}));
    if (at < m_past.size()) {
        m_past[at] = {};
    }
    ++of(m_lives, buffer);
}

void Races::enter(std::int32_t agent)
{
    of(m_entered, agent) = clock(agent)[static_cast<std::size_t>(agent)];
}

bool Races::knowsEntry(std::int32_t agent, std::int32_t other) const
{
    const auto at = static_cast<std::size_t>(other);
    return at >= m_entered.size() || m_clocks[static_cast<std::size_t>(agent)][at] >= m_entered[at];
}

} // namespace pallascope::machine
