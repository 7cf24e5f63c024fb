// L2 of a GPU in a run: which copies it serves, and when.
#include "core/analysis/report.h"
#include "core/ir/builder_gpu.h"
#include "core/trace/summary.h"
#include "tests/machine/engine/gmem_tile.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;
using Refs = std::vector<pl::Ref>;

// Each of `blocks` blocks copies `reads` tiles of x into SMEM, one after another: the tile whose
// number is what `tileOf` makes of the block and the round.
using TileOf = pl::Value (*)(pl::Value block, pl::Value round);

ir::Program readProgram(std::int32_t tiles, std::int32_t blocks, std::int32_t reads, TileOf tileOf)
{
    return mustTrace(pl::kernel(
        "read", {pl::in("x", kF32, {tiles * kTileRows, kTileColumns}), pl::out("y", kF32, {1})},
        [&](pl::Ref x, pl::Ref y) {
            gpu::launch({{{"block", blocks}}}, [&] {
                gpu::runScoped(
                    {gpu::smem("tile", kF32, {kTileRows, kTileColumns}), gpu::barrier("ready")},
                    true, [&](const Refs& refs) {
                        pl::foriLoop(reads, {}, [&](pl::Value round, std::vector<pl::Value>) {
                            const pl::Value row =
                                tileOf(pl::axisIndex("block"), round) * static_cast<int>(kTileRows);
                            gpu::copyGmemToSmem(x.at({pl::ds(row, kTileRows), pl::all}), refs[0],
                                                refs[1]);
                            gpu::barrierWait(refs[1]);
                            return std::vector<pl::Value>{};
                        });
                    });
                pl::when(pl::axisIndex("block") == 0, [&] { y[pl::all] = pl::full({1}, 0, kF32); });
            });
        }));
}

machine::RunResult runWith(const ir::Program& program, std::int32_t tiles, const chip::Chip& chip)
{
    return mustRun(program, {Array{kF32, {tiles * kTileRows, kTileColumns}, {}}},
                   machine::ValueMode::Needed, chip);
}

// How many copies of tiles the link of this name carried.
std::int64_t copiesOver(const machine::RunResult& run, const std::string& link)
{
    std::int64_t count = 0;
    const trace::Copies& copies = run.trace->copies();
    for (std::size_t i = 0; i < copies.size(); ++i) {
        const auto& one = run.trace->info().links[static_cast<std::size_t>(copies.link[i])];
        count += one.name == link && Bytes(copies.bytes[i]) == kTile ? 1 : 0;
    }
    return count;
}

// When the block that waited for this copy went on.
std::int64_t endOfWaitFor(const machine::RunResult& run, std::int32_t copy)
{
    const trace::Waits& waits = run.trace->waits();
    const auto found = std::find(waits.copy.begin(), waits.copy.end(), copy);
    return found == waits.copy.end()
               ? -1
               : waits.end[static_cast<std::size_t>(found - waits.copy.begin())];
}

chip::Chip withL2Of(Bytes bytes)
{
    chip::Chip chip = h100();
    chip.multiprocessor->l2Usable = bytes;
    return chip;
}

// An H100 of which an SM takes all that comes.
chip::Chip withoutPort()
{
    chip::Chip chip = h100();
    chip.multiprocessor->portBytesPerCycle.reset();
    return chip;
}

pl::Value roundOf(pl::Value, pl::Value round)
{
    return round;
}

} // namespace

TEST(L2, aTileComesFromGmemOnceForAllBlocks)
{
    const machine::RunResult run = runWith(readProgram(3, 100, 3, roundOf), 3, h100());
    EXPECT_EQ(copiesOver(run, "HBM"), 3);
    EXPECT_EQ(copiesOver(run, "L2"), 3 * 100 - 3);
}

// Two blocks copy one tile at the same time.
TEST(L2, nothingArrivesBeforeItHasComeToL2)
{
    const machine::RunResult run = runWith(readProgram(1, 2, 1, roundOf), 1, h100());
    const trace::Copies& copies = run.trace->copies();
    ASSERT_EQ(copiesOver(run, "L2"), 1);
    EXPECT_EQ(copies.issue[0], copies.issue[1]);
    const chip::Link& gmem = h100().links[0];
    const chip::Link& l2 = h100().links[1];
    EXPECT_EQ(copies.start[0] - copies.issue[0], gmem.latency.value());
    EXPECT_EQ(copies.start[1] - copies.issue[1], l2.latency.value());
    EXPECT_NEAR(static_cast<double>(copies.end[1] - copies.start[1]),
                static_cast<double>(kTile.value()) / l2.achieved().value() * 1e12, 1);
    EXPECT_GE(endOfWaitFor(run, 0), copies.end[0]);
    EXPECT_GE(endOfWaitFor(run, 1), copies.end[0]);
}

// Of three blocks, the first two copy a tile that comes from HBM meanwhile, and the third one that
// L2 holds.
TEST(L2, whatIsOnItsWayHoldsUpNothingElse)
{
    const TileOf tiles = [](pl::Value block, pl::Value round) {
        return round * (1 - block / 2); // 0 first; then 1, 1 and 0
    };
    const machine::RunResult run = runWith(readProgram(2, 3, 2, tiles), 2, h100());
    const trace::Copies& copies = run.trace->copies();
    ASSERT_EQ(copiesOver(run, "HBM"), 2);
    const auto second = [&](std::int64_t tile, const std::string& link) { // of the second round
        for (std::int32_t row = 3; row < 6; ++row) {
            const auto i = static_cast<std::size_t>(row);
            const auto over = static_cast<std::size_t>(copies.link[i]);
            if (copies.block[i] == tile && run.trace->info().links[over].name == link) {
                return row;
            }
        }
        return -1;
    };
    const std::int64_t comes = copies.end.at(static_cast<std::size_t>(second(1, "HBM")));
    EXPECT_GE(endOfWaitFor(run, second(1, "L2")), comes);
    EXPECT_GE(endOfWaitFor(run, second(0, "L2")), 0);
    EXPECT_LT(endOfWaitFor(run, second(0, "L2")), comes);
}

TEST(L2, aHitIsSoonerThanAMiss)
{
    const machine::RunResult run = runWith(readProgram(2, 1, 2, roundOf), 2, h100());
    const machine::RunResult again = runWith(
        readProgram(1, 1, 2, [](pl::Value, pl::Value round) { return round * 0; }), 1, h100());
    EXPECT_LT(again.trace->end(), run.trace->end());
}

TEST(L2, tilesThatDoNotFitComeFromGmemAgain)
{
    constexpr std::int32_t kTiles = 10, kTimes = 3;
    const TileOf around = [](pl::Value, pl::Value round) { return round % kTiles; };
    const ir::Program program = readProgram(kTiles, 1, kTiles * kTimes, around);
    EXPECT_EQ(copiesOver(runWith(program, kTiles, withL2Of(kTile * kTiles)), "HBM"), kTiles);
    // The oldest tile is always the one that comes next.
    EXPECT_EQ(copiesOver(runWith(program, kTiles, withL2Of(kTile * (kTiles - 1))), "HBM"),
              kTiles * kTimes);
}

// The order of the grid decides what HBM sees: 4 x 16 pairs of a row panel and a column panel, of
// which L2 holds 8 and SMs work on one after another.
TEST(L2, aSnakeThroughTheGridReadsLessThanRows)
{
    constexpr int kWide = 16, kHigh = 4;
    // Round 2 i reads the row panel of the i-th pair, and round 2 i + 1 its column panel.
    const TileOf byRows = [](pl::Value, pl::Value round) {
        const pl::Value pair = round / 2;
        return pl::select(round % 2 == 0, pair / kWide, pair % kWide + kHigh);
    };
    const TileOf bySnake = [](pl::Value, pl::Value round) {
        const pl::Value pair = round / 2, column = pair / kHigh, down = pair % kHigh;
        const pl::Value row = pl::select(column % 2 == 0, down, kHigh - 1 - down);
        return pl::select(round % 2 == 0, row, column + kHigh);
    };
    const auto misses = [](TileOf order) {
        return copiesOver(runWith(readProgram(kWide + kHigh, 1, 2 * kWide * kHigh, order),
                                  kWide + kHigh, withL2Of(kTile * 8)),
                          "HBM");
    };
    EXPECT_EQ(misses(byRows), kHigh + kWide * kHigh); // the column panels again for each row
    EXPECT_EQ(misses(bySnake), kHigh + kWide);
}

TEST(L2, bytesOfHitsAreNotReadFromHbm)
{
    const machine::RunResult run = runWith(readProgram(3, 100, 3, roundOf), 3, h100());
    const trace::Summary sums = trace::summaryOf(*run.trace);
    EXPECT_EQ(sums.moved[0][trace::Summary::Read].bytes, kTile * 3);
    EXPECT_EQ(sums.moved[0][trace::Summary::OnChip].bytes, kTile * (3 * 99));
}

namespace {

// Blocks of one warpgroup that load a tile of x and store it to y, without the TMA.
ir::Program loadProgram(std::int32_t tiles, std::int32_t blocks)
{
    return mustTrace(pl::kernel(
        "load",
        {pl::in("x", kF32, {tiles * kTileRows, kTileColumns}),
         pl::out("y", kF32, {blocks * kTileRows, kTileColumns})},
        [&](pl::Ref x, pl::Ref y) {
            gpu::launch({{{"block", blocks}}}, [&] {
                const pl::Value block = pl::axisIndex("block");
                const pl::Value from = block % tiles * static_cast<int>(kTileRows),
                                to = block * static_cast<int>(kTileRows);
                y[{pl::ds(to, kTileRows), pl::all}] = x[{pl::ds(from, kTileRows), pl::all}].load();
            });
        }));
}

} // namespace

TEST(L2, loadsFindWhatOthersHaveLoadedAndStoresGoOn)
{
    const machine::RunResult run = runWith(loadProgram(3, 100), 3, h100());
    EXPECT_EQ(copiesOver(run, "HBM"), 3 + 100);
    EXPECT_EQ(copiesOver(run, "L2"), 100 - 3);
    const trace::Summary sums = trace::summaryOf(*run.trace);
    EXPECT_EQ(sums.moved[0][trace::Summary::Read].bytes, kTile * 3);
    EXPECT_EQ(sums.moved[0][trace::Summary::OnChip].bytes, kTile * 97);
    EXPECT_EQ(sums.moved[1][trace::Summary::Written].bytes, kTile * 100);
    const Result<analysis::Report> report = analysis::report(*run.trace);
    EXPECT_EQ(report->l2->missed, kTile * 3);
    EXPECT_EQ(report->l2->hit, kTile * 97);
}

TEST(L2, whatWasStoredIsLoadedFromThere)
{
    const ir::Program program = mustTrace(
        pl::kernel("again",
                   {pl::out("y", kF32, {kTileRows, kTileColumns}),
                    pl::out("z", kF32, {kTileRows, kTileColumns})},
                   [&](pl::Ref y, pl::Ref z) {
                       gpu::launch({}, [&] {
                           y[{pl::all, pl::all}] = pl::full({kTileRows, kTileColumns}, 1, kF32);
                           gpu::commitGroup(); // so that the load is of another segment
                           z[{pl::all, pl::all}] = y[{pl::all, pl::all}].load();
                       });
                   }));
    const machine::RunResult run = mustRun(program, {}, machine::ValueMode::Needed, h100());
    EXPECT_EQ(copiesOver(run, "L2"), 1);
    EXPECT_EQ(copiesOver(run, "HBM"), 2);
}

// Locks and counters stay in L2.
TEST(L2, atomicOperationsAreMadeThere)
{
    const ir::Program program =
        mustTrace(pl::kernel("count", {pl::out("y", DType::Int32, {8})}, [&](pl::Ref y) {
            gpu::launch({{{"block", 20}}}, [&] {
                (void)gpu::atomicRmw(ir::AtomicType::Add, y.at(pl::ds(0, 1)),
                                     pl::full({1}, 1, DType::Int32));
            });
        }));
    const machine::RunResult run = mustRun(program, {}, machine::ValueMode::Needed, h100());
    const trace::Copies& copies = run.trace->copies();
    std::int64_t hits = 0;
    for (const std::int32_t link : copies.link) {
        hits += run.trace->info().links[static_cast<std::size_t>(link)].name == "L2" ? 1 : 0;
    }
    EXPECT_EQ(hits, 19);
    // The first one brings it from HBM, and it leaves L2 at some time.
    const Result<analysis::Report> report = analysis::report(*run.trace);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->hbmRead, Bytes(4));
    EXPECT_EQ(report->hbmWritten, Bytes(4));
    EXPECT_EQ(report->l2->missed, Bytes(4));
    EXPECT_EQ(report->l2->hit, Bytes(19 * 4));
}

// What one SM takes from L2 in a cycle bounds a block that is alone as well.
TEST(L2, aBlockTakesNoMoreThanThePortOfItsSm)
{
    constexpr std::int32_t kRounds = 10;
    const ir::Program program =
        readProgram(1, 1, kRounds, [](pl::Value, pl::Value round) { return round * 0; });
    const auto endOn = [&](const chip::Chip& chip) {
        return static_cast<double>(runWith(program, 1, chip).trace->end().value());
    };
    // Bytes come to the port as soon as they leave their link, and go on at 64 bytes per cycle.
    const double clock = static_cast<double>(h100().agents.front().clock.value());
    const double port = static_cast<double>(kTile.value()) / 64 / clock * 1e12;
    const auto ofLink = [&](std::size_t link) {
        return static_cast<double>(kTile.value()) / h100().links[link].achieved().value() * 1e12;
    };
    const double expected = kRounds * port - (kRounds - 1) * ofLink(1) - ofLink(0);
    EXPECT_NEAR(endOn(h100()) - endOn(withoutPort()), expected, 100);
}

TEST(L2, copiesThatComeToAnSmTogetherFollowOneAnother)
{
    const auto endOf = [](std::int32_t copies) {
        const auto body = [&](pl::Ref x, pl::Ref y) {
            gpu::launch({}, [&] {
                gpu::runScoped(
                    {gpu::smem("tiles", kF32, {copies, kTileRows, kTileColumns}),
                     gpu::barrier("ready", copies)},
                    true, [&](const Refs& refs) {
                        for (std::int32_t i = 0; i < copies; ++i) {
                            gpu::copyGmemToSmem(x, refs[0].at({i, pl::all, pl::all}), refs[1]);
                        }
                        gpu::barrierWait(refs[1]);
                    });
                y[pl::all] = pl::full({1}, 0, kF32);
            });
        };
        const ir::Program program = mustTrace(pl::kernel(
            "together", {pl::in("x", kF32, {kTileRows, kTileColumns}), pl::out("y", kF32, {1})},
            body));
        return static_cast<double>(runWith(program, 1, h100()).trace->end().value());
    };
    const double port = static_cast<double>(kTile.value()) / 64
                        / static_cast<double>(h100().agents.front().clock.value()) * 1e12;
    EXPECT_NEAR(endOf(4) - endOf(1), 3 * port, 0.05 * port);
}

// The first of two blocks works for long and then stores a tile. The second one loads and stores a
// tile at a time meanwhile, as if it were alone.
TEST(L2, aStoreAtTheEndOfALongSegmentHoldsUpNothingBefore)
{
    constexpr int kTiles = 8;
    const auto endOf = [](bool first, bool second) {
        const ir::Program program = mustTrace(pl::kernel(
            "uneven",
            {pl::in("x", kF32, {kTiles * kTileRows, kTileColumns}),
             pl::out("long", kF32, {kTileRows, kTileColumns}),
             pl::out("short", kF32, {kTiles * kTileRows, kTileColumns})},
            [&](pl::Ref x, pl::Ref late, pl::Ref soon) {
                gpu::launch({{{"block", 2}}}, [&] {
                    pl::when(pl::axisIndex("block") == (first ? 0 : 2), [&] {
                        pl::Value v = x[{pl::ds(0, kTileRows), pl::all}].load();
                        for (int i = 0; i < 100; ++i) {
                            v = pl::exp(v * -1.0F);
                        }
                        late[pl::all] = v;
                    });
                    pl::when(pl::axisIndex("block") == (second ? 1 : 2), [&] {
                        pl::foriLoop(kTiles, {}, [&](pl::Value round, std::vector<pl::Value>) {
                            const pl::Value row = round * static_cast<int>(kTileRows);
                            const pl::Value tile = x[{pl::ds(row, kTileRows), pl::all}].load();
                            soon[{pl::ds(row, kTileRows), pl::all}] = tile + 1.0;
                            return std::vector<pl::Value>{};
                        });
                    });
                });
            }));
        return runWith(program, kTiles, h100()).trace->end();
    };
    const Picoseconds late = endOf(true, false), soon = endOf(false, true);
    ASSERT_GT(late, soon);
    EXPECT_LT(endOf(true, true), late + Picoseconds(soon.value() / 4));
}

// The second block ends the run before the first one stores what it has worked on.
TEST(L2, aRunThatStopsBeforeAStoreLastsUntilItsSegmentEnds)
{
    const ir::Program program =
        mustTrace(pl::kernel("stops",
                             {pl::in("x", kF32, {kTileRows, kTileColumns}),
                              pl::out("y", kF32, {2 * kTileRows, kTileColumns})},
                             [&](pl::Ref x, pl::Ref y) {
                                 gpu::launch({{{"block", 2}}}, [&] {
                                     const pl::Value v = x[{pl::ds(0, kTileRows), pl::all}].load();
                                     const pl::Value row =
                                         pl::axisIndex("block") * static_cast<int>(kTileRows);
                                     pl::when(pl::axisIndex("block") == 0, [&] {
                                         pl::Value worked = v;
                                         for (int i = 0; i < 100; ++i) {
                                             worked = pl::exp(worked * -1.0F);
                                         }
                                         y[{pl::ds(row, kTileRows), pl::all}] = worked;
                                     });
                                     pl::when(pl::axisIndex("block") == 1, [&] {
                                         y[{pl::ds(row * 2, kTileRows), pl::all}] = v;
                                     });
                                 });
                             }));
    const machine::RunResult run = runWith(program, 1, h100());
    EXPECT_FALSE(run.completed);
    EXPECT_EQ(findingsOf(run, "out_of_bounds").size(), 1U);
    EXPECT_EQ(copiesOver(run, "HBM"), 1);
}

} // namespace pallascope::machine_test
