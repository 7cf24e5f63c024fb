// What follows from a pipeline's block specs alone, before anything runs: how many buffers it has,
// which operands are trivial, which grid axis an array axis follows. The rules are those of
// emit_pipeline in the JAX version that the schedule names (jax/_src/pallas/mosaic/pipeline.py).
#pragma once

#include "core/ir/program.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace pallascope::ir {

// The JAX release whose emit_pipeline a pipeline follows.
enum class Schedule : std::uint8_t
{
    Jax0_9,
    Jax0_10,
    Jax0_11,
    Jax0_12
};

[[nodiscard]] std::optional<Schedule> scheduleFromName(std::string_view name); // "0.12"

// The most operands of an operation in an index map.
inline constexpr std::size_t kMostMapOperands = 8;
// The most elements of a value in the index map of an Indirect block.
inline constexpr Extent kMostMapElements = Extent{1} << 16;

struct OperandFacts
{
    // The block is the whole array and stays it: no grid axis of more than one step reaches the
    // index map.
    bool trivial = false;
    std::int32_t inCount = 0;  // buffers for copies in; 0: none
    std::int32_t outCount = 0; // buffers for copies out; 0: none
    std::int32_t slots = 1;
    bool unbuffered = false; // the body sees the array itself
    bool lookahead = false;
    std::int32_t prefetched = 0;
    // How many grid steps after its block a write-back may still be under way.
    std::int64_t outLag = 1;
    // If the grid has fewer steps than there are buffers, the prologue starts over at its first
    // step.
    bool wrapsPrologue = false;
    // `prefetched` is compared with the number of waits so far instead of with the step.
    bool countsWaits = false;

    // Whether the operand has copies of its own in the pipeline's steps.
    [[nodiscard]] bool pipelined() const { return !trivial && !unbuffered; }

    std::vector<BlockDim> dims; // per array axis; without padding where the schedule ignores it
    // The array axis along which blocks are gathered or scattered; -1: none.
    std::int32_t indirectAxis = -1;

    // An indirect block counts as changed at every step, whichever elements it lists.
    [[nodiscard]] bool isIndirect() const { return indirectAxis >= 0; }

    std::vector<Extent> blockCounts; // per array axis: how many positions a block can take
    // Per array axis: the grid axis that its index map returns unchanged; -1: none.
    std::vector<std::int32_t> gridAxes;
};

[[nodiscard]] OperandFacts operandFacts(const Program& program, const Operation& pipeline,
                                        std::size_t operand);

// The elements [start, start + size) of an axis that a block at one position covers. Some may lie
// outside of the array.
struct AxisWindow
{
    Extent start = 0, size = 0;
};

// The most different indices that a run tells apart for one Indirect operand, in all its lists
// together.
inline constexpr Extent kMostIndices = Extent{1} << 22;

// How many positions a block can have on an axis of `extent` elements. Position p means: for a
// Blocked axis, block p; for a Squeezed or Element axis, element p of the (padded) axis; for a
// BoundedSlice, a start and a size, encoded as start * dim.size + size - 1; for an Indirect axis,
// the p-th list of elements that the run comes across, whose window is the whole axis.
[[nodiscard]] Extent positionCount(const BlockDim& dim, Extent extent);
[[nodiscard]] AxisWindow windowAt(const BlockDim& dim, Extent extent, Extent position);
// The position that the result of an index map means (`size` is the second result of a
// BoundedSlice). Empty if no element of the block lies in the array.
[[nodiscard]] std::optional<Extent> positionOf(const BlockDim& dim, Extent extent,
                                               std::int64_t index, std::int64_t size);

// Whether the last block on an axis of `extent` elements reaches past its end.
[[nodiscard]] inline bool overhangs(const BlockDim& dim, Extent extent)
{
    return dim.kind == BlockKind::Blocked && extent % dim.size != 0;
}

// The shape of the ref that the body gets: the block without its Squeezed axes.
[[nodiscard]] Shape refShape(const std::vector<BlockDim>& block);

// The number of grid steps; 1 for an empty grid. An axis of dynamic extent counts as one step.
[[nodiscard]] std::int64_t stepCount(const std::vector<Extent>& grid);

[[nodiscard]] bool hasIndirect(const BlockSpec& spec);

// The number of results of an operand's index map: one for each axis, two for a BoundedSlice.
[[nodiscard]] std::size_t indexCount(const BlockSpec& spec);

// Every pipeline of a program, in program order.
[[nodiscard]] std::vector<const Operation*> pipelinesOf(const Program& program);

} // namespace pallascope::ir
