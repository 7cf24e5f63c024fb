// How many blocks fit on a multiprocessor: compared with an oracle that allocates them one by one,
// and with figures that NVIDIA has published.
#include "core/chip/chip.h"
#include "core/cost/occupancy.h"
#include "tests/chip/chip_file.h"
#include "tests/support/tried.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace pallascope::cost_test {

namespace {

using cost::BlockDemand;
using cost::Occupancy;
using cost::OccupancyLimit;

// Typed in from the CUDA C++ Programming Guide, technical specifications per compute capability.
struct Capability
{
    const char* chip;
    int major, minor;
    std::int64_t kibibytes, threads, blocks;
};

constexpr std::array<Capability, 7> kCapabilities{{{"a100_40", 8, 0, 164, 2048, 32},
                                                   {"a100_80", 8, 0, 164, 2048, 32},
                                                   {"l4", 8, 9, 100, 1536, 24},
                                                   {"h100_sxm", 9, 0, 228, 2048, 32},
                                                   {"h100_pcie", 9, 0, 228, 2048, 32},
                                                   {"h200", 9, 0, 228, 2048, 32},
                                                   {"b200", 10, 0, 228, 2048, 32}}};

chip::Multiprocessor multiprocessorOf(const std::string& name)
{
    const Result<chip::Chip> chip = chip::parse(chip::chipText(name), name);
    EXPECT_TRUE(chip) << (chip ? "" : chip.error().message);
    return chip->multiprocessor.value();
}

// A multiprocessor whose resources are handed out piece by piece: four partitions, each with a
// quarter of the registers and of the places for warps, and one shared memory.
class Allocator
{
public:
    explicit Allocator(const Capability& of)
        : m_of(of)
        , m_shared(of.kibibytes * 1024)
    {
        m_registers.fill(16384);
        m_warps.fill(static_cast<int>(of.threads / 32 / 4));
    }

    // Takes what one block needs; false if something is exhausted.
    bool add(const BlockDemand& block)
    {
        if (block.threads > 1024 || block.registersPerThread > 255
            || block.shared.value() > (m_of.kibibytes - 1) * 1024 || m_blocks == m_of.blocks) {
            return false;
        }
        ++m_blocks;
        for (std::int64_t left = block.shared.value() + 1024; left > 0; left -= 128) {
            m_shared -= 128;
        }
        for (std::int64_t thread = 0; thread < block.threads; thread += 32) {
            if (!addWarp(block.registersPerThread)) {
                return false;
            }
        }
        return m_shared >= 0;
    }

private:
    bool addWarp(std::int64_t registersPerThread)
    {
        std::int64_t taken = 0;
        while (taken < 32 * registersPerThread) {
            taken += 256;
        }
        for (std::size_t i = 0; i < 4; ++i) {
            if (m_warps[i] > 0 && m_registers[i] >= taken) {
                --m_warps[i];
                m_registers[i] -= taken;
                return true;
            }
        }
        return false;
    }

    const Capability& m_of;
    std::array<std::int64_t, 4> m_registers{};
    std::array<int, 4> m_warps{};
    std::int64_t m_shared, m_blocks = 0;
};

std::int64_t allocated(const Capability& of, const BlockDemand& block)
{
    Allocator allocator(of);
    std::int64_t blocks = 0;
    while (allocator.add(block)) {
        ++blocks;
    }
    return blocks;
}

Occupancy occupied(const std::string& chip, std::int64_t threads, std::int64_t registers,
                   std::int64_t shared)
{
    return cost::occupancy({threads, registers, Bytes(shared)}, multiprocessorOf(chip));
}

using OccupancyLimits = std::vector<OccupancyLimit>;

} // namespace

TEST(Occupancy, isWhatAllocatingBlocksOneByOneGives)
{
    const auto kBlocks = test::tried<std::uint32_t>(2000);
    std::array<std::uint32_t, 4> limited{}; // tensor memory has a test of its own
    for (std::uint32_t seed = 0; seed < kBlocks; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto upTo = [&](std::uint32_t most) {
            return static_cast<std::int64_t>(random() % (most + 1));
        };
        const Capability& of =
            kCapabilities[static_cast<std::size_t>(upTo(kCapabilities.size() - 1))];
        BlockDemand block;
        block.threads = 1 + upTo(seed % 3 == 0 ? 1087 : 511);
        block.registersPerThread = 1 + upTo(seed % 5 == 0 ? 259 : 63);
        block.shared = Bytes(upTo(seed % 2 == 0 ? 4096 : 234'000));
        const Occupancy found = cost::occupancy(block, multiprocessorOf(of.chip));
        EXPECT_EQ(found.blocks, allocated(of, block))
            << of.chip << ": " << block.threads << " threads, " << block.registersPerThread
            << " registers, " << block.shared.value() << " bytes";
        EXPECT_EQ(found.warps, found.blocks * ((block.threads + 31) / 32));
        for (const OccupancyLimit limit : found.limits) {
            ++limited[static_cast<std::size_t>(limit)];
        }
    }
    // Each limit is met often, so that none of them is left untried.
    EXPECT_GT(*std::min_element(limited.begin(), limited.end()), kBlocks / 50);
}

// What limits a block is what gives room for another one if there is more of it.
TEST(Occupancy, isLimitedByWhatWouldAllowMoreBlocks)
{
    for (std::uint32_t seed = 0; seed < test::tried<std::uint32_t>(500); ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto upTo = [&](std::uint32_t most) {
            return static_cast<std::int64_t>(random() % (most + 1));
        };
        const std::int64_t threads = 1 + upTo(1023), registers = 1 + upTo(254);
        const BlockDemand block{threads, registers, Bytes(upTo(99 * 1024))};
        const chip::Multiprocessor sm = multiprocessorOf("l4");
        const Occupancy found = cost::occupancy(block, sm);
        ASSERT_FALSE(found.limits.empty());
        chip::Multiprocessor larger = sm;
        for (const OccupancyLimit limit : found.limits) {
            switch (limit) {
            case OccupancyLimit::Registers:
                larger.registers *= 64;
                break;
            case OccupancyLimit::SharedMemory:
                larger.shared = larger.shared * 64;
                larger.sharedPerBlock = larger.shared;
                break;
            case OccupancyLimit::Threads:
                larger.threads *= 64;
                break;
            case OccupancyLimit::Blocks:
                larger.blocks *= 64;
                break;
            case OccupancyLimit::TensorMemory:
                FAIL() << "the block takes none";
            }
        }
        EXPECT_GT(cost::occupancy(block, larger).blocks, found.blocks);
    }
}

TEST(Occupancy, byTensorMemoryIsHowManyBlocksFitSideBySide)
{
    const chip::Multiprocessor sm = multiprocessorOf("b200");
    for (const auto& [columns, blocks] : std::map<std::int64_t, std::int64_t>{
             {512, 1}, {384, 1}, {256, 2}, {128, 4}, {1024, 1}}) { // refused elsewhere: 1024
        const Occupancy found = cost::occupancy({256, 32, Bytes(0), columns}, sm, 512);
        EXPECT_EQ(found.blocks, blocks);
        EXPECT_EQ(found.warps, 8 * blocks);
        EXPECT_EQ(found.limits, OccupancyLimits{OccupancyLimit::TensorMemory});
    }
    const Occupancy few = cost::occupancy({256, 32, Bytes(0), 32}, sm, 512);
    EXPECT_EQ(few.allowed.back(), 16);
    EXPECT_EQ(few.limits, (OccupancyLimits{OccupancyLimit::Registers, OccupancyLimit::Threads}));
    EXPECT_FALSE(cost::occupancy({256, 32, Bytes(0)}, sm, 512).allowed.back());
}

// CUDA C++ Best Practices Guide, Calculating Occupancy: 37 registers a thread, on a multiprocessor
// with 65 536 registers and 2048 threads.
TEST(Occupancy, ofTheBestPracticesGuideIsReached)
{
    const Occupancy small = occupied("a100_80", 128, 37, 0),
                    large = occupied("a100_80", 320, 37, 0);
    EXPECT_EQ(small.blocks, 12);
    EXPECT_EQ(small.warps, 48); // 75 % of 64
    EXPECT_EQ(large.blocks, 4);
    EXPECT_EQ(large.warps, 40); // 63 % of 64
    EXPECT_EQ(small.limits, OccupancyLimits{OccupancyLimit::Registers});
    EXPECT_EQ(large.limits, OccupancyLimits{OccupancyLimit::Registers});
    EXPECT_EQ(occupied("a100_80", 1024, 32, 0).warps, 64); // 32 registers allow all of them
}

// CUDA C++ Programming Guide, Multiprocessor Level: 512 threads of 64 registers, and one more.
TEST(Occupancy, ofTheProgrammingGuideIsReached)
{
    EXPECT_EQ(occupied("h100_sxm", 512, 64, 0).blocks, 2);
    EXPECT_EQ(occupied("h100_sxm", 512, 65, 0).blocks, 1);
}

// NVIDIA Hopper Tuning Guide: 228 KB of shared memory, 227 for a block, 1 reserved for each block.
TEST(Occupancy, bySharedMemoryCountsWhatIsReserved)
{
    EXPECT_EQ(occupied("h100_sxm", 128, 32, 227 * 1024).blocks, 1);
    EXPECT_EQ(occupied("h100_sxm", 128, 32, 227 * 1024 + 1).blocks, 0);
    EXPECT_EQ(occupied("h100_sxm", 128, 32, 113 * 1024).blocks, 2);
    EXPECT_EQ(occupied("h100_sxm", 128, 32, 113 * 1024 + 1).blocks, 1);
    EXPECT_EQ(occupied("h100_sxm", 128, 32, 113 * 1024 + 1).limits,
              OccupancyLimits{OccupancyLimit::SharedMemory});
    EXPECT_EQ(occupied("a100_80", 128, 32, 163 * 1024).blocks, 1);
    EXPECT_EQ(occupied("l4", 128, 32, 99 * 1024).blocks, 1);
    EXPECT_EQ(occupied("l4", 128, 32, 100 * 1024).blocks, 0);
}

TEST(Occupancy, ofThreeWarpgroupsIsOneBlockAtTheMostRegisters)
{
    const chip::Multiprocessor sm = multiprocessorOf("h100_sxm");
    EXPECT_EQ(cost::mostRegisters(384, sm), 168);
    EXPECT_EQ(occupied("h100_sxm", 384, 168, 0).blocks, 1);
    EXPECT_EQ(occupied("h100_sxm", 384, 169, 0).blocks, 0);
    EXPECT_EQ(occupied("h100_sxm", 384, 80, 0).blocks, 2);
    EXPECT_EQ(cost::mostRegisters(128, sm), 255);
    EXPECT_EQ(cost::mostRegisters(1024, sm), 64);
    for (std::int64_t threads = 1; threads <= 1024; ++threads) {
        const std::int64_t most = cost::mostRegisters(threads, sm);
        EXPECT_GE(cost::occupancy({threads, most, {}}, sm).blocks, 1) << threads;
        EXPECT_EQ(most == 255 ? 0 : cost::occupancy({threads, most + 1, {}}, sm).blocks, 0)
            << threads;
    }
}

TEST(Occupancy, ofNoBlockSaysWhatIsTooLarge)
{
    EXPECT_EQ(occupied("h100_sxm", 1152, 32, 0).limits, OccupancyLimits{OccupancyLimit::Threads});
    EXPECT_EQ(occupied("h100_sxm", 128, 256, 0).limits, OccupancyLimits{OccupancyLimit::Registers});
    EXPECT_EQ(occupied("h100_sxm", 128, 32, 300'000).limits,
              OccupancyLimits{OccupancyLimit::SharedMemory});
    EXPECT_EQ(occupied("h100_sxm", 32, 16, 0).limits, OccupancyLimits{OccupancyLimit::Blocks});
    EXPECT_EQ(occupied("l4", 32, 16, 0).blocks, 24);
}

TEST(Waves, endWithATail)
{
    const auto check = [](std::int64_t blocks, std::int64_t each, std::int64_t waves,
                          std::int64_t last) {
        const cost::Waves found = cost::waves(blocks, 132, each);
        EXPECT_EQ(found.atATime, 132 * each);
        EXPECT_EQ(found.waves, waves) << blocks;
        EXPECT_EQ(found.last, last) << blocks;
    };
    check(1, 1, 1, 1);
    check(132, 1, 1, 132);
    check(133, 1, 2, 1);
    check(133, 2, 1, 133);
    check(1024, 2, 4, 1024 - 3 * 264);
    check(0, 1, 0, 0);
    check(5, 0, 0, 0); // not even one block fits
}

// The limits of the chip files are those of their compute capabilities.
TEST(Multiprocessors, haveTheLimitsOfTheirCapability)
{
    for (const Capability& published : kCapabilities) {
        SCOPED_TRACE(published.chip);
        const chip::Multiprocessor sm = multiprocessorOf(published.chip);
        EXPECT_EQ(sm.computeMajor, published.major);
        EXPECT_EQ(sm.computeMinor, published.minor);
        EXPECT_EQ(sm.shared, Bytes(published.kibibytes * 1024));
        EXPECT_EQ(sm.sharedPerBlock, Bytes((published.kibibytes - 1) * 1024));
        EXPECT_EQ(sm.sharedReserved, Bytes(1024));
        EXPECT_EQ(sm.threads, published.threads);
        EXPECT_EQ(sm.threadsPerBlock, 1024);
        EXPECT_EQ(sm.blocks, published.blocks);
        EXPECT_EQ(sm.registers, 65536);
        EXPECT_EQ(sm.registersPerThread, 255);
        EXPECT_EQ(sm.namedBarriers, 16);
        EXPECT_EQ(sm.clusterBlocks.has_value(), published.major >= 9);
    }
}

} // namespace pallascope::cost_test
