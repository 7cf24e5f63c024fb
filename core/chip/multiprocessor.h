// What a GPU's chip file says about its multiprocessors: how many blocks of threads fit on one at
// a time, and what they share there. A chip without multiprocessors, such as a TPU, has none of it.
#pragma once

#include "core/base/units.h"

#include <cstdint>
#include <optional>

namespace pallascope::chip {

class Node;

// The limits of one multiprocessor (SM). A warp has kWarpThreads threads and a warpgroup, which is
// what an agent stands for, kWarpgroupThreads.
inline constexpr std::int64_t kWarpThreads = 32, kWarpgroupThreads = 128;

struct Multiprocessor
{
    std::int64_t computeMajor = 0, computeMinor = 0; // compute capability: 9 and 0 of "9.0"
    std::int64_t threads = 0;                        // resident at a time
    std::int64_t threadsPerBlock = 0;
    std::int64_t blocks = 0; // resident at a time
    std::int64_t warpGranule =
        1;                      // warps of a multiprocessor that registers allow: a multiple of it
    std::int64_t registers = 0; // of 32 bits
    std::int64_t registersPerThread = 0;
    std::int64_t registerGranule = 1; // registers of a warp are rounded up to it
    Bytes shared;                     // capacity of the memory SMEM
    Bytes sharedPerBlock;             // the most that a block may ask for
    Bytes sharedReserved;             // what the system takes for each block
    Bytes sharedGranule{1};           // both together are rounded up to it
    std::int64_t namedBarriers = 0;   // of a block
    // Graphics processing clusters, and the blocks of a thread block cluster: as any chip of this
    // capability takes them, and the most of this one. Absent before there were such clusters.
    std::int64_t gpcs = 1;
    std::optional<std::int64_t> clusterBlocks, clusterBlocksMost;
    // What shared memory and L1 have together, and the latency of a load of which L1 holds
    // everything. Absent: loads find nothing in an L1.
    std::optional<Bytes> l1WithShared;
    double l1LoadCycles = 0;
    double atomicCycles = 0; // in which L2 changes an element once, where many change the same one
    Bytes l2Usable; // what of the memory L2 keeps its rate when it is filled again and again
    // Cycles: what the bulk copy engine adds to the latency of a load; from the last of several
    // products that were issued together until a wait for them returns, beside their own time; one
    // arrival at a barrier; a wait at a barrier that is complete; a load from shared memory. Bulk
    // copies and products that are waited for are absent where the chip has none.
    std::optional<double> copyCycles, productWaitCycles, registerProductWaitCycles;
    double arriveCycles = 0, waitCycles = 0, sharedLoadCycles = 0;
    double sharedBytesPerCycle = 0; // what shared memory gives to loads or to products
    // What tensor memory gives to loads and takes from stores. Absent where there is none.
    std::optional<double> tensorLoadBytesPerCycle, tensorStoreBytesPerCycle;
    // What the multiprocessor takes from L2 or GMEM. Absent where only the links bound it.
    std::optional<double> portBytesPerCycle;
    // Copies into shared memory make products a cycle longer for so many bytes.
    std::optional<double> writtenPerLostCycle;
    // Registers of sums that leave the registers and come back: bytes per cycle that do both.
    std::optional<double> spilledBytesPerCycle;
    Hertz boostClock, sustainedClock; // which of them counts is the agents' clock

    [[nodiscard]] std::int64_t warps() const { return threads / kWarpThreads; }

    bool operator==(const Multiprocessor&) const = default;
};

// Reads the object `multiprocessor` of a chip file. `shared` is the capacity of SMEM.
[[nodiscard]] Multiprocessor parseMultiprocessor(const Node& node, Bytes shared);

} // namespace pallascope::chip
