// The rounds of loops as one goes through a run by them. Of a loop that several agents run, those
// of one agent count: the others do the same beside it. Building it takes O(rows); each question
// then takes O(log n).
#pragma once

#include "core/trace/row.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::trace {

class LoopRounds
{
public:
    explicit LoopRounds(const Trace& trace); // which it refers to

    // The first agent that runs a loop (row of Info::loops); kNone if no agent does.
    [[nodiscard]] std::int32_t agent(std::int32_t loop) const;
    // How many rounds the loop has in the run, each time that it is entered together.
    [[nodiscard]] std::size_t size(std::int32_t loop) const;
    // The row of one of them, which are numbered from 0 in the order of their begins.
    [[nodiscard]] RoundRow row(std::int32_t loop, std::size_t number) const;
    // How many of them have begun by t.
    [[nodiscard]] std::size_t begunBy(std::int32_t loop, Picoseconds t) const;

    // The rounds of one entry into a loop: numbers [first, last).
    struct Entry
    {
        std::size_t first = 0, last = 0;
    };

    [[nodiscard]] Entry entryOf(std::int32_t loop, std::size_t number) const;

    // The loops by whose rounds one goes through the run: the outermost ones that have more than
    // one round, in program order. Of loops that agents run beside each other, such as those of
    // warpgroups with different tasks, the one of the first agent. Empty if there is none.
    [[nodiscard]] const std::vector<std::int32_t>& outermost() const { return m_outermost; }

    struct Place
    {
        std::int32_t loop = 0;
        std::size_t number = 0, of = 1;     // the round among all of the loop in the run
        std::int64_t round = 0, rounds = 1; // the same within its entry into the loop
        RoundRow row;
        bool isOver = false; // it has ended: the run goes on behind it, or has not come to it yet
    };

    // The round that has begun last by t, of the marked loop, or of the outermost ones for kNone;
    // the first one for earlier times. Absent without such rounds.
    [[nodiscard]] std::optional<Place> at(std::int32_t marked, Picoseconds t) const;

    // The loops to go by: the marked one, or the outermost ones for kNone.
    [[nodiscard]] std::vector<std::int32_t> chosen(std::int32_t marked) const;

private:
    void leaveOutBesides(); // of m_outermost, what runs beside the loops of the first agent

    [[nodiscard]] const std::vector<std::int32_t>& rowsOf(std::int32_t loop) const
    {
        return m_rows[static_cast<std::size_t>(loop)];
    }

    const Trace* m_trace;
    std::vector<std::vector<std::int32_t>> m_rows;   // by loop
    std::vector<std::vector<std::size_t>> m_entries; // by loop: the numbers of first rounds
    std::vector<std::int32_t> m_outermost;
};

// The outermost of these loops that have more than one round, in program order.
[[nodiscard]] std::vector<std::int32_t> outermostOf(const std::vector<Loop>& loops,
                                                    const std::vector<std::int64_t>& rounds);

// The name by which people and commands call a loop. Loops of one name are told apart by their
// numbers, "body#1".
[[nodiscard]] std::string loopName(const std::vector<Loop>& loops, std::int32_t loop);
// The loop of this name. The error lists those that there are.
[[nodiscard]] Result<std::int32_t> findLoop(const std::vector<Loop>& loops,
                                            const std::string& name);

} // namespace pallascope::trace
