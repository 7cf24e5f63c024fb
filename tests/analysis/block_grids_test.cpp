// What a report says about the blocks of a kernel for a GPU, and about the memory of an SM that
// several of them share.
#include "core/analysis/block_grids.h"
#include "core/analysis/owners.h"
#include "core/ir/builder.h"
#include "core/ir/builder_gpu.h"
#include "tests/analysis/runs.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pallascope::analysis_test {

namespace {

trace::BlockGrid exampleGrid()
{
    return {.source = {},
            .threads = 384,
            .agents = 3,
            .shared = Bytes(67'616),
            .arrays = Bytes(66 << 10),
            .barriers = 4,
            .hasReductions = true,
            .registers = 168,
            .blocksPerSm = 1,
            .warpsPerSm = 12,
            .warpsAtMost = 64,
            .allowed = {{"registers", 1}, {"shared memory", 3}, {"threads", 5}, {"blocks", 32}},
            .blocks = 512,
            .atATime = 132,
            .waves = 4,
            .last = 116};
}

// Blocks of one warpgroup with `kib` KiB of shared memory, which one copy fills.
std::shared_ptr<const trace::Trace> sharedRun(std::int32_t blocks, Extent kib)
{
    const Extent count = kib * 256;
    Result<ir::Program> program = pl::kernel(
        "shares", {pl::in("x", DType::F32, {count}), pl::out("y", DType::F32, {blocks, 128})},
        [&](pl::Ref x, pl::Ref y) {
            pl::gpu::launch({{{"block", blocks}}}, [&] {
                pl::gpu::runScoped(
                    {pl::gpu::smem("tile", DType::F32, {count}), pl::gpu::barrier("full")}, true,
                    [&](const std::vector<pl::Ref>& refs) {
                        pl::gpu::copyGmemToSmem(x, refs[0], refs[1]);
                        pl::gpu::barrierWait(refs[1]);
                        y.at({pl::axisIndex("block"), pl::all})[pl::all] =
                            pl::full({128}, 0, DType::F32);
                    });
            });
        });
    EXPECT_TRUE(program) << program.error().message;
    return runOf(*program, "h100_sxm");
}

// Each block copies once more than the one before it, and waits for each copy.
ir::Program unequalBlocks(std::int32_t blocks)
{
    constexpr Extent kCount = 1 << 12;
    return pl::kernel(
               "unequal",
               {pl::in("x", DType::F32, {kCount}), pl::out("y", DType::F32, {blocks, 128})},
               [&](pl::Ref x, pl::Ref y) {
                   pl::gpu::launch({{{"block", blocks}}}, [&] {
                       pl::gpu::runScoped(
                           {pl::gpu::smem("tile", DType::F32, {kCount}), pl::gpu::barrier("full")},
                           true, [&](const std::vector<pl::Ref>& refs) {
                               for (std::int32_t round = 0; round < blocks; ++round) {
                                   pl::when(pl::axisIndex("block") >= round, [&] {
                                       pl::gpu::copyGmemToSmem(x, refs[0], refs[1]);
                                       pl::gpu::barrierWait(refs[1]);
                                   });
                               }
                               y.at({pl::axisIndex("block"), pl::all})[pl::all] =
                                   pl::full({128}, 0, DType::F32);
                           });
                   });
               })
        .value();
}

struct GpuRun
{
    std::string name, chip;
    ir::Program program;
};

std::vector<GpuRun> gpuRuns()
{
    const std::map<std::string, std::string> small{{"m", "512"}, {"n", "1024"}, {"k", "256"}};
    std::vector<GpuRun> runs{{"unequal", "h100_sxm", unequalBlocks(5)}};
    for (const char* specialized : {"yes", "no"}) {
        auto given = small;
        given["warp_specialized"] = specialized;
        runs.push_back(
            {std::string("hopper, ") + specialized, "h100_sxm", programOf("hopper_matmul", given)});
    }
    for (const char* persistent : {"yes", "no"}) {
        auto given = small;
        given["persistent"] = persistent;
        given["store_warpgroup"] = persistent;
        runs.push_back({std::string("blackwell, ") + persistent, "b200",
                        programOf("blackwell_matmul", given)});
    }
    runs.push_back(
        {"attention", "h100_sxm",
         programOf("flash_attention", {{"heads", "3"}, {"queries", "8192"}, {"keys", "256"}})});
    return runs;
}

} // namespace

TEST(BlockGrids, areSaidInWords)
{
    trace::BlockGrid grid = exampleGrid();
    EXPECT_EQ(analysis::linesOf(grid),
              (std::vector<std::string>{
                  "a block has 3 warpgroups and takes 67\u2009616 bytes of shared memory: 66 KiB "
                  "of arrays and of scratch for reductions, 4 barriers",
                  "an SM runs 1 block at a time (12 of 64 warps), limited by registers; each alone "
                  "allows: registers 1, shared memory 3, threads 5, blocks 32",
                  "168 registers a thread are assumed; the compiler decides how many there are",
                  "512 blocks in 4 waves of 132 at a time; the last has 116"}));
    grid.assumesRegisters = false;
    EXPECT_EQ(analysis::linesOf(grid).at(2), "168 registers a thread");
    grid.threads = 64;
    EXPECT_TRUE(analysis::linesOf(grid).at(0).starts_with("a block has 2 warps and takes"));
    EXPECT_TRUE(analysis::gridText(grid).starts_with("blocks  a block has 2 warps and takes"));
}

TEST(BlockGrids, areObjectsInJson)
{
    const auto json = analysis::gridJson<nlohmann::ordered_json>(exampleGrid(), "k.py:3");
    EXPECT_EQ(json["source"], "k.py:3");
    EXPECT_EQ(json["limited_by"], nlohmann::ordered_json::array({"registers"}));
    EXPECT_EQ(json["allowed_blocks"]["shared memory"], 3);
    EXPECT_TRUE(analysis::gridJson<nlohmann::ordered_json>(exampleGrid(), "")["source"].is_null());
}

TEST(BlockGrids, theFullestSmHasAsManyBlocksAsFitOrAreLeft)
{
    trace::BlockGrid grid = exampleGrid();
    grid.blocksPerSm = 4;
    grid.atATime = 4 * 132;
    for (const auto& [blocks, together] :
         std::map<std::int64_t, std::int64_t>{{1, 1}, {132, 1}, {133, 2}, {500, 4}, {9999, 4}}) {
        grid.blocks = blocks;
        EXPECT_EQ(grid.together(), together) << blocks;
    }
}

TEST(BlockGrids, memoryOfAnSmIsThatOfAllItsBlocks)
{
    const auto reportOf = [](std::int32_t blocks, Extent kib) {
        return analysis::report(*sharedRun(blocks, kib)).value();
    };
    EXPECT_EQ(reportOf(132, 40).vmemPeak, Bytes(40 << 10));
    const analysis::Report two = reportOf(200, 40);
    EXPECT_EQ(two.vmemPeak, Bytes(80 << 10));
    EXPECT_EQ(two.blocksTogether, 2);
    EXPECT_EQ(two.vmemByOperand.at(0).bytes, two.vmemPeak);
    EXPECT_EQ(reportOf(200, 120).vmemPeak, Bytes(120 << 10)) << "only one fits";
}

TEST(BlockGrids, unitsBelongToSmsHoweverManyBlocksTheseRun)
{
    const auto run = sharedRun(200, 40);
    EXPECT_EQ(analysis::agentsUsed(run->info()), 200);
    const chip::Chip chip = chip::parse(run->info().chipJson, "in the trace").value();
    for (std::size_t unit = 0; unit < run->info().units.size(); ++unit) {
        EXPECT_EQ(analysis::ownersOf(run->info(), chip, unit), 132) << run->info().units[unit].name;
    }
}

TEST(BlockGrids, whereNoneRunsASmIsIdle)
{
    for (const GpuRun& one : gpuRuns()) {
        SCOPED_TRACE(one.name);
        const auto run = runOf(one.program, one.chip);
        const trace::GridBlocks& blocks = run->gridBlocks();
        const trace::BlockGrid& grid = run->info().blockGrids.at(0);
        std::int64_t ran = 0;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            ran += blocks.claimed[i] != 0 ? 0 : blocks.end[i] - blocks.begin[i];
        }
        const analysis::Report report = analysis::report(*run).value();
        const analysis::TimeSplit& split = report.split;
        const auto places = static_cast<double>(std::min(grid.blocks, grid.atATime));
        const auto idle = static_cast<double>((report.time - split.launches).value())
                          - static_cast<double>(ran) / places;
        EXPECT_NEAR(static_cast<double>(split.idle.value()), idle, 10) << "ps";
        EXPECT_GE(split.compute, Picoseconds(0));
        EXPECT_EQ(split.compute + split.exposedCopies + split.products + split.otherAgents
                      + split.launches + split.fusions + split.stepOverhead + split.prologue
                      + split.epilogue + split.idle,
                  report.time);
        if (one.name == "unequal") {
            EXPECT_GT(ratio(split.idle, report.time), 0.2);
            EXPECT_EQ(split.otherAgents, Picoseconds(0)) << "a block has no other agents";
        }
    }
}

} // namespace pallascope::analysis_test
