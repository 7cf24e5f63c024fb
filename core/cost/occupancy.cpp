#include "core/cost/occupancy.h"

#include "core/base/check.h"
#include "core/base/shape.h"

#include <algorithm>

namespace pallascope::cost {

namespace {

std::int64_t warpsOf(std::int64_t threads)
{
    return ceilDiv(threads, chip::kWarpThreads);
}

std::int64_t alignDown(std::int64_t number, std::int64_t granule)
{
    return number / granule * granule;
}

// Registers belong to warps and lie in the partitions of the multiprocessor, all of which hold
// equally many warps.
std::int64_t byRegisters(const BlockDemand& block, const chip::Multiprocessor& sm)
{
    if (block.registersPerThread > sm.registersPerThread) {
        return 0;
    }
    const std::int64_t ofWarp =
        std::max(sm.registerGranule,
                 alignTo(block.registersPerThread * chip::kWarpThreads, sm.registerGranule));
    return alignDown(sm.registers / ofWarp, sm.warpGranule) / warpsOf(block.threads);
}

std::int64_t byShared(const BlockDemand& block, const chip::Multiprocessor& sm)
{
    if (block.shared > sm.sharedPerBlock) {
        return 0;
    }
    return sm.shared.value() / sharedTaken(block, sm).value();
}

std::int64_t byThreads(const BlockDemand& block, const chip::Multiprocessor& sm)
{
    return block.threads > sm.threadsPerBlock ? 0 : sm.warps() / warpsOf(block.threads);
}

// A block that does not even fit alone is refused where memories are filled, in words about them.
std::optional<std::int64_t> byTensorMemory(const BlockDemand& block, std::int64_t columns)
{
    if (block.tensorColumns == 0 || columns == 0) {
        return std::nullopt;
    }
    return std::max<std::int64_t>(1, columns / block.tensorColumns);
}

} // namespace

Bytes sharedTaken(const BlockDemand& block, const chip::Multiprocessor& sm)
{
    return Bytes(alignTo((block.shared + sm.sharedReserved).value(), sm.sharedGranule.value()));
}

Occupancy occupancy(const BlockDemand& block, const chip::Multiprocessor& sm,
                    std::int64_t tensorColumns)
{
    PALLASCOPE_CHECK(block.threads > 0);
    Occupancy result;
    result.allowed = {byRegisters(block, sm), byShared(block, sm), byThreads(block, sm), sm.blocks,
                      byTensorMemory(block, tensorColumns)};
    result.blocks = sm.blocks;
    for (const std::optional<std::int64_t>& allowed : result.allowed) {
        result.blocks = std::min(result.blocks, allowed.value_or(result.blocks));
    }
    result.warps = result.blocks * warpsOf(block.threads);
    for (std::size_t i = 0; i < result.allowed.size(); ++i) {
        if (result.allowed[i] == result.blocks) {
            result.limits.push_back(static_cast<OccupancyLimit>(i));
        }
    }
    return result;
}

std::int64_t mostRegisters(std::int64_t threads, const chip::Multiprocessor& sm)
{
    const std::int64_t ofWarp = sm.registers / alignTo(warpsOf(threads), sm.warpGranule);
    return std::min(alignDown(ofWarp, sm.registerGranule) / chip::kWarpThreads,
                    sm.registersPerThread);
}

Waves waves(std::int64_t blocks, std::int64_t multiprocessors, std::int64_t blocksPerMultiprocessor)
{
    Waves result{.atATime = multiprocessors * blocksPerMultiprocessor};
    if (blocks > 0 && result.atATime > 0) {
        result.waves = ceilDiv(blocks, result.atATime);
        result.last = blocks - (result.waves - 1) * result.atATime;
    }
    return result;
}

} // namespace pallascope::cost
