// The record of one run: columns, sorted per track, immutable once finished. Only TraceBuilder
// writes it; analysis, views and file formats read it. Times are picoseconds from the start of the
// run.
#pragma once

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/trace/agent_rows.h"
#include "core/trace/info.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pallascope::trace {

// In a column: no row.
inline constexpr std::int32_t kNone = -1;

// One row for each grid step, sorted by begin. Steps of a nested pipeline lie inside of a step of
// the outer one; steps of several agents lie beside each other. A step begins when its copies in
// are issued. It ends when its overhead and waits are over, which is when the next step of its
// pipeline begins. begin <= bodyBegin <= bodyEnd <= end, and waits for copies in lie before
// bodyBegin.
struct Steps
{
    std::vector<std::int32_t> pipeline;
    // Within its pipeline: the number of the grid point in lexicographic order.
    std::vector<std::int64_t> ordinal;
    std::vector<std::int64_t> begin, bodyBegin, bodyEnd, end; // ps

    [[nodiscard]] std::size_t size() const { return begin.size(); }

    bool operator==(const Steps&) const = default;
};

// One row for each executed segment, sorted by begin. Segments of one agent never overlap. A
// segment lasts templates[templateId].duration.
struct Segments
{
    std::vector<std::int32_t> templateId;
    std::vector<std::int32_t> agent;
    std::vector<std::int32_t> step;  // row of Steps; kNone: outside of steps
    std::vector<std::int64_t> begin; // ps

    [[nodiscard]] std::size_t size() const { return begin.size(); }

    bool operator==(const Segments&) const = default;
};

// One row for each block copied, in the order of issue. On a FIFO link that is also the order of
// start and end.
struct Copies
{
    std::vector<std::int32_t> operand;
    std::vector<std::int64_t> block; // row-major block number in the operand's array
    std::vector<std::int32_t> slot;
    std::vector<std::uint8_t> out; // 0: into on-chip memory, 1: out of it
    std::vector<std::int32_t> link;
    std::vector<std::int32_t> step;  // row of Steps that issued it; kNone: prologue or epilogue
    std::vector<std::int64_t> bytes; // bytes moved, rounded to tiles at array edges
    std::vector<std::int64_t> issue, start,
        end; // ps; issue <= start < end (start == end only for 0 bytes)

    [[nodiscard]] std::size_t size() const { return issue.size(); }

    bool operator==(const Copies&) const = default;
};

// The two ends of every copy that the program itself starts (manual DMA): row 2i is the source and
// row 2i + 1 the target of one copy, in the order of the copies. Empty in older files. An end is a
// box of a buffer or of an array: the box begins at element `first` (row-major) and its extents are
// Info::copiedShapes[shape]. Of listed rows it is the box around all rows that can be listed.
struct CopyEnds
{
    std::vector<std::int32_t> copy;  // row of Copies; each pair has one, ascending
    std::vector<std::int32_t> agent; // in whose memory the end lies
    // Row of Info::buffers, the first one of the scratch; kNone: an argument in HBM, or memory that
    // has no row there. The argument is the array of the copy's operand, unless both ends are in
    // HBM: then that is the array of the source.
    std::vector<std::int32_t> buffer;
    std::vector<std::int64_t> first;
    std::vector<std::int32_t> shape;     // row of Info::copiedShapes
    std::vector<std::int32_t> semaphore; // that its end signals, row of Info::semaphores; kNone

    [[nodiscard]] std::size_t size() const { return copy.size(); }

    bool operator==(const CopyEnds&) const = default;
};

// One row for each executed wait, even if it takes no time, sorted by begin. If a program itself
// waits on a semaphore, `copy` is the last copy that signalled it, if any did.
struct Waits
{
    std::vector<std::int32_t> copy; // row of Copies waited for; kNone: none
    // Row of Info::semaphores; kNone: a pipeline's copy or, if `copy` is kNone too, a delay or
    // other cores. Empty while the program has no semaphores.
    std::vector<std::int32_t> semaphore;
    // Row of Info::operations by which the program waits; kNone: a pipeline or a core waits. Empty
    // while the program itself never waits.
    std::vector<std::int32_t> operation;
    std::vector<std::int32_t> agent;
    std::vector<std::int32_t> step;       // row of Steps; kNone: prologue or epilogue
    std::vector<std::int64_t> begin, end; // ps

    [[nodiscard]] std::size_t size() const { return begin.size(); }

    bool operator==(const Waits&) const = default;
};

// One row for each change of a semaphore, in order. The amount is positive for a signal or a copy
// that has landed, and negative for what a wait takes.
struct Signals
{
    std::vector<std::int32_t> semaphore; // row of Info::semaphores
    std::vector<std::int32_t> agent;
    std::vector<std::int64_t> time; // ps
    std::vector<std::int64_t> amount;

    [[nodiscard]] std::size_t size() const { return time.size(); }

    bool operator==(const Signals&) const = default;
};

// Which block an operand's slot holds for which steps: one row for each visit, sorted by (operand,
// step).
struct Visits
{
    std::vector<std::int32_t> operand;
    std::vector<std::int32_t> firstStep; // row of Steps
    std::vector<std::int32_t> lastStep;  // row of Steps, inclusive
    std::vector<std::int64_t> block;
    std::vector<std::int32_t> slot;
    // Row of Copies that fetched it; kNone: no copy did (outputs, and blocks that were there before
    // the pipeline).
    std::vector<std::int32_t> copyIn;
    std::vector<std::int32_t> copyOut; // row of Copies that wrote it back; kNone for inputs

    [[nodiscard]] std::size_t size() const { return block.size(); }

    bool operator==(const Visits&) const = default;
};

// One row for each round of the loops in Info::loops, sorted by begin; a round comes before those
// inside it. A round ends when the next one begins, or when the loop does: the condition of a while
// loop belongs to the round before it. Rounds of one agent nest or follow each other.
struct Rounds
{
    std::vector<std::int32_t> loop; // row of Info::loops
    std::vector<std::int32_t> agent;
    std::vector<std::int64_t> round;      // from 0 each time that the loop is entered
    std::vector<std::int64_t> begin, end; // ps

    [[nodiscard]] std::size_t size() const { return begin.size(); }

    bool operator==(const Rounds&) const = default;
};

// One row for each block of a grid in Info::blockGrids that has begun, sorted by begin. A block
// that another one has claimed (try_cluster_cancel) begins when it is claimed and ends with the
// block that claimed it. Empty in older files.
struct GridBlocks
{
    std::vector<std::int32_t> grid; // row of Info::blockGrids
    // Blocks of a cluster follow each other, point by point of the grid.
    std::vector<std::int64_t> block;
    std::vector<std::int32_t> agent;      // the first one that runs it
    std::vector<std::uint8_t> claimed;    // 1: by another block
    std::vector<std::int64_t> begin, end; // ps

    [[nodiscard]] std::size_t size() const { return begin.size(); }

    bool operator==(const GridBlocks&) const = default;
};

// One row for each change of how much of an array in HBM an L2 holds, sorted by time; of those at
// one time the last one counts. An array begins with nothing. Empty where no chip has an L2, and in
// older files.
struct CacheChanges
{
    std::vector<std::int64_t> time;    // ps
    std::vector<std::int32_t> device;  // whose L2
    std::vector<std::int32_t> operand; // row of Info::operands that stands for its array
    std::vector<std::int64_t> bytes;   // that L2 holds of it from then on

    [[nodiscard]] std::size_t size() const { return time.size(); }

    bool operator==(const CacheChanges&) const = default;
};

class Trace
{
public:
    [[nodiscard]] const Info& info() const { return m_info; }

    [[nodiscard]] const Steps& steps() const { return m_steps; }

    [[nodiscard]] const Segments& segments() const { return m_segments; }

    [[nodiscard]] const Copies& copies() const { return m_copies; }

    [[nodiscard]] const CopyEnds& copyEnds() const { return m_copyEnds; }

    [[nodiscard]] const Waits& waits() const { return m_waits; }

    [[nodiscard]] const Visits& visits() const { return m_visits; }

    [[nodiscard]] const Signals& signals() const { return m_signals; }

    [[nodiscard]] const Rounds& rounds() const { return m_rounds; }

    [[nodiscard]] const GridBlocks& gridBlocks() const { return m_gridBlocks; }

    [[nodiscard]] const CacheChanges& cacheChanges() const { return m_cacheChanges; }

    [[nodiscard]] Picoseconds end() const { return m_end; } // the length of the run

    [[nodiscard]] const RowsOfAgents::Tables& ofAgents() const { return m_ofAgents.of(*this); }

    bool operator==(const Trace&) const = default;

private:
    friend class TraceBuilder; // the only writer
    Trace() = default;

    Info m_info;
    Steps m_steps;
    Segments m_segments;
    Copies m_copies;
    CopyEnds m_copyEnds;
    Waits m_waits;
    Visits m_visits;
    Signals m_signals;
    Rounds m_rounds;
    GridBlocks m_gridBlocks;
    CacheChanges m_cacheChanges;
    Picoseconds m_end;
    RowsOfAgents m_ofAgents;
};

// Checks the rules that the comments of Info state, as TraceBuilder::finish does.
[[nodiscard]] Status checkInfo(const Info& info);

// Collects rows, checks them, and moves them into a Trace.
class TraceBuilder
{
public:
    Info info;
    Steps steps;
    Segments segments;
    Copies copies;
    CopyEnds copyEnds;
    Waits waits;
    Visits visits;
    Signals signals;
    Rounds rounds;
    GridBlocks gridBlocks;
    CacheChanges cacheChanges;
    Picoseconds end;

    // Checks every rule that the column comments state (sorted, non-overlapping per track, indices
    // in range, times within [0, end], FIFO on each link) and moves the columns into the trace. The
    // error names the column and row: in a file it is bad input, in a run a bug. `checked` is an
    // info that has passed checkInfo; lists that `info` shares with it are not checked again.
    [[nodiscard]] Result<std::shared_ptr<const Trace>> finish(const Info* checked = nullptr) &&;
};

} // namespace pallascope::trace
