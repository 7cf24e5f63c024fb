// What follows from a pipeline's block specs alone, before anything runs: buffer counts, trivial
// windows, which grid axis an array axis follows. Rules: emit_pipeline of the schedule's JAX
// version (jax/_src/pallas/mosaic/pipeline.py).
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

// Operands that an operation of an index map takes at most.
inline constexpr std::size_t kMostMapOperands = 8;
// Elements of a value in the index map of an Indirect block.
inline constexpr Extent kMostMapElements = Extent{1} << 16;

struct OperandFacts
{
    bool trivial = false;      // block == array and an index map that no moving grid axis reaches
    std::int32_t inCount = 0;  // buffers of copies in (0: none)
    std::int32_t outCount = 0; // buffers of copies out
    std::int32_t slots = 1;
    bool unbuffered = false; // the body sees the array itself
    bool lookahead = false;
    std::int32_t prefetched = 0;
    std::int64_t outLag = 1;    // grid steps that a write-back may lag behind its block
    bool wrapsPrologue = false; // the prologue goes round a grid shorter than the buffers
    bool countsWaits = false;   // `prefetched` is compared with the waits so far, not with the step

    // Copies of its own take part in the pipeline's steps.
    [[nodiscard]] bool pipelined() const { return !trivial && !unbuffered; }

    std::vector<BlockDim> dims;     // per array axis, padding dropped where the schedule ignores it
    std::int32_t indirectAxis = -1; // of the array: its blocks are gathered or scattered along it

    // Its block changes at every step, whichever elements that is.
    [[nodiscard]] bool isIndirect() const { return indirectAxis >= 0; }

    std::vector<Extent> blockCounts; // per array axis: how many positions a block can take
    std::vector<std::int32_t>
        gridAxes; // per array axis: the grid axis that its index map returns, -1: other
};

[[nodiscard]] OperandFacts operandFacts(const Program& program, const Operation& pipeline,
                                        std::size_t operand);

// The elements [start, start + size) of an axis that a block at one position covers; they may lie
// outside the array.
struct AxisWindow
{
    Extent start = 0, size = 0;
};

// Different indices of Indirect blocks that a run tells apart, of one operand, over all its lists.
inline constexpr Extent kMostIndices = Extent{1} << 22;

// How many positions a block can take on an axis of `extent` elements. Position p of a Blocked axis
// is block p, of a Squeezed or Element one the element p; of a BoundedSlice start and size
// together; of an Indirect one the p-th list of elements that the run comes across, whose window is
// the axis.
[[nodiscard]] Extent positionCount(const BlockDim& dim, Extent extent);
[[nodiscard]] AxisWindow windowAt(const BlockDim& dim, Extent extent, Extent position);
// The position that an index map's result means (`size`: the second result of a BoundedSlice), or
// nothing when no element of it lies in the array.
[[nodiscard]] std::optional<Extent> positionOf(const BlockDim& dim, Extent extent,
                                               std::int64_t index, std::int64_t size);

// The shape of the ref that a body gets: the block without its squeezed axes.
[[nodiscard]] Shape refShape(const std::vector<BlockDim>& block);

// Number of grid steps, 1 for an empty grid; axes of dynamic extent count as one step.
[[nodiscard]] std::int64_t stepCount(const std::vector<Extent>& grid);

[[nodiscard]] bool hasIndirect(const BlockSpec& spec);

// Results of an operand's index map: one per axis, two for a BoundedSlice.
[[nodiscard]] std::size_t indexCount(const BlockSpec& spec);

// Every pipeline operation of a program, in program order.
[[nodiscard]] std::vector<const Operation*> pipelinesOf(const Program& program);

} // namespace pallascope::ir
