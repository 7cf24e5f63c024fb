// The explicit frame stack of an agent: never the C++ stack, so that an agent can stop anywhere and
// its whole state can be copied.
#pragma once

#include "core/machine/pipeline_operand.h"
#include "core/machine/pipeline_rules.h"
#include "core/machine/plan.h"

#include <cstdint>
#include <limits>
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

// run_scoped: its refs live while its region runs.
struct ScopeFrame
{
    std::size_t firstBuffer = 0; // engine buffers from here on are the scope's own
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
    std::vector<Extent> grid;    // of this execution
    std::size_t firstBuffer = 0; // engine buffers from here on are the pipeline's own
    std::vector<PipelineOperand> operands;
    std::vector<BlockMap> maps;
    std::vector<ir::OperandFacts> facts;
    std::int64_t steps = 1;
    std::int64_t stages = 2;
    std::int64_t step = -1; // -1: before the prologue
    enum class Next : std::uint8_t
    {
        Prologue,
        Enter,
        Leave,
        Epilogue
    } next = Next::Prologue;
    GridPoint here;                   // of the current step
    std::vector<StepActions> actions; // of the current step, per operand; none for trivial ones
    std::int32_t row = -1;            // of trace::Steps

    // The last block numbers that were looked up, per operand, by step modulo the window (a power
    // of two), and where the last look-up was.
    struct Looked
    {
        std::int64_t step = std::numeric_limits<std::int64_t>::min(), block = 0;
    };

    std::int64_t window = 1;
    std::vector<Looked> looked;
    std::vector<GridPoint> points;

    [[nodiscard]] Looked& lookedAt(std::size_t operand, std::int64_t at)
    {
        return looked[operand * static_cast<std::size_t>(window)
                      + static_cast<std::size_t>(at & (window - 1))];
    }
};

using Frame = std::variant<BlockFrame, ScanFrame, WhileFrame, PipelineFrame, ScopeFrame>;

struct Agent
{
    std::int32_t id = 0;
    Picoseconds time;
    std::vector<Frame> frames;
    std::int32_t step = -1; // row of trace::Steps that it works on, -1: none
};

} // namespace pallascope::machine
