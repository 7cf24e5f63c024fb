// Look-ups in a finished trace: O(log n), never a scan. All are pure functions; times are clamped
// to the run. "At t" means: what has begun at or before t and not yet ended.
#pragma once

#include "core/trace/agents.h"
#include "core/trace/trace.h"

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pallascope::trace {

// The step whose [begin, end) holds t; the first step for earlier times, the last one at the end;
// kNone only when the trace has no steps.
[[nodiscard]] std::int32_t stepAt(const Trace& trace, Picoseconds t);

// Grid indices of a step, outermost first.
[[nodiscard]] std::vector<Extent> gridIndices(const Pipeline& pipeline, std::int64_t ordinal);

// Row-major block number -> block index per axis.
[[nodiscard]] std::vector<Extent> blockIndex(const Operand& operand, std::int64_t block);

// The elements [from, to) of the array that a block covers on an axis; of an Indirect one all.
struct AxisRange
{
    Extent from = 0, to = 0;
};

[[nodiscard]] AxisRange rangeOf(const Operand& operand, std::int64_t block, std::size_t axis);

// In place of the elements that a list shorter than its block lacks.
inline constexpr std::int32_t kNoElement = std::numeric_limits<std::int32_t>::min();

// The elements of an Indirect block on its axis, in order; of others none.
[[nodiscard]] std::span<const std::int32_t> indicesOf(const Operand& operand, std::int64_t block);

// "x(0,3)", "x([7,7,1],0)" of an Indirect block, "x(4:11,0)" of a BoundedSlice; "(0,0,2)"
[[nodiscard]] std::string blockName(const Operand& operand, std::int64_t block);

// That of the block that a copy (row of Copies) moves.
[[nodiscard]] std::string copyName(const Trace& trace, std::size_t copy);
[[nodiscard]] std::string indexText(const std::vector<Extent>& index);

// The copies of a link that are issued and not landed at t: rows [first, last) of Copies; the first
// is the one moving (if its start <= t), the rest wait in the queue behind it. With several links,
// rows of the others may lie between: look at Copies::link.
struct CopyRange
{
    std::size_t first = 0;
    std::size_t last = 0;

    [[nodiscard]] bool empty() const { return first == last; }

    [[nodiscard]] std::size_t size() const { return last - first; }
};

[[nodiscard]] CopyRange copiesInFlight(const Trace& trace, std::int32_t link, Picoseconds t);

// Bytes of a copy that have moved by t, linear over [start, end]; as a fraction 0..1.
[[nodiscard]] double copyFraction(const Trace& trace, std::size_t copy, Picoseconds t);

// The visit (row of Visits) of an operand that a step uses; kNone if it has none.
[[nodiscard]] std::int32_t visitAt(const Trace& trace, std::int32_t operand, std::int32_t step);

// The segment instance running on an agent at t (row of Segments), kNone when it waits or is done.
[[nodiscard]] std::int32_t segmentAt(const Trace& trace, std::int32_t agent, Picoseconds t);

// The wait (of non-zero length) that holds an agent at t, kNone if none.
[[nodiscard]] std::int32_t waitAt(const Trace& trace, std::int32_t agent, Picoseconds t);

// What a wait (row of Waits) is for: the copy's block, else the semaphore's name; empty for a delay
// or for other cores.
[[nodiscard]] std::string awaitedName(const Trace& trace, std::int32_t wait);

// The operation (index into Info::operations) by which a program waits by hand (row of Waits), and
// its line; kNone and none for the waits of pipelines.
[[nodiscard]] std::int32_t operationOfWait(const Trace& trace, std::int32_t wait);
[[nodiscard]] SourceLine lineOfWait(const Trace& trace, std::int32_t wait);

// The operation (index into Info::operations) that runs at t: within the current segment the one
// that retires next; kNone between segments, in waits and in step overhead.
[[nodiscard]] std::int32_t operationAt(const Trace& trace, std::int32_t agent, Picoseconds t);

// What a buffer (a slot) holds at t.
enum class SlotPhase : std::uint8_t
{
    Empty,         // never used so far, undefined
    Queued,        // a copy into it is issued, not started
    Arriving,      // a copy into it is under way
    Ready,         // landed, its first step not begun
    InUse,         // the current step's block, body waiting or running
    LeavingQueued, // its write-back is issued, not started
    Leaving,       // its write-back is under way
    Free           // used before, holds an old block
};

struct SlotState
{
    SlotPhase phase = SlotPhase::Empty;
    std::int64_t block = -1; // the block it holds or will hold; -1 when Empty
    double fraction = 0; // Arriving: arrived; Leaving: gone; InUse: steps of this stay done / all
    std::int32_t visit = kNone;   // the stay it belongs to
    std::int32_t copy = kNone;    // of that stay: the copy under way or queued, or the last one
    std::int64_t stepsDone = 0;   // InUse: bodies finished in this stay
    std::int64_t stepsInStay = 0; // InUse: all steps of this stay
};

// A slot whose current step still waits for its block is Queued or Arriving, not InUse. Scratch has
// no blocks: Empty before the first step, then InUse, Free after the last.
[[nodiscard]] SlotState slotStateAt(const Trace& trace, std::int32_t buffer, Picoseconds t);

// What one block of an operand's array is doing at t. Inputs: InUse (landed, and its steps run),
// else Arriving, Queued, Ready, Before (fetched earlier), Never. Outputs: InUse (until its
// write-back is issued), else Leaving (queued: fraction 0), Written, Before (used, never taken
// back), Never. Copied by hand: Arriving, Queued or Leaving, else Before or Written, Never.
enum class BlockPhase : std::uint8_t
{
    Never,
    Before,
    Queued,
    Arriving,
    Ready,
    InUse,
    Leaving,
    Written
};

struct BlockState
{
    BlockPhase phase = BlockPhase::Never;
    double fraction = 0; // Arriving: arrived; Leaving: gone; InUse of an output: share of its stay
    std::int64_t copies = 0; // landed so far (fetches of an input, write-backs of an output)
};

// Sums over a prefix of the run, and per-block histories. Built once per trace (O(rows)), then
// every question is O(log n). Keep one beside each open trace.
class Index
{
public:
    explicit Index(std::shared_ptr<const Trace> trace);

    [[nodiscard]] const Trace& trace() const { return *m_trace; }

    [[nodiscard]] const Agents& agents() const;

    // Busy time in [0, t) of a unit, of a link (both directions, or one), and of non-zero waits.
    [[nodiscard]] Picoseconds unitBusy(std::int32_t unit, Picoseconds t) const;
    [[nodiscard]] Picoseconds linkBusy(std::int32_t link, bool out, Picoseconds t) const;
    [[nodiscard]] Picoseconds waiting(Picoseconds t) const;

    // The copies of a link in the order of its queue, along which issue, start and end ascend, as
    // they do not over several links: how many there are, the row of one, and how many have a value
    // <= t in one of these columns.
    [[nodiscard]] std::size_t copiesOf(std::int32_t link) const;
    [[nodiscard]] std::size_t copyOf(std::int32_t link, std::size_t number) const;
    [[nodiscard]] std::size_t copiesBy(std::int32_t link, const std::vector<std::int64_t>& column,
                                       Picoseconds t) const;

    // Bytes moved by t, linear over each copy: of one operand and direction over any link, or of
    // all over those of HBM (HBM to HBM: read and written).
    [[nodiscard]] double operandBytes(std::int32_t operand, bool out, Picoseconds t) const;
    [[nodiscard]] double bytes(Picoseconds t) const;

    // Useful FLOPs by t, linear over each segment.
    [[nodiscard]] double flops(Picoseconds t) const;

    // Copies of one operand and direction that have landed by t.
    [[nodiscard]] std::int64_t landed(std::int32_t operand, bool out, Picoseconds t) const;

    [[nodiscard]] BlockState blockStateAt(std::int32_t operand, std::int64_t block,
                                          Picoseconds t) const;

    // The lists of an operand's Indirect blocks that an element of their axis is in, rising: as
    // many as there are, but once each.
    struct ListedElement
    {
        std::int32_t element, list;
        auto operator<=>(const ListedElement&) const = default;
    };

    [[nodiscard]] std::span<const ListedElement> listsOf(std::int32_t operand,
                                                         Extent element) const;

    // Distinct blocks of an output that have been written back by t.
    [[nodiscard]] std::int64_t blocksWritten(std::int32_t operand, Picoseconds t) const;

private:
    struct Sums;
    std::shared_ptr<const Trace> m_trace;
    std::shared_ptr<const Sums> m_sums;
};

} // namespace pallascope::trace
