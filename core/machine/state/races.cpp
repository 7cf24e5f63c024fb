#include "core/machine/state/races.h"

#include <algorithm>
#include <utility>

namespace pallascope::machine {

namespace {

Race raceWith(const UnderwayAccess& other, const Access& access)
{
    Race race{true, other.access.writes, access.writes};
    race.copy = other.mover.copy;
    race.agent = other.agent;
    race.step = other.access.step;
    race.location = other.access.location;
    race.ofPipeline = other.access.byPipeline;
    return race;
}

} // namespace

void Races::fork(std::int32_t parent, std::int32_t first, std::int32_t count)
{
    m_clocks.resize(
        std::max(m_clocks.size(), static_cast<std::size_t>(std::max(parent + 1, first + count))));
    for (std::int32_t agent = first; agent < first + count; ++agent) {
        if (agent != parent) {
            clock(agent).learn(clock(parent));
            release(agent);
        }
    }
    release(parent);
}

void Races::join(std::int32_t parent, std::int32_t first, std::int32_t count)
{
    if (parent == 0
        && m_clocks.size() == static_cast<std::size_t>(first + count)) { // no other agent runs
        m_clocks.resize(1);
        m_clocks.front().known.forgetAllBut(0);
        m_clocks.front().committed.clear();
        m_past.clear(); // everything so far is ordered before what follows
        return;
    }
    for (std::int32_t agent = first; agent < first + count; ++agent) {
        if (agent != parent) {
            clock(parent).learn(clock(agent));
        }
    }
}

void Races::completeAll(std::int32_t first, std::int32_t count)
{
    for (UnderwayAccesses& underway : m_underway) {
        std::vector<Mover> done;
        underway.forEach([&](const UnderwayAccess& one) {
            if (first <= one.agent && one.agent < first + count) {
                done.push_back(one.mover);
            }
        });
        for (const Mover& mover : done) {
            underway.remove(mover);
        }
    }
}

std::optional<Race> Races::againstCopies(const Access& access) const
{
    const auto buffer = static_cast<std::size_t>(access.buffer);
    if (buffer >= m_underway.size() || m_underway[buffer].empty()) {
        return std::nullopt;
    }
    const UnderwayAccess* const other = m_underway[buffer].conflict(access);
    return other == nullptr ? std::nullopt : std::optional(raceWith(*other, access));
}

std::optional<Race> Races::againstAgents(std::int32_t agent, const Access& access) const
{
    const auto buffer = static_cast<std::size_t>(access.buffer);
    if (buffer >= m_past.size() || isAll(access.place)) {
        return std::nullopt;
    }
    const VectorClock& clock = m_clocks[static_cast<std::size_t>(agent)];
    const History& past = m_past[buffer];
    // Looks for one in `writes` and, if it writes itself, in `reads`.
    const auto first = [&](auto find) -> std::optional<Race> {
        const Past* other = find(past.writes, access.adds);
        const bool writes = other != nullptr;
        if (other == nullptr && access.writes) {
            other = find(past.reads, false);
        }
        if (other == nullptr) {
            return std::nullopt;
        }
        Race race{false, writes, access.writes, {}, other->agent, other->step, other->location};
        race.byAwaitedCopy = other->copy.has_value();
        race.isLate = other->epoch == kLate;
        race.isUnordered = race.isLate && other->made > clock.known[other->agent];
        return race;
    };
    std::optional<Race> race;
    if (isShared() && !access.isUncontested) {
        race = first([&](const PastAccesses& accesses, bool adds) {
            return accesses.conflict(agent, clock.known, reachOf(access.place), adds);
        });
    }
    if (!race && access.proxy == Proxy::Async) {
        race = first([&](const PastAccesses& accesses, bool adds) {
            return accesses.uncommitted(clock.committed, reachOf(access.place), adds);
        });
        if (race) {
            race->isUncommitted = true;
        }
    }
    return race;
}

std::optional<Race> Races::check(std::int32_t agent, const Access& access) const
{
    std::optional<Race> race = againstCopies(access);
    if (!race) {
        race = againstAgents(agent, access);
    }
    if (race) {
        race->readsUnwritten = race->writes != race->otherWrites && isUnwritten(access);
    }
    return race;
}

// Copies that nobody has waited for do not count.
bool Races::isUnwritten(const Access& access) const
{
    if (isAll(access.place)) {
        return false; // such accesses are not remembered
    }
    const auto buffer = static_cast<std::size_t>(access.buffer);
    return buffer >= m_past.size()
           || m_past[buffer].writes.conflicts(Epochs(), reachOf(access.place), false).empty();
}

void Races::remember(std::int32_t agent, const Access& access,
                     trace::OptionalRow<trace::CopyRow> copy)
{
    const std::int64_t start = startOf(reachOf(access.place));
    History& history = of(m_past, access.buffer);
    (access.writes ? history.writes : history.reads)
        .add({agent, access.isLate ? kLate : epoch(agent), epoch(agent), start, access.place.reach,
              access.step, access.location, access.adds, access.proxy, copy});
}

void Races::complete(std::int32_t agent, Access access)
{
    access.isLate = false;
    remember(agent, access);
}

std::optional<Race> Races::access(std::int32_t agent, const Access& access)
{
    std::optional<Race> race = check(agent, access);
    if (mayMatter(access)) {
        remember(agent, access);
    }
    return race;
}

std::optional<Race> Races::start(std::int32_t agent, trace::CopyRow copy, Access read, Access write)
{
    std::optional<Race> race;
    for (const Access* access : {&read, &write}) {
        if (!race && access->buffer >= 0) {
            race = check(agent, *access);
        }
    }
    const std::int32_t from = read.buffer, to = write.buffer;
    if (from >= 0) {
        of(m_underway, from).add({{copy}, to, agent, std::move(read)});
    }
    of(m_underway, to).add({{copy}, from, agent, std::move(write)});
    return race;
}

std::optional<std::pair<Race, std::size_t>>
Races::start(std::int32_t agent, std::vector<Access> reads, UnderwayReads& product)
{
    product = {m_products++, {}};
    std::optional<std::pair<Race, std::size_t>> found;
    for (std::size_t i = 0; i < reads.size(); ++i) {
        if (const std::optional<Race> race = check(agent, reads[i]); race && !found) {
            found.emplace(*race, i);
        }
        const std::int32_t buffer = reads[i].buffer;
        product.buffers.push_back(buffer);
        of(m_underway, buffer).add({{{}, product.product}, -1, agent, std::move(reads[i])});
    }
    return found;
}

void Races::finish(std::int32_t agent, const UnderwayReads& product)
{
    for (const std::int32_t buffer : product.buffers) {
        complete(agent, {{}, product.product}, buffer);
    }
}

// From now on, what was under way counts as the agent's.
void Races::complete(std::int32_t agent, const Mover& mover, std::int32_t buffer)
{
    UnderwayAccesses& underway = of(m_underway, buffer);
    const UnderwayAccess* const one = underway.find(mover);
    if (one == nullptr) {
        return;
    }
    if (mayMatter(one->access)) {
        remember(agent, one->access, mover.copy);
    }
    underway.remove(mover);
}

void Races::await(std::int32_t agent, const AwaitedCopy& copy)
{
    for (const std::int32_t buffer : {copy.from, copy.to}) {
        if (buffer >= 0) {
            complete(agent, {copy.copy}, buffer);
        }
    }
}

Races::Settled Races::settle(std::int32_t agent, const AwaitedCopy& copy)
{
    Settled settled{agent, epoch(agent), {}, {}};
    for (const std::int32_t buffer : {copy.from, copy.to}) {
        if (buffer < 0) {
            continue;
        }
        if (const UnderwayAccess* one = of(m_underway, buffer).find({copy.copy})) {
            settled.ends.push_back(*one);
            settled.lives.push_back(of(m_lives, buffer));
        }
    }
    await(agent, copy);
    return settled;
}

bool Races::knows(std::int32_t agent, const Settled& settled) const
{
    return agent == settled.agent || clockOf(agent).known[settled.agent] >= settled.epoch;
}

void Races::doubt(const UnderwayAccess& end, const VectorClock& started,
                  std::vector<Doubt>& doubts) const
{
    const Access& mine = end.access;
    const auto add = [&](const Accessor& accessor, bool writes) {
        doubts.push_back({{true, mine.writes, writes, end.mover.copy, end.agent, mine.step,
                           mine.location, mine.byPipeline},
                          accessor,
                          mine.writes});
    };
    const auto buffer = static_cast<std::size_t>(mine.buffer);
    m_underway[buffer].forEach([&](const UnderwayAccess& other) {
        if (!commute(mine, other.access) && mayMeet(mine.place, other.access.place)) {
            add({other.agent, other.mover.copy, other.access.step, other.access.location},
                other.access.writes);
        }
    });
    if (buffer >= m_past.size() || mine.isUncontested || isAll(mine.place)) {
        return;
    }
    const auto addAll = [&](const PastAccesses& past, bool writes) {
        for (const Past* other :
             past.conflicts(started.known, reachOf(mine.place), writes && mine.adds)) {
            if (other->copy != end.mover.copy) { // else the copy itself, as the wait remembered it
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
        UnderwayAccess& end = settled.ends[i];
        if (of(m_lives, end.access.buffer) != settled.lives[i]) {
            continue; // the memory is somebody else's by now
        }
        doubt(end, started, doubts);
        of(m_underway, end.access.buffer).add(std::move(end));
    }
    return doubts;
}

void Races::signal(std::int32_t agent, VectorClock& semaphore)
{
    semaphore.learn(clock(agent));
    release(agent);
}

void Races::wait(std::int32_t agent, const VectorClock& semaphore)
{
    clock(agent).learn(semaphore);
}

void Races::commit(std::int32_t agent)
{
    clock(agent).committed.learn(clock(agent).known);
    release(agent);
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
    if (const auto at = static_cast<std::size_t>(buffer); at < m_underway.size()) {
        m_underway[at].forEach([&](const UnderwayAccess& one) {
            if (one.mover.copy) {
                found.push_back(raceWith(one, {}));
            }
        });
    }
    return found;
}

std::vector<Race> Races::unknownTo(const Epochs& known, std::int32_t buffer,
                                   const Reach& part) const
{
    std::vector<Race> found;
    const auto at = static_cast<std::size_t>(buffer);
    if (at >= m_past.size()) {
        return found;
    }
    const auto add = [&](const PastAccesses& past, bool writes) {
        for (const Past* one : past.conflicts(known, part, false)) {
            found.push_back(
                {false, writes, false, one->copy, one->agent, one->step, one->location});
        }
    };
    add(m_past[at].reads, false);
    add(m_past[at].writes, true);
    return found;
}

void Races::forget(std::int32_t buffer)
{
    const auto at = static_cast<std::size_t>(buffer);
    if (at < m_underway.size() && !m_underway[at].empty()) {
        std::exchange(m_underway[at], {}).forEach([&](const UnderwayAccess& one) {
            if (one.otherBuffer >= 0) {
                of(m_underway, one.otherBuffer).remove(one.mover);
            }
        });
    }
    m_atomic.erase(m_atomic.lower_bound({buffer, 0}), m_atomic.lower_bound({buffer + 1, 0}));
    m_shares.erase(m_shares.lower_bound({buffer, {}}), m_shares.lower_bound({buffer + 1, {}}));
    if (at < m_past.size()) {
        m_past[at] = {};
    }
    ++of(m_lives, buffer);
}

void Races::enter(std::int32_t agent)
{
    of(m_entered, agent) = epoch(agent);
}

bool Races::knowsEntry(std::int32_t agent, std::int32_t other) const
{
    const auto at = static_cast<std::size_t>(other);
    return at >= m_entered.size() || clockOf(agent).known[other] >= m_entered[at];
}

} // namespace pallascope::machine
