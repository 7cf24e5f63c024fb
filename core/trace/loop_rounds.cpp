#include "core/trace/loop_rounds.h"

#include "core/base/format.h"
#include "core/trace/columns.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::trace {

LoopRounds::LoopRounds(const Trace& trace)
    : m_trace(&trace)
    , m_rows(trace.info().loops.size())
    , m_entries(trace.info().loops.size())
{
    const Rounds& rounds = trace.rounds();
    std::vector<std::int32_t> agents(m_rows.size(), kNone);
    for (std::size_t row = 0; row < rounds.size(); ++row) {
        std::int32_t& agent = agents[trace::at(rounds.loop[row])];
        agent = agent == kNone ? rounds.agent[row] : std::min(agent, rounds.agent[row]);
    }
    for (std::size_t row = 0; row < rounds.size(); ++row) {
        const std::size_t loop = trace::at(rounds.loop[row]);
        if (rounds.agent[row] != agents[loop]) {
            continue;
        }
        if (rounds.round[row] == 0) {
            m_entries[loop].push_back(m_rows[loop].size());
        }
        m_rows[loop].push_back(static_cast<std::int32_t>(row));
    }
    std::vector<std::int64_t> counts;
    for (const std::vector<std::int32_t>& rows : m_rows) {
        counts.push_back(static_cast<std::int64_t>(rows.size()));
    }
    m_outermost = outermostOf(trace.info().loops, counts);
    leaveOutBesides();
}

void LoopRounds::leaveOutBesides()
{
    const auto spanOf = [&](std::int32_t loop) {
        const Rounds& rounds = m_trace->rounds();
        return std::pair(rounds.begin[trace::at(rowsOf(loop).front())],
                         rounds.end[trace::at(rowsOf(loop).back())]);
    };
    const auto lead =
        std::ranges::min_element(m_outermost, {}, [&](std::int32_t loop) { return agent(loop); });
    if (lead == m_outermost.end()) {
        return;
    }
    const std::int32_t leader = agent(*lead);
    std::vector<std::pair<std::int64_t, std::int64_t>> led;
    for (const std::int32_t loop : m_outermost) {
        if (agent(loop) == leader) {
            led.push_back(spanOf(loop));
        }
    }
    std::erase_if(m_outermost, [&](std::int32_t loop) {
        const auto its = spanOf(loop);
        return agent(loop) != leader && std::ranges::any_of(led, [&its](const auto& other) {
                   return its.first < other.second && other.first < its.second;
               });
    });
}

std::int32_t LoopRounds::agent(std::int32_t loop) const
{
    const std::vector<std::int32_t>& rows = rowsOf(loop);
    return rows.empty() ? kNone : m_trace->rounds().agent[trace::at(rows.front())];
}

std::size_t LoopRounds::size(std::int32_t loop) const
{
    return rowsOf(loop).size();
}

RoundRow LoopRounds::row(std::int32_t loop, std::size_t number) const
{
    return RoundRow{rowsOf(loop)[number]};
}

std::size_t LoopRounds::begunBy(std::int32_t loop, Picoseconds t) const
{
    const std::vector<std::int32_t>& rows = rowsOf(loop);
    const auto after = std::upper_bound(rows.begin(), rows.end(), t.value(),
                                        [&](std::int64_t time, std::int32_t row) {
                                            return time < m_trace->rounds().begin[trace::at(row)];
                                        });
    return trace::at(after - rows.begin());
}

LoopRounds::Entry LoopRounds::entryOf(std::int32_t loop, std::size_t number) const
{
    const std::vector<std::size_t>& entries = m_entries[trace::at(loop)];
    const auto after = std::upper_bound(entries.begin(), entries.end(), number);
    return {*(after - 1), after == entries.end() ? rowsOf(loop).size() : *after};
}

std::vector<std::int32_t> LoopRounds::chosen(std::int32_t marked) const
{
    const bool exists = marked >= 0 && trace::at(marked) < m_rows.size();
    return exists && !rowsOf(marked).empty() ? std::vector<std::int32_t>{marked} : m_outermost;
}

std::optional<LoopRounds::Place> LoopRounds::at(std::int32_t marked, Picoseconds t) const
{
    const Rounds& rounds = m_trace->rounds();
    std::optional<Place> found;
    for (const std::int32_t loop : chosen(marked)) {
        const std::size_t begun = begunBy(loop, t);
        Place place{.loop = loop, .number = begun == 0 ? 0 : begun - 1, .of = size(loop)};
        place.row = row(loop, place.number);
        const std::size_t row = place.row.index();
        const Entry entry = entryOf(loop, place.number);
        place.round = rounds.round[row];
        place.rounds = static_cast<std::int64_t>(entry.last - entry.first);
        place.isOver = begun == 0 || rounds.end[row] <= t.value();
        // Before all of them it is the one that begins first, later the one that has begun last.
        const auto begin = [&](const Place& one) { return rounds.begin[one.row.index()]; };
        const bool foundHasBegun = found && begin(*found) <= t.value();
        const bool isBetter = !found
                              || (begun > 0 && (!foundHasBegun || begin(place) >= begin(*found)))
                              || (begun == 0 && !foundHasBegun && begin(place) < begin(*found));
        if (isBetter) {
            found = place;
        }
    }
    return found;
}

std::vector<std::int32_t> outermostOf(const std::vector<Loop>& loops,
                                      const std::vector<std::int64_t>& rounds)
{
    std::vector<std::int32_t> outermost;
    std::vector<bool> isTaken(loops.size(), false); // it, or a loop around it
    for (std::size_t loop = 0; loop < loops.size(); ++loop) {
        const std::int32_t parent = loops[loop].parent;
        const bool isInside = parent != kNone && isTaken[at(parent)];
        isTaken[loop] = isInside || rounds[loop] > 1;
        if (isTaken[loop] && !isInside) {
            outermost.push_back(static_cast<std::int32_t>(loop));
        }
    }
    return outermost;
}

std::string loopName(const std::vector<Loop>& loops, std::int32_t loop)
{
    const std::string& name = loops[at(loop)].name;
    const auto isNamed = [&](const Loop& other) { return other.name == name; };
    if (std::count_if(loops.begin(), loops.end(), isNamed) == 1) {
        return name;
    }
    return fmt::format("{}#{}", name, std::count_if(loops.begin(), loops.begin() + loop, isNamed));
}

Result<std::int32_t> findLoop(const std::vector<Loop>& loops, const std::string& name)
{
    std::vector<std::string> names;
    for (std::size_t loop = 0; loop < loops.size(); ++loop) {
        names.push_back(loopName(loops, static_cast<std::int32_t>(loop)));
        if (names.back() == name) {
            return static_cast<std::int32_t>(loop);
        }
    }
    return userError("There is no loop \"" + name + "\""
                     + (names.empty() ? ": no loop of the program copies or waits."
                                      : "; expected " + orList(names) + "."));
}

} // namespace pallascope::trace
