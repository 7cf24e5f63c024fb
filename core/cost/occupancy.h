// How many blocks of threads a multiprocessor of a GPU runs at a time, by CUDA's rules
// (cuda_occupancy.h of the CUDA Toolkit; CUDA C++ Best Practices Guide, occupancy), and as their
// columns of tensor memory fit side by side.
#pragma once

#include "core/base/units.h"
#include "core/chip/multiprocessor.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace pallascope::cost {

// What one block takes of a multiprocessor.
struct BlockDemand
{
    std::int64_t threads = chip::kWarpgroupThreads;
    std::int64_t registersPerThread = 0;
    Bytes shared;                   // without what the system reserves
    std::int64_t tensorColumns = 0; // of tensor memory
};

// What a block takes of the multiprocessor's shared memory, with what the system reserves.
[[nodiscard]] Bytes sharedTaken(const BlockDemand& block, const chip::Multiprocessor& sm);

enum class OccupancyLimit : std::uint8_t
{
    Registers,
    SharedMemory,
    Threads,
    Blocks,
    TensorMemory
};

// In the order of the enumerators.
inline constexpr std::array<std::string_view, 5> kOccupancyLimitNames{
    "registers", "shared memory", "threads", "blocks", "tensor memory"};

struct Occupancy
{
    std::int64_t blocks = 0; // at a time; 0: not even one fits
    std::int64_t warps = 0;  // of all these blocks
    // For each limit how many blocks it would allow alone, in the order of the enumerators.
    // Tensor memory limits only blocks that take some of it.
    std::array<std::optional<std::int64_t>, 5> allowed;
    std::vector<OccupancyLimit> limits; // those that allow no more than `blocks`
};

// `tensorColumns` are those of a multiprocessor's tensor memory.
[[nodiscard]] Occupancy occupancy(const BlockDemand& block, const chip::Multiprocessor& sm,
                                  std::int64_t tensorColumns = 0);

// The most registers with which one block of this many threads fits. A compiler that knows the
// size of a block may take so many; how many it takes cannot be known without it.
[[nodiscard]] std::int64_t mostRegisters(std::int64_t threads, const chip::Multiprocessor& sm);

// A grid of blocks on all multiprocessors. A new block begins as soon as one ends, so these waves
// are exact only for blocks that take equally long.
struct Waves
{
    std::int64_t atATime = 0; // blocks
    std::int64_t waves = 0;
    std::int64_t last = 0; // blocks of the last wave, the tail; `atATime` if it is full
};

[[nodiscard]] Waves waves(std::int64_t blocks, std::int64_t multiprocessors,
                          std::int64_t blocksPerMultiprocessor);

} // namespace pallascope::cost
