// The explicit frame stack of an agent: never the C++ stack, so that an agent can stop anywhere and
// its whole state can be copied.
#pragma once

#include "core/machine/prepare/pipeline_operand.h"
#include "core/machine/prepare/pipeline_rules.h"
#include "core/machine/prepare/plan.h"
#include "core/machine/state/slab.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace pallascope::machine {

// A region being executed, item by item. When it ends, its results become those of `owner` (a
// cond).
struct BlockFrame
{
    const BlockPlan* plan = nullptr;
    const ir::Operation* owner = nullptr;
    std::size_t next = 0;
    std::int32_t done =
        0; // operations of the next item, a segment, where it was left in the middle
    // Of a fusion under way: the last copy that it streams with, and when that ends.
    std::int32_t streams = -1;
    Picoseconds streamed;
};

struct ScanFrame
{
    const PlanItem* item = nullptr;
    std::int64_t done = -1; // iterations finished; -1: not started
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

// Memory that a frame has allocated and gives back when it ends.
struct Owned
{
    std::vector<std::pair<ir::ValueId, SlabRange>> buffers, semaphores;
    ir::LocationId location; // of the operation
};

// run_scoped: its refs live while its region runs.
struct ScopeFrame
{
    Owned owned;
};

// core_map, of the first core of a slot: goes on when all cores are done.
struct CoresFrame
{
    const PlanItem* item = nullptr;
};

// core_map on agents of another kind, of the one that runs what is around it: goes on when the
// first of them is done.
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
    std::vector<Extent> grid;         // of this execution, on this core
    std::vector<std::int64_t> offset; // where this core's part begins; empty: at 0
    Owned owned;
    std::vector<PipelineOperand> operands;
    std::int64_t steps = 1;
    std::int64_t stages = 2; // of prologue and epilogue: the largest buffer count, at least 2
    std::int64_t step = 0;

    // Where it stands; within a phase, the next operand is number `at`.
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
    std::int64_t stage = 0;           // of the prologue, then of the epilogue
    GridPoint here;                   // of the current step
    std::vector<StepActions> actions; // of the current step, per operand; none for trivial ones
    bool isLive = false;   // some operand is: asked first, since mostly none is and steps are short
    std::int32_t row = -1; // of trace::Steps; -1: before the first step, after the last
    std::int32_t lastRow = -1;            // of the step before
    std::int32_t outerStep = -1;          // row of the step around this pipeline
    std::optional<std::size_t> outerGrid; // frame of the pipeline around it

    // Whether the operand's index map may give another block when it is evaluated again.
    [[nodiscard]] bool isLiveAt(std::size_t operand) const
    {
        return isLive && operands[operand].isLive;
    }

    // The last block numbers that were looked up, per operand, by step modulo the window (a power
    // of two), and where the last look-up was.
    struct Looked
    {
        std::int64_t step = std::numeric_limits<std::int64_t>::min(), block = 0;
    };

    std::int64_t window = 1;
    std::vector<Looked> looked;
    std::vector<GridPoint> points;

    [[nodiscard]] Looked& lookedAt(std::size_t operand, std::int64_t which)
    {
        return looked[operand * static_cast<std::size_t>(window)
                      + static_cast<std::size_t>(which & (window - 1))];
    }
};

// The step that the pipeline's current actions belong to.
[[nodiscard]] inline std::int32_t rowOf(const PipelineFrame& frame)
{
    return frame.row >= 0 ? frame.row : frame.outerStep;
}

using Frame = std::variant<BlockFrame, ScanFrame, WhileFrame, PipelineFrame, ScopeFrame, CoresFrame,
                           AwayFrame>;

} // namespace pallascope::machine
