// Look-ups in a finished trace. Each takes O(log n) and never scans. All are pure functions, and
// times are clamped to the run. "At t" means begun at or before t and not yet ended.
#pragma once

#include "core/trace/agents.h"
#include "core/trace/pipelines.h"
#include "core/trace/row.h"
#include "core/trace/trace.h"

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pallascope::trace {

// The step whose [begin, end) holds t. Before the first step it is the first one; at the end of the
// run, the last one; none only if the trace has no steps.
[[nodiscard]] OptionalRow<StepRow> stepAt(const Trace& trace, Picoseconds t);

// The grid indices of a step, outermost first.
[[nodiscard]] std::vector<Extent> gridIndices(const Pipeline& pipeline, std::int64_t ordinal);

// The block index along each axis, from the row-major block number.
[[nodiscard]] std::vector<Extent> blockIndex(const Operand& operand, std::int64_t block);

// The elements [from, to) of the array that a block covers along an axis; along an Indirect axis
// the whole axis.
struct AxisRange
{
    Extent from = 0, to = 0;
    auto operator<=>(const AxisRange&) const = default;
};

[[nodiscard]] AxisRange rangeOf(const Operand& operand, std::int64_t block, std::size_t axis);

// Stands for the missing elements of a list that is shorter than its block.
inline constexpr std::int32_t kNoElement = std::numeric_limits<std::int32_t>::min();

// The elements of an Indirect block along its axis, in order; empty for other blocks.
[[nodiscard]] std::span<const std::int32_t> indicesOf(const Operand& operand, std::int64_t block);

// "x(0,3)"; "x([7,7,1],0)" for an Indirect block; "x(4:11,0)" for a BoundedSlice; "(0,0,2)" without
// a name.
[[nodiscard]] std::string blockName(const Operand& operand, std::int64_t block);

// The name of the block that a copy moves.
[[nodiscard]] std::string copyName(const Trace& trace, CopyRow copy);
// The same in short, for labels: of manual DMA the array alone, "kv_cache(38)".
[[nodiscard]] std::string copyLabel(const Trace& trace, CopyRow copy);
[[nodiscard]] std::string indexText(const std::vector<Extent>& index);

// The copies of a link that are issued but have not landed at t: rows [first, last) of Copies. The
// first of them is moving if its start <= t; the others wait in the queue behind it. If there are
// several links, rows of other links may lie between them, so check Copies::link.
struct CopyRange
{
    std::size_t first = 0;
    std::size_t last = 0;

    [[nodiscard]] bool empty() const { return first == last; }

    [[nodiscard]] std::size_t size() const { return last - first; }
};

[[nodiscard]] CopyRange copiesInFlight(const Trace& trace, LinkRow link, Picoseconds t);
// Those of them that the link carries, without the rows between: rows of Copies.
[[nodiscard]] std::vector<std::size_t> copiesOnLink(const Trace& trace, LinkRow link,
                                                    Picoseconds t);

// The share (0 to 1) of a copy's bytes that has moved by t, linear over [start, end].
[[nodiscard]] double copyFraction(const Trace& trace, CopyRow copy, Picoseconds t);

// The visit of an operand that a step uses, if it has one.
[[nodiscard]] OptionalRow<VisitRow> visitAt(const Trace& trace, OperandRow operand, StepRow step);

// The segment instance that runs on an agent at t; none if the agent waits or is done.
[[nodiscard]] OptionalRow<SegmentRow> segmentAt(const Trace& trace, AgentRow agent, Picoseconds t);

// The wait (of non-zero length) that holds an agent at t, if there is one.
[[nodiscard]] OptionalRow<WaitRow> waitAt(const Trace& trace, AgentRow agent, Picoseconds t);

// The waits for a copy that have a length. On a GPU some may begin when the link has long served
// it: its bytes come later, or a load finds them in L1.
[[nodiscard]] std::vector<WaitRow> waitsFor(const Trace& trace, CopyRow copy);

// What a wait waits for: the name of the copy's block, or of the semaphore. Empty for a delay or a
// wait for other cores.
[[nodiscard]] std::string awaitedName(const Trace& trace, WaitRow wait);
// The same with copyLabel.
[[nodiscard]] std::string awaitedLabel(const Trace& trace, WaitRow wait);

// The operation of the program that waits, and its source line. None and an empty line for the
// waits of pipelines.
[[nodiscard]] OptionalRow<OperationRow> operationOfWait(const Trace& trace, WaitRow wait);
[[nodiscard]] SourceLine lineOfWait(const Trace& trace, WaitRow wait);

// The operation that runs at t: the one of the current segment that retires next. None between
// segments, in waits and in step overhead.
[[nodiscard]] OptionalRow<OperationRow> operationAt(const Trace& trace, AgentRow agent,
                                                    Picoseconds t);

// What a buffer (a slot) holds at t.
enum class SlotPhase : std::uint8_t
{
    Empty,         // not used so far; undefined
    Queued,        // a copy into it is issued but has not started
    Arriving,      // a copy into it is under way
    Ready,         // its block has landed; its first step has not begun
    InUse,         // it has the current step's block, whose body waits or runs
    LeavingQueued, // its write-back is issued but has not started
    Leaving,       // its write-back is under way
    Free           // it was used before and holds an old block
};

struct SlotState
{
    SlotPhase phase = SlotPhase::Empty;
    std::optional<std::int64_t> block; // the block it holds or will hold; none when Empty
    // Arriving: share that has arrived; Leaving: share that has left; InUse: share of the visit's
    // steps that are done.
    double fraction = 0;
    OptionalRow<VisitRow> visit;  // the visit to which it belongs
    OptionalRow<CopyRow> copy;    // of that visit: the copy under way or queued, or the last one
    std::int64_t stepsDone = 0;   // InUse: bodies finished in this visit
    std::int64_t stepsInStay = 0; // InUse: all steps of this visit
};

// While the current step still waits for its block, the slot is Queued or Arriving, not InUse.
// Scratch has no blocks: it is Empty before the first step, then InUse, and Free after the last.
[[nodiscard]] SlotState slotStateAt(const Trace& trace, BufferRow buffer, Picoseconds t);

// What one block of an operand's array is doing at t. The first phase in the following lists that
// applies counts. Inputs: InUse (landed, and its steps run), Arriving, Queued, Ready, Before
// (fetched earlier), Never. Outputs: InUse (until its write-back is issued), Leaving (fraction 0
// while queued), Written, Before (used but never written back), Never. Manual DMA: Arriving, Queued
// or Leaving; then Before or Written; then Never.
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

// Of several blocks, or of one that several agents hold, the liveliest tells what goes on: the one
// in use, then those that move, then those that rest. One that is still on its way comes before one
// that is ready, because together they are not ready yet.
[[nodiscard]] int livelinessOf(BlockPhase phase);

struct BlockState
{
    BlockPhase phase = BlockPhase::Never;
    // Arriving: share that has arrived; Leaving: share that has left; InUse of an output: share of
    // its visit.
    double fraction = 0;
    // Copies that have landed so far (fetches of an input, write-backs of an output).
    std::int64_t copies = 0;
};

class CacheHistory;    // cache_history.h
class DeviceTimes;     // device_times.h
class Windows;         // windows.h
class LoopRounds;      // loop_rounds.h
class ManualArrays;    // manual_arrays.h
class ScratchSlots;    // scratch_slots.h
class SemaphoreCounts; // semaphore_counts.h
struct Pieces;         // pieces.h
class GridLaunches;    // grid_launches.h

// Sums over a prefix of the run, and the history of each block. The first question takes O(rows),
// as many runs are never asked; then every question takes O(log n). Keep one beside each open
// trace. Any thread may ask.
class Index
{
public:
    explicit Index(std::shared_ptr<const Trace> trace);

    [[nodiscard]] const Trace& trace() const { return *m_trace; }

    [[nodiscard]] const Agents& agents() const;
    [[nodiscard]] const PipelineKinds& pipelines() const;
    [[nodiscard]] const Arrays& arrays() const;
    [[nodiscard]] const SemaphoreCounts& semaphores() const;
    [[nodiscard]] const CacheHistory& caches() const;  // the L2 of each device of a GPU's chip
    [[nodiscard]] const ScratchSlots& scratch() const; // that manual DMA fills or empties

    [[nodiscard]] const LeadingSteps& leading() const;

    // Works out everything, also what only pictures ask for, manualArrays(), alike() and windows();
    // the first question does it otherwise. It takes a while for runs of many copies.
    void prepareForPictures() const;

    // Of one device; of the first one where there is no such device.
    [[nodiscard]] const ManualArrays& manualArrays(std::int32_t device) const;

    [[nodiscard]] const LoopRounds& rounds() const;

    // What SMs of GPUs run block by block; none in other runs and in older files.
    [[nodiscard]] const GridLaunches& launches() const;

    // What a device runs one after the other; of a device that does not exist, what the first does.
    [[nodiscard]] const Pieces& pieces(std::int32_t device = 0) const;

    [[nodiscard]] const DeviceTimes& devices() const;

    // The operands of agents of one device that share an array in a pipeline, ascending; itself
    // among them, and alone where no other agent runs it.
    [[nodiscard]] std::span<const std::int32_t> sharing(OperandRow operand) const;

    // The operands of its pipeline with the same index map (alike.h), itself among them.
    [[nodiscard]] std::span<const std::int32_t> alike(OperandRow operand) const;

    // How the blocks of an operand that may overlap cut its array.
    [[nodiscard]] const Windows& windows(OperandRow operand) const;

    // The busy time in [0, t) of a unit or of a link in one direction, and the total of non-zero
    // waits.
    [[nodiscard]] Picoseconds unitBusy(UnitRow unit, Picoseconds t) const;
    [[nodiscard]] Picoseconds linkBusy(LinkRow link, bool out, Picoseconds t) const;
    [[nodiscard]] Picoseconds waiting(Picoseconds t) const;

    // The copies of one link in the order of its queue. Along it, issue, start and end ascend,
    // which they need not do over several links. The functions return how many copies there are,
    // the row of one, and how many have a value <= t in one of these columns.
    [[nodiscard]] std::size_t copiesOf(LinkRow link) const;
    [[nodiscard]] CopyRow copyOf(LinkRow link, std::size_t number) const;
    [[nodiscard]] std::size_t copiesBy(LinkRow link, const std::vector<std::int64_t>& column,
                                       Picoseconds t) const;

    // Bytes moved by t, linear over each copy, of all operands over the links of HBM (a copy from
    // HBM to HBM counts as read and as written).
    [[nodiscard]] double bytes(Picoseconds t) const;
    // Of one operand and direction over one link.
    [[nodiscard]] double operandBytes(OperandRow operand, bool out, LinkRow link,
                                      Picoseconds t) const;
    // Over one link, each byte once.
    [[nodiscard]] double linkBytes(LinkRow link, Picoseconds t) const;

    struct Moved
    {
        double read = 0, written = 0; // in HBM
        double outsideHbm = 0;        // between other memories; on a GPU also what L2 serves

        [[nodiscard]] double all() const { return read + written + outsideHbm; }
    };

    // Of one operand, told apart as Summary does it: of copies from HBM to HBM a device's own link
    // moves each byte twice, once each way, and one between devices reads and writes each byte.
    [[nodiscard]] Moved moved(OperandRow operand, Picoseconds t) const;

    // Useful FLOPs by t, linear over each segment.
    [[nodiscard]] double flops(Picoseconds t) const;

    // Copies of one operand and direction that have landed by t.
    [[nodiscard]] std::int64_t landed(OperandRow operand, bool out, Picoseconds t) const;

    // Where several agents share the array, what all of them do with the block: of several states
    // the liveliest.
    [[nodiscard]] BlockState blockStateAt(OperandRow operand, std::int64_t block,
                                          Picoseconds t) const;

    // Which lists of an operand's Indirect blocks contain an element of their axis, each list once,
    // in ascending order.
    struct ListedElement
    {
        std::int32_t element, list;
        auto operator<=>(const ListedElement&) const = default;
    };

    [[nodiscard]] std::span<const ListedElement> listsOf(OperandRow operand, Extent element) const;

    // How many different blocks of an output have been written back by t, by all agents that share
    // it.
    [[nodiscard]] std::int64_t blocksWritten(OperandRow operand, Picoseconds t) const;

private:
    [[nodiscard]] BlockState ownBlockStateAt(OperandRow operand, std::int64_t block,
                                             Picoseconds t) const;

    struct Sums;
    struct Later;
    [[nodiscard]] const Sums& sums() const;

    std::shared_ptr<const Trace> m_trace;
    std::shared_ptr<Later> m_later;
};

} // namespace pallascope::trace
