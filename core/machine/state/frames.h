// The explicit frame stack of an agent. The engine does not use the C++ stack for it, so that an
// agent can stop anywhere and its whole state can be copied.
#pragma once

#include "core/machine/prepare/pipeline_operand.h"
#include "core/machine/prepare/pipeline_rules.h"
#include "core/machine/prepare/plan.h"
#include "core/machine/state/slab.h"
#include "core/trace/row.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace pallascope::machine {

// Elements of GMEM that an operation reached.
struct ReachedElements
{
    const ir::Operation* operation = nullptr;
    RefBinding where; // its buffer is -1 if it reached none
    // Of an atomic operation: how often it changes the element that it changes most often.
    std::int64_t changes = 1;
};

// A region that is being executed, item by item. When it ends, its results become those of `owner`
// (a cond).
struct BlockFrame
{
    const BlockPlan* plan = nullptr;
    const ir::Operation* owner = nullptr;
    std::size_t next = 0;
    // If the next item is a segment that was interrupted: how many of its operations have run.
    std::int32_t done = 0;
    // Whether that segment has its place on the units that agents of a slot share.
    bool reserved = false;
    // For a fusion, or a segment of a GPU's kernel, under way: the last copy with which it streams,
    // and when that copy ends.
    trace::OptionalRow<trace::CopyRow> streams;
    Picoseconds streamed;
    // Whether its operations have run, so that only the wait for that copy is left.
    bool awaits = false;
    // Of that segment: what operations reached that reach a part of their ref. What one operation
    // reached in several places follows each other.
    std::vector<ReachedElements> reached;
    // If its operations have run and it has yet to ask for some of what it stores: when its work
    // ends, and the next of its streams to be asked for. The agent's time is then when that is.
    std::optional<Picoseconds> ends;
    std::size_t store = 0;
};

struct ScanFrame
{
    const PlanItem* item = nullptr;
    std::int64_t done = -1; // rounds finished; -1: not started
};

struct WhileFrame
{
    const PlanItem* item = nullptr;
    enum class Next : std::uint8_t
    {
        Test,
        Decide,
        Carry
    } next = Next::Test;
};

// Memory that a frame has allocated and releases when it ends.
struct Owned
{
    std::vector<std::pair<ir::ValueId, SlabRange>> buffers, semaphores;
    ir::LocationId location; // of the operation that allocates
};

// run_scoped: its refs exist while its region runs.
struct ScopeFrame
{
    Owned owned;                           // nothing if the scope is shared
    const ir::Operation* shared = nullptr; // the operation, if its agents share what it allocates
};

// core_map, on the first core of a slot: goes on when all cores are done.
struct CoresFrame
{
    const PlanItem* item = nullptr;
};

// warp_map, on the agent of a warpgroup: goes on when its other warps are done.
struct WarpsFrame
{
    const PlanItem* item = nullptr;
};

// core_map on agents of another kind. This is the frame of the agent that runs the code around the
// map; it goes on when the first agent of the other kind is done.
struct AwayFrame
{
    const PlanItem* item = nullptr;
};

struct GridPoint
{
    std::int64_t step = 0;
    std::vector<std::int64_t> point;
};

struct PipelineFrame
{
    const PlanItem* item = nullptr;
    const ir::PipelineParams* params = nullptr;
    std::int32_t traceIndex = 0;
    std::vector<Extent> grid; // of this execution on this core
    // The grid point at which this core's part begins; empty: all zeros.
    std::vector<std::int64_t> offset;
    Owned owned;
    std::vector<PipelineOperand> operands;
    std::int64_t steps = 1;
    // Number of stages of the prologue, and of the epilogue: the largest buffer count, but at least
    // 2.
    std::int64_t stages = 2;
    std::int64_t step = 0;

    // The phase in which it is. Within a phase, `at` is the next operand.
    enum class Next : std::uint8_t
    {
        BringTrivial,
        Prologue,
        Begin,
        CopyIn,
        WaitIn,
        Body,
        Overhead,
        CopyOut,
        WaitOut,
        Drain,
        TakeTrivial,
        Done
    } next = Next::BringTrivial;
    std::size_t at = 0;
    std::int64_t stage = 0; // the stage of the prologue, later of the epilogue
    GridPoint here;         // the grid point of the current step
    // For each operand in the current step; empty actions for trivial ones.
    std::vector<StepActions> actions;
    // Whether some operand is live; checked first, since usually none is and steps are short.
    bool isLive = false;
    trace::OptionalRow<trace::StepRow> row;       // none before the first step and after the last
    trace::OptionalRow<trace::StepRow> lastRow;   // of the previous step
    trace::OptionalRow<trace::StepRow> outerStep; // around this pipeline
    std::optional<std::size_t> outerGrid;         // index of the frame of the enclosing pipeline

    // Whether the operand's index map may return another block when it is evaluated again.
    [[nodiscard]] bool isLiveAt(std::size_t operand) const
    {
        return isLive && operands[operand].isLive;
    }

    // For each operand: the block numbers that were looked up last, stored by step modulo `window`
    // (a power of two), and the grid point of the last look-up.
    struct Looked
    {
        std::int64_t step = std::numeric_limits<std::int64_t>::min(), block = 0;
    };

    std::int64_t window = 1;
    std::vector<Looked> looked;

    // For each operand that is not live: at which steps it needs another block than at the step
    // before. Every `every` steps (0: never), if the grid alone decides that; else bit i says it of
    // step `last` - i, for the last `known` steps.
    struct Changes
    {
        std::optional<std::int64_t> every;
        std::int64_t last = 0, known = 0;
        std::uint64_t bits = 0;

        // By `every`.
        [[nodiscard]] bool at(std::int64_t which) const
        {
            const std::int64_t rest = *every - 1;
            // Usually it is a power of two, and then no division is needed.
            return *every != 0
                   && ((*every & rest) == 0 ? (which & rest) == 0 : which % *every == 0);
        }
    };

    std::vector<Changes> changes;
    std::vector<GridPoint> points;

    [[nodiscard]] Looked& lookedAt(std::size_t operand, std::int64_t which)
    {
        return looked[operand * static_cast<std::size_t>(window)
                      + static_cast<std::size_t>(which & (window - 1))];
    }
};

// The row of the step to which the pipeline's current actions belong.
[[nodiscard]] inline trace::OptionalRow<trace::StepRow> rowOf(const PipelineFrame& frame)
{
    return frame.row ? frame.row : frame.outerStep;
}

using Frame = std::variant<BlockFrame, ScanFrame, WhileFrame, PipelineFrame, ScopeFrame, CoresFrame,
                           AwayFrame, WarpsFrame>;

} // namespace pallascope::machine
