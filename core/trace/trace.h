// The record of one run: columns, sorted per track, immutable once finished. Written only by
// TraceBuilder; read by analysis, views and file formats. Times are picoseconds from the start.
#pragma once

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/trace/info.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pallascope::trace {

// Absent index in a column.
inline constexpr std::int32_t kNone = -1;

// One row per grid step, sorted by begin. Steps of a pipeline inside another's body lie inside a
// step of that, and those of several agents beside each other. A step begins when its copy-ins are
// issued and ends when its overhead and waits are over, where the next one of its pipeline begins.
// begin <= bodyBegin <= bodyEnd <= end; waits for copy-ins lie before bodyBegin.
struct Steps
{
    std::vector<std::int32_t> pipeline;
    std::vector<std::int64_t> ordinal; // within its pipeline: the grid point in lexicographic order
    std::vector<std::int64_t> begin, bodyBegin, bodyEnd, end; // ps

    [[nodiscard]] std::size_t size() const { return begin.size(); }

    bool operator==(const Steps&) const = default;
};

// One row per executed segment, sorted by begin (one agent: they never overlap).
// It lasts templates[templateId].duration.
struct Segments
{
    std::vector<std::int32_t> templateId;
    std::vector<std::int32_t> agent;
    std::vector<std::int32_t> step;  // row of Steps, kNone outside any step
    std::vector<std::int64_t> begin; // ps

    [[nodiscard]] std::size_t size() const { return begin.size(); }

    bool operator==(const Segments&) const = default;
};

// One row per block copy, in issue order, which on a FIFO link is also start and end order.
struct Copies
{
    std::vector<std::int32_t> operand;
    std::vector<std::int64_t> block; // row-major block number in the operand's array
    std::vector<std::int32_t> slot;
    std::vector<std::uint8_t> out; // 0: into on-chip memory, 1: out of it
    std::vector<std::int32_t> link;
    std::vector<std::int32_t> step;  // row of Steps that issued it, kNone: prologue or epilogue
    std::vector<std::int64_t> bytes; // moved, tile rounding at array edges included
    std::vector<std::int64_t> issue, start,
        end; // ps; issue <= start < end (start == end only for 0 bytes)

    [[nodiscard]] std::size_t size() const { return issue.size(); }

    bool operator==(const Copies&) const = default;
};

// One row per executed wait (also those that take no time), sorted by begin. By hand an agent waits
// on a semaphore, and `copy` is the last one that signalled it, if any did.
struct Waits
{
    std::vector<std::int32_t> copy;      // the copy waited for: row of Copies, kNone: none
    std::vector<std::int32_t> semaphore; // row of Info::semaphores; kNone: a pipeline's copy
                                         // (without a copy: a delay, or the other cores). Empty
                                         // while the program has no semaphores
    std::vector<std::int32_t> operation; // row of Info::operations that waits by hand; kNone: a
                                         // pipeline or cores do. Empty while nothing waits by hand
    std::vector<std::int32_t> agent;
    std::vector<std::int32_t> step;       // row of Steps; kNone: prologue, epilogue
    std::vector<std::int64_t> begin, end; // ps

    [[nodiscard]] std::size_t size() const { return begin.size(); }

    bool operator==(const Waits&) const = default;
};

// One row per change of a semaphore, in order: a copy that has landed or a signal (above 0), or
// what a wait takes (below).
struct Signals
{
    std::vector<std::int32_t> semaphore; // row of Info::semaphores
    std::vector<std::int32_t> agent;
    std::vector<std::int64_t> time; // ps
    std::vector<std::int64_t> amount;

    [[nodiscard]] std::size_t size() const { return time.size(); }

    bool operator==(const Signals&) const = default;
};

// Which block an operand's slot holds for which steps: one row per stay, sorted by (operand, step).
struct Visits
{
    std::vector<std::int32_t> operand;
    std::vector<std::int32_t> firstStep; // row of Steps
    std::vector<std::int32_t> lastStep;  // row of Steps, inclusive
    std::vector<std::int64_t> block;
    std::vector<std::int32_t> slot;
    std::vector<std::int32_t> copyIn; // row of Copies that brought it, kNone: no copy did (outputs,
                                      // and blocks that were there before the pipeline)
    std::vector<std::int32_t> copyOut; // row of Copies that took it back, kNone for inputs

    [[nodiscard]] std::size_t size() const { return block.size(); }

    bool operator==(const Visits&) const = default;
};

class Trace
{
public:
    [[nodiscard]] const Info& info() const { return m_info; }

    [[nodiscard]] const Steps& steps() const { return m_steps; }

    [[nodiscard]] const Segments& segments() const { return m_segments; }

    [[nodiscard]] const Copies& copies() const { return m_copies; }

    [[nodiscard]] const Waits& waits() const { return m_waits; }

    [[nodiscard]] const Visits& visits() const { return m_visits; }

    [[nodiscard]] const Signals& signals() const { return m_signals; }

    [[nodiscard]] Picoseconds end() const { return m_end; } // the run's whole length

    bool operator==(const Trace&) const = default;

private:
    friend class TraceBuilder; // the only writer
    Trace() = default;

    Info m_info;
    Steps m_steps;
    Segments m_segments;
    Copies m_copies;
    Waits m_waits;
    Visits m_visits;
    Signals m_signals;
    Picoseconds m_end;
};

// That an info keeps the rules which its comments state, as TraceBuilder::finish asks.
[[nodiscard]] Status checkInfo(const Info& info);

// Collects rows, then checks them and gives them away as a Trace.
class TraceBuilder
{
public:
    Info info;
    Steps steps;
    Segments segments;
    Copies copies;
    Waits waits;
    Visits visits;
    Signals signals;
    Picoseconds end;

    // Validates every rule that the column comments state (sorted, non-overlapping per track,
    // indices in range, times within [0, end], per-link FIFO) and moves the columns into the trace.
    // The error names the column and row; a file that breaks a rule is bad input, a run that does
    // is a bug. `checked`: an info that checkInfo found right; lists that `info` shares with it are
    // not looked through again.
    [[nodiscard]] Result<std::shared_ptr<const Trace>> finish(const Info* checked = nullptr) &&;
};

} // namespace pallascope::trace
