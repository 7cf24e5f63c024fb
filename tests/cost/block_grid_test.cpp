// The shared memory of a block, by the rule of JAX's Mosaic GPU lowering, and the blocks of a grid.
#include "core/cost/block_grid.h"
#include "core/ir/builder_gpu.h"
#include "tests/cost/v5e.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace pallascope::cost_test {

namespace {

using Allocations = std::vector<pl::gpu::Allocation>;

pl::gpu::Allocation sharedArray(DType dtype, Shape shape)
{
    return pl::gpu::smem("array", dtype, std::move(shape));
}

// `count` barriers, each of whose phases `arrivals` arrivals complete.
pl::gpu::Allocation barriers(std::int64_t arrivals, Extent count)
{
    return pl::gpu::barrier("full", static_cast<std::int32_t>(arrivals), {count});
}

void inScope(
    const Allocations& allocations, const std::function<void()>& body = [] {})
{
    pl::gpu::runScoped(allocations, true, [&](const std::vector<pl::Ref>&) { body(); });
}

void reduceOnce()
{
    (void)pl::reduce(ir::OpCode::ReduceSum, pl::full({128, 8}, 1, kF32), {1});
}

ir::Program blocksOf(const std::function<void()>& body, std::int32_t warpgroups = 1,
                     std::vector<ir::MeshAxis> grid = {})
{
    Result<ir::Program> program =
        pl::kernel("blocks", {pl::out("out", kF32, {8, 128})}, [&](const pl::Ref&) {
            pl::coreMap(ir::CoreMapParams{"wg", warpgroups, std::move(grid), ""}, body);
        });
    EXPECT_TRUE(program) << (program ? "" : program.error().message);
    return *std::move(program);
}

cost::BlockGrid gridOf(const ir::Program& program, std::optional<std::int64_t> registers = {})
{
    return cost::blockGrids(program, h100(), registers).at(0);
}

std::int64_t sharedOf(const std::function<void()>& body)
{
    return gridOf(blocksOf(body)).shared.total().value();
}

} // namespace

// Of a union only the largest group counts, and barriers of the hardware take no memory.
TEST(BlockShared, ofAUnionIsThatOfItsLargestGroup)
{
    ir::Program program = blocksOf([] {
        inScope({sharedArray(kBf16, {128, 64}), sharedArray(kBf16, {64, 64}),
                 sharedArray(kF32, {8, 128}), sharedArray(kF32, {8, 8}), barriers(1, 4)});
    });
    const Bytes apart = gridOf(program).shared.total();
    EXPECT_EQ(apart, Bytes(16384 + 8192 + 4096 + 1024 + 4 * 8));
    ir::Operation& coreMap = program.body.operations[0];
    auto& scoped = std::get<ir::ScopedParams>(coreMap.regions[0].operations[0].params);
    scoped.unions = {1, 1, 1, 0, 0};
    scoped.groups = {0, 1, 1, 0, 0};
    EXPECT_EQ(gridOf(program).shared.total(), Bytes(16384 + 1024 + 4 * 8));
    scoped.groups = {0, 0, 1, 0, 0};
    EXPECT_EQ(gridOf(program).shared.total(), Bytes(16384 + 8192 + 1024 + 4 * 8));
    scoped.named = true;
    EXPECT_EQ(gridOf(program).shared.total(), Bytes(16384 + 8192 + 1024));
}

TEST(BlockShared, roundsEachArrayUp)
{
    EXPECT_EQ(sharedOf([] {}), 0);
    EXPECT_EQ(sharedOf([] { inScope({sharedArray(kF32, {3})}); }), 1024);
    EXPECT_EQ(sharedOf([] {
                  inScope({sharedArray(kF32, {3}), sharedArray(kBf16, {513})});
              }),
              1024 + 2048);
    EXPECT_EQ(sharedOf([] { inScope({sharedArray(DType::Int4, {2050})}); }), 2048);
    EXPECT_EQ(sharedOf([] { inScope({sharedArray(kF32, {0})}); }), 0);
}

// The lowering of JAX's hopper_matmul with tiles of 256 x 128 x 64 and 6 slots fails with
// "smem_bytes=426080 > max_smem_bytes=232448".
TEST(BlockShared, ofHopperMatmulIsThatOfItsLowering)
{
    const ir::Program program = blocksOf([] {
        inScope({sharedArray(kBf16, {6, 256, 64}), sharedArray(kBf16, {6, 64, 256}),
                 sharedArray(kBf16, {128, 128}), barriers(1, 6), barriers(2, 6)});
    });
    EXPECT_EQ(gridOf(program).shared.total(), Bytes(426'080));
    EXPECT_EQ(gridOf(program).shared.barriers, 12);
    EXPECT_EQ(gridOf(program).occupancy.blocks, 0);
    const Status fits = cost::checkBlocks(program, h100());
    ASSERT_FALSE(fits);
    EXPECT_EQ(fits.error().kind, ErrorKind::Limit);
    for (const char* words : {"a block of blocks needs 426\u2009080 bytes of shared memory",
                              "NVIDIA H100 SXM has 232\u2009448 for a block"}) {
        EXPECT_NE(fits.error().message.find(words), std::string::npos) << fits.error().message;
    }
}

TEST(BlockShared, ofScopesThatFollowEachOtherIsTheLargest)
{
    EXPECT_EQ(sharedOf([] {
                  inScope({sharedArray(kF32, {256})});
                  inScope({sharedArray(kF32, {1024})}, [] { inScope({sharedArray(kF32, {512})}); });
                  inScope({sharedArray(kF32, {700})});
              }),
              4096 + 2048);
    EXPECT_EQ(sharedOf([] {
                  pl::foriLoop(3, {}, [](const pl::Value&, const std::vector<pl::Value>&) {
                      inScope({sharedArray(kF32, {512})});
                      return std::vector<pl::Value>{};
                  });
                  pl::when(pl::axisIndex("wg") == 0, [] { inScope({sharedArray(kF32, {256})}); });
              }),
              2048);
}

TEST(BlockShared, sharesBarriersThatAreAlike)
{
    const auto two = [](const pl::gpu::Allocation& first, const pl::gpu::Allocation& second) {
        return sharedOf([&] {
            inScope({first});
            inScope({second});
        });
    };
    EXPECT_EQ(two(barriers(1, 4), barriers(1, 4)), 32);
    EXPECT_EQ(two(barriers(1, 4), barriers(2, 4)), 64);
    EXPECT_EQ(two(barriers(1, 4), barriers(1, 2)), 48);
    EXPECT_EQ(sharedOf([] { inScope({barriers(1, 4)}, [] { inScope({barriers(1, 4)}); }); }), 64);
}

TEST(BlockShared, hasScratchForReductions)
{
    EXPECT_EQ(sharedOf(reduceOnce), 2048);
    EXPECT_EQ(sharedOf([] {
                  reduceOnce();
                  reduceOnce();
              }),
              2048);
    EXPECT_EQ(sharedOf([] { inScope({sharedArray(kF32, {256})}, reduceOnce); }), 1024 + 2048);
    EXPECT_EQ(sharedOf([] {
                  inScope({sharedArray(kF32, {2048})});
                  reduceOnce();
              }),
              8192);
}

// Whatever is nested how, the need is that of the chain of scopes that needs most; and of each kind
// of barriers that of the chain with most of them.
TEST(BlockShared, isThatOfTheChainThatNeedsMost)
{
    using Kind = std::pair<std::int64_t, std::int64_t>;

    struct Chain
    {
        std::int64_t bytes = 0;
        std::map<Kind, std::int64_t> barriers;
    };

    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto upTo = [&](std::uint32_t most) {
            return static_cast<std::int64_t>(random() % (most + 1));
        };
        std::vector<Chain> chains;
        const std::function<void(int, const Chain&)> fill = [&](int depth, const Chain& around) {
            chains.push_back(around);
            for (std::int64_t left = upTo(3); left > 0; --left) {
                Chain chain = around;
                if (depth == 3 || upTo(3) == 0) {
                    reduceOnce();
                    chain.bytes += 2048;
                    chains.push_back(chain);
                    continue;
                }
                Allocations scratch;
                for (std::int64_t refs = upTo(3); refs > 0; --refs) {
                    if (upTo(1) == 0) {
                        const std::int64_t elements = 1 + upTo(3000);
                        scratch.push_back(sharedArray(kF32, {elements}));
                        chain.bytes += (elements * 4 + 1023) / 1024 * 1024;
                    } else {
                        const Kind kind{1 + upTo(1), 1 + upTo(1)};
                        scratch.push_back(barriers(kind.first, kind.second));
                        ++chain.barriers[kind];
                    }
                }
                inScope(scratch, [&] { fill(depth + 1, chain); });
            }
        };
        const std::int64_t found = sharedOf([&] { fill(0, {}); });
        std::int64_t bytes = 0;
        std::map<Kind, std::int64_t> most;
        for (const Chain& chain : chains) {
            bytes = std::max(bytes, chain.bytes);
            for (const auto& [kind, count] : chain.barriers) {
                most[kind] = std::max(most[kind], count);
            }
        }
        for (const auto& [kind, count] : most) {
            bytes += 8 * kind.second * count;
        }
        EXPECT_EQ(found, bytes);
    }
}

TEST(BlockGrid, saysHowManyBlocksRunAtATimeAndInWhichWaves)
{
    const ir::Program program = blocksOf(
        [] {
            inScope({sharedArray(kBf16, {4, 128, 64}), barriers(1, 4)});
        },
        3, {{"m", 16}, {"n", 32}});
    const cost::BlockGrid grid = gridOf(program, cost::kMostRegisters);
    EXPECT_EQ(grid.block.threads, 384);
    EXPECT_EQ(grid.block.registersPerThread, 168);
    EXPECT_TRUE(grid.assumesRegisters);
    EXPECT_EQ(grid.block.shared, Bytes(65'536 + 32));
    EXPECT_EQ(grid.occupancy.blocks, 1);
    EXPECT_EQ(grid.blocks, 512);
    EXPECT_EQ(grid.waves.waves, 4);
    EXPECT_EQ(grid.waves.last, 512 - 3 * 132);
    EXPECT_TRUE(cost::checkBlocks(program, h100()));
    const cost::BlockGrid estimated = gridOf(program); // no values, so hardly any registers
    EXPECT_EQ(estimated.block.registersPerThread, 24);
    EXPECT_TRUE(estimated.assumesRegisters);
    EXPECT_EQ(estimated.occupancy.blocks, 3);
    const cost::BlockGrid few = gridOf(program, 64);
    EXPECT_FALSE(few.assumesRegisters);
    EXPECT_EQ(few.occupancy.blocks, 2); // 32 warps; 4 x 66 592 bytes are more than there are
    EXPECT_EQ(few.waves.waves, 2);
    EXPECT_TRUE(cost::blockGrids(program, v5e()).empty());
}

TEST(BlockGrid, withTooManyRegistersIsRefused)
{
    const ir::Program program = blocksOf([] {}, 3);
    EXPECT_TRUE(cost::checkBlocks(program, h100(), 168));
    const auto sentence = [&](std::int64_t registers) {
        const Status fits = cost::checkBlocks(program, h100(), registers);
        return fits ? "" : fits.error().message;
    };
    EXPECT_NE(sentence(169).find("with 169 registers a thread, a block of blocks with 384 threads "
                                 "does not fit; NVIDIA H100 SXM has 65\u2009536 in an SM, so 168 a "
                                 "thread are the most."),
              std::string::npos)
        << sentence(169);
    EXPECT_EQ(sentence(256), "The setting registers is 256; expected estimate, most or 1 to 255.");
    const Status ofTpu = cost::checkBlocks(program, v5e(), 64);
    ASSERT_FALSE(ofTpu);
    EXPECT_EQ(ofTpu.error().message, "The setting registers says how many a thread of a GPU has, "
                                     "which TPU v5e is not.");
}

TEST(BlockGrid, countsTheThreadsOfItsAgents)
{
    Result<ir::Program> program =
        pl::kernel("blocks", {pl::out("out", kF32, {8, 128})}, [&](const pl::Ref&) {
            ir::CoreMapParams mesh{"block"};
            mesh.threads = 64;
            pl::coreMap(mesh, [] {});
        });
    ASSERT_TRUE(program);
    const cost::BlockGrid grid = gridOf(*program, 64);
    EXPECT_EQ(grid.block.threads, 64);
    EXPECT_EQ(grid.occupancy.blocks, 16); // 32 warps of 64 registers a thread
}

TEST(BlockGrid, ofTooManyWarpgroupsIsRefused)
{
    EXPECT_TRUE(cost::checkBlocks(blocksOf([] {}, 8), h100()));
    const Status fits = cost::checkBlocks(blocksOf([] {}, 9), h100());
    ASSERT_FALSE(fits);
    EXPECT_NE(fits.error().message.find("a block of blocks has 9 warpgroups (1152 threads); NVIDIA "
                                        "H100 SXM takes 8 (1024)."),
              std::string::npos)
        << fits.error().message;
    EXPECT_TRUE(cost::checkBlocks(blocksOf([] {}, 9), v5e()));
}

} // namespace pallascope::cost_test
