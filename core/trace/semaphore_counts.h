// What each semaphore of a run counts at any time, and when the waits on it have taken how much.
#pragma once

#include "core/trace/row.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::trace {

// Whether a semaphore (row of Info::semaphores) is a barrier of a GPU's block.
[[nodiscard]] bool isBarrier(const Info& info, std::int32_t semaphore);

class SemaphoreCounts
{
public:
    // Reads every row of Signals once. Use Index::semaphores, which keeps the result.
    explicit SemaphoreCounts(const Trace& trace);

    // Whether anything changes the semaphore (row of Info::semaphores) during the run.
    [[nodiscard]] bool isUsed(std::int32_t semaphore) const;
    // Its count at t, in O(log n).
    [[nodiscard]] std::int64_t countAt(std::int32_t semaphore, Picoseconds t) const;
    // What its first `signals` signals have added; with fewer signals, all of them.
    [[nodiscard]] std::int64_t added(std::int32_t semaphore, std::size_t signals) const;
    // When waits have taken this much in all; empty if they never do.
    [[nodiscard]] std::optional<Picoseconds> takenAt(std::int32_t semaphore,
                                                     std::int64_t amount) const;

    // How often waits, or phases of a barrier that completed, have taken something by t; and what
    // the first one of the run takes, 0 if none does.
    [[nodiscard]] std::int64_t takesBy(std::int32_t semaphore, Picoseconds t) const;
    [[nodiscard]] std::int64_t firstTaken(std::int32_t semaphore) const;
    // When that happens for the first time at t or later; empty if it does not.
    [[nodiscard]] std::optional<Picoseconds> nextTake(std::int32_t semaphore, Picoseconds t) const;

private:
    // Sums are unsigned so that a hostile file that overflows them only makes them wrap.
    struct History
    {
        std::vector<std::int64_t> time; // of each change
        std::vector<std::int64_t> count;
        std::vector<std::int64_t> added;            // after each signal
        std::vector<std::int64_t> takenTime, taken; // after each wait
    };

    [[nodiscard]] const History& of(std::int32_t semaphore) const;

    std::vector<History> m_all; // for each row of Info::semaphores
};

// The wait that holds an agent on a semaphore at t, if one does.
[[nodiscard]] OptionalRow<WaitRow> waitOn(const Trace& trace, std::int32_t semaphore,
                                          Picoseconds t);

} // namespace pallascope::trace
