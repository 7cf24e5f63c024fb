// The blocks of a core_map on a GPU: how much shared memory one takes, how many run at a time, and
// in how many waves all of them run.
#pragma once

#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/cost/occupancy.h"
#include "core/ir/program.h"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::cost {

// The shared memory of one block by the rule of JAX's Mosaic GPU lowering
// (jax/_src/pallas/mosaic_gpu/lowering.py): it is allocated once, for the scopes that need most.
struct BlockShared
{
    // Of scopes, each ref rounded up to kSharedGranule, of operands of products
    // (product_operands.h), and scratch.
    Bytes arrays;
    std::int64_t barriers = 0;  // of kBarrierBytes each
    bool hasReductions = false; // they take kReductionScratch bytes of the arrays'

    [[nodiscard]] Bytes total() const;
};

inline constexpr Bytes kSharedGranule{1024}, kBarrierBytes{8}, kReductionScratch{2048};

// Whether it is a reduction of Mosaic GPU, which may go through that scratch.
[[nodiscard]] bool usesReductionScratch(ir::OpCode code);

// What the blocks of one core_map take and how they run.
struct BlockGrid
{
    const ir::Operation* coreMap = nullptr;
    BlockShared shared;
    BlockDemand block;
    bool assumesRegisters = true; // of a thread
    std::int64_t warpsAtMost = 0; // of a multiprocessor
    Occupancy occupancy;
    std::int64_t blocks = 1; // of the grid
    Waves waves;
};

// How many threads a block of a core_map has.
[[nodiscard]] std::int64_t threadsOf(const ir::CoreMapParams& mesh);

// As many registers a thread as one block of a core_map may take.
inline constexpr std::int64_t kMostRegisters = std::numeric_limits<std::int64_t>::max();

// One for each core_map, in program order; none on chips without multiprocessors. How many
// registers a thread has is not known before a kernel is compiled: without `registers`, it is
// estimated (live_registers.h).
[[nodiscard]] std::vector<BlockGrid> blockGrids(const ir::Program& program, const chip::Chip& chip,
                                                std::optional<std::int64_t> registers = {});

// Fails with a user error if `registers` is no number of registers that a thread of the chip can
// have, and with a limit error if not even one block of some core_map fits on a multiprocessor.
[[nodiscard]] Status checkBlocks(const ir::Program& program, const chip::Chip& chip,
                                 std::optional<std::int64_t> registers = {});

} // namespace pallascope::cost
