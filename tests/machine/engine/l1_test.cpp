// The L1 of each SM of a GPU in a run: which loads find something there, and when.
#include "core/analysis/report.h"
#include "core/ir/builder_gpu.h"
#include "core/trace/lookup.h"
#include "core/trace/summary.h"
#include "tests/machine/engine/gmem_tile.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;
using Refs = std::vector<pl::Ref>;

// Each of `blocks` blocks, which take `shared` bytes of shared memory, loads the first `tiles`
// tiles of x, one after another, `times` times.
ir::Program loadsInRounds(std::int32_t blocks, std::int32_t tiles, std::int32_t times,
                          Extent shared = 1024)
{
    return mustTrace(pl::kernel(
        "load",
        {pl::in("x", kF32, {tiles * kTileRows, kTileColumns}),
         pl::out("y", kF32, {blocks * kTileRows, kTileColumns})},
        [&](pl::Ref x, pl::Ref y) {
            gpu::launch({{{"block", blocks}}}, [&] {
                gpu::runScoped({gpu::smem("room", kF32, {shared / 4})}, true, [&](const Refs&) {
                    const pl::Value none = pl::full({kTileRows, kTileColumns}, 0, kF32);
                    const std::vector<pl::Value> sum = pl::foriLoop(
                        tiles * times, {none}, [&](pl::Value round, std::vector<pl::Value> sums) {
                            const pl::Value row = round % tiles * static_cast<int>(kTileRows);
                            return std::vector<pl::Value>{
                                sums[0] + x[{pl::ds(row, kTileRows), pl::all}].load()};
                        });
                    const pl::Value row = pl::axisIndex("block") * static_cast<int>(kTileRows);
                    y[{pl::ds(row, kTileRows), pl::all}] = sum[0];
                });
            });
        }));
}

machine::RunResult runLoads(const ir::Program& program, const chip::Chip& chip)
{
    std::vector<Array> inputs;
    inputs.push_back(Array{kF32, program.type(program.arguments[0].ref).shape, {}});
    return mustRun(program, inputs, machine::ValueMode::Needed, chip);
}

// How many loads of x came from HBM, and how many from L2.
std::int64_t loadsBy(const machine::RunResult& run, trace::Summary::Way way)
{
    return trace::summaryOf(*run.trace).moved[0][way].copies;
}

chip::Chip withoutL1()
{
    chip::Chip chip = h100();
    chip.multiprocessor->l1WithShared.reset();
    return chip;
}

} // namespace

TEST(L1, keepsWhatItsSmHasLoaded)
{
    const machine::RunResult run = runLoads(loadsInRounds(2, 3, 4), h100());
    EXPECT_EQ(loadsBy(run, trace::Summary::Read), 3);
    EXPECT_EQ(loadsBy(run, trace::Summary::OnChip), 3); // those of the second block, on another SM
    EXPECT_EQ(run.trace->info().fromL1, kTile * (2 * 3 * 4 - 6));
    const Result<analysis::Report> report = analysis::report(*run.trace);
    EXPECT_EQ(report->l2->missed, kTile * 3);
    EXPECT_EQ(report->l2->hit, kTile * 3);
    EXPECT_EQ(report->l2->fromL1, kTile * (2 * 3 * 4 - 6));
}

TEST(L1, mayBeMissing)
{
    const machine::RunResult run = runLoads(loadsInRounds(2, 3, 4), withoutL1());
    EXPECT_EQ(loadsBy(run, trace::Summary::Read), 3);
    EXPECT_EQ(loadsBy(run, trace::Summary::OnChip), 2 * 3 * 4 - 3);
    EXPECT_EQ(run.trace->info().fromL1, Bytes(0));
}

// A load that finds its tile takes the latency of L1, beside the work that each round has anyway.
TEST(L1, answersAfterItsLatency)
{
    constexpr double kCycles = 1000;
    const auto endWith = [](double cycles, std::int32_t times) {
        chip::Chip chip = h100();
        chip.multiprocessor->l1LoadCycles = cycles;
        return static_cast<double>(runLoads(loadsInRounds(1, 1, times), chip).trace->end().value());
    };
    const double cycle = 1e12 / static_cast<double>(h100().agents.front().clock.value());
    EXPECT_NEAR(endWith(kCycles, 9) - endWith(kCycles, 1)
                    - (endWith(2 * kCycles, 9) - endWith(2 * kCycles, 1)),
                -8 * kCycles * cycle, 100);
}

// The wait names the copy that brought the tile, which counts as exposed.
TEST(L1, isWaitedForByTheNameOfTheCopy)
{
    chip::Chip chip = h100();
    chip.multiprocessor->l1LoadCycles = 5000;
    const machine::RunResult run = runLoads(loadsInRounds(1, 1, 3), chip);
    const trace::Waits& waits = run.trace->waits();
    ASSERT_EQ(loadsBy(run, trace::Summary::Read), 1);
    EXPECT_EQ(std::count(waits.copy.begin(), waits.copy.end(), 0), 3);
    EXPECT_EQ(trace::waitsFor(*run.trace, trace::CopyRow{0}).size(), 3U);
}

// Two blocks of an SM load one tile at the same time: the second has it when it has come.
TEST(L1, holdsWhatIsOnItsWay)
{
    chip::Chip chip = h100();
    chip.agents.front().slots = 1;
    const machine::RunResult run = runLoads(loadsInRounds(2, 1, 1), chip);
    const trace::Waits& waits = run.trace->waits();
    ASSERT_EQ(loadsBy(run, trace::Summary::Read) + loadsBy(run, trace::Summary::OnChip), 1);
    EXPECT_EQ(run.trace->info().fromL1, kTile);
    ASSERT_EQ(std::count(waits.copy.begin(), waits.copy.end(), 0), 2);
    for (std::size_t i = 0; i < waits.size(); ++i) {
        if (waits.copy[i] == 0) {
            EXPECT_GE(waits.end[i], run.trace->copies().end[0]);
        }
    }
}

TEST(L1, isPassedByOnTheWayToAtomicOperations)
{
    const ir::Program program =
        mustTrace(pl::kernel("count", {pl::out("y", DType::Int32, {8})}, [&](pl::Ref y) {
            gpu::launch({}, [&] {
                for (int i = 0; i < 3; ++i) {
                    (void)gpu::atomicRmw(ir::AtomicType::Add, y.at(pl::ds(0, 1)),
                                         pl::full({1}, 1, DType::Int32));
                }
            });
        }));
    const machine::RunResult run = mustRun(program, {}, machine::ValueMode::Needed, h100());
    EXPECT_EQ(run.trace->info().fromL1, Bytes(0));
    EXPECT_EQ(run.trace->copies().size(), 4U); // the first one also fetches it from HBM
}

// Shared memory and L1 are one: what blocks take of it, L1 does not have.
TEST(L1, hasWhatSharedMemoryLeaves)
{
    constexpr std::int32_t kTiles = 3; // 48 KiB
    const auto fromL1 = [](Extent shared) {
        return runLoads(loadsInRounds(1, kTiles, 2, shared), h100()).trace->info().fromL1;
    };
    EXPECT_EQ(fromL1(204 << 10), kTile * kTiles);
    EXPECT_EQ(fromL1(210 << 10), Bytes(0)); // 45 KiB are left: the oldest tile is always next
}

TEST(L1, isEmptyWhenAKernelBegins)
{
    const auto load = [](pl::Ref x, pl::Ref y) {
        gpu::launch({}, [&] { y[{pl::all, pl::all}] = x[{pl::all, pl::all}].load(); });
    };
    const Shape tile{kTileRows, kTileColumns};
    const ir::Program program = mustTrace(pl::kernel(
        "twice", {pl::in("x", kF32, tile), pl::out("y", kF32, tile), pl::out("z", kF32, tile)},
        [&](pl::Ref x, pl::Ref y, pl::Ref z) {
            load(x, y);
            load(x, z);
        }));
    const machine::RunResult run = runLoads(program, h100());
    EXPECT_EQ(loadsBy(run, trace::Summary::Read), 1);
    EXPECT_EQ(loadsBy(run, trace::Summary::OnChip), 1);
    EXPECT_EQ(run.trace->info().fromL1, Bytes(0));
}

// A load does not pay for what the TMA adds to a copy.
TEST(L1, aLoadFromHbmIsSoonerThanACopy)
{
    const machine::RunResult run = runLoads(loadsInRounds(1, 1, 1), h100());
    const trace::Copies& copies = run.trace->copies();
    const chip::Link& hbm = h100().links[0];
    const double beyond = *h100().multiprocessor->copyCycles * 1e12
                          / static_cast<double>(h100().agents.front().clock.value());
    EXPECT_NEAR(static_cast<double>(copies.start[0] - copies.issue[0]),
                static_cast<double>(hbm.latency.value()) - beyond, 1000);
}

} // namespace pallascope::machine_test
