// Runs long grids of a GPU without a trace: blocks that are passed over count as if they had run.
#include "core/ir/builder_gpu.h"
#include "core/ir/mesh.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;
using Refs = std::vector<pl::Ref>;

// What a block does besides reading its tile and writing it.
enum class BlockWork : std::uint8_t
{
    CopiesOnly,
    LoadsTwice,      // the tile, from GMEM: L1 has it the second time
    WorkByTheColumn, // rounds of a loop: as many as the number of its column
    WorkByTheRow,
    WorkByTheRowOfEight, // the same again after eight rows
    WorkByTheInput,      // rounds: as many as the first number of the input
    DecidesSomething     // later loops depend on what it writes
};

constexpr Extent kLongTile = 256;
// So much that an SM runs one block at a time, all 132 of them one wave.
constexpr Extent kRoom = 40'000;

void dynamicRounds(const pl::Value& count, const std::function<void()>& body)
{
    pl::whileLoop(
        {count - count}, [&](const std::vector<pl::Value>& carry) { return carry[0] < count; },
        [&](const std::vector<pl::Value>& carry) {
            body();
            return std::vector<pl::Value>{carry[0] + 1};
        });
}

// `blocks` of a cluster do the same.
ir::Program longTiles(std::int32_t rows, std::int32_t columns, BlockWork kind,
                      std::int32_t blocks = 1)
{
    const Extent elements = Extent{rows} * columns * kLongTile;
    const bool isDecided = kind == BlockWork::DecidesSomething || kind == BlockWork::WorkByTheInput;
    const DType dtype = isDecided ? DType::Int32 : kF32;
    return mustTrace(pl::kernel(
        "tiles", {pl::in("x", dtype, {elements}), pl::out("y", dtype, {elements})},
        [&](pl::Ref x, pl::Ref y) {
            gpu::Launch launch{.grid = {{"row", rows}, {"column", columns}}};
            if (blocks > 1) {
                launch.cluster = {{"pair", blocks}};
            }
            gpu::launch(launch, [&] {
                const pl::Value row = pl::axisIndex("row"), column = pl::axisIndex("column");
                const pl::Value first = (row * columns + column) * static_cast<int>(kLongTile);
                gpu::runScoped({gpu::smem("tile", dtype, {kLongTile}), gpu::barrier("ready"),
                                gpu::smem("room", kF32, {kRoom})},
                               true, [&](const Refs& refs) {
                                   gpu::copyGmemToSmem(x.at(pl::ds(first, kLongTile)), refs[0],
                                                       refs[1]);
                                   gpu::barrierWait(refs[1]);
                                   const auto work = [&] {
                                       const pl::Value tile = refs[0][pl::all].load();
                                       refs[0][pl::all] = tile + tile;
                                   };
                                   switch (kind) {
                                   case BlockWork::LoadsTwice:
                                       for (int i = 0; i < 2; ++i) {
                                           refs[0][pl::all] = x[pl::ds(first, kLongTile)].load();
                                           gpu::commitSmem();
                                       }
                                       break;
                                   case BlockWork::WorkByTheColumn:
                                       dynamicRounds(column, work);
                                       break;
                                   case BlockWork::WorkByTheRow:
                                       dynamicRounds(row, work);
                                       break;
                                   case BlockWork::WorkByTheRowOfEight:
                                       dynamicRounds(row % 8, work);
                                       break;
                                   case BlockWork::WorkByTheInput:
                                       dynamicRounds(x[0].load(), work);
                                       break;
                                   default:
                                       break;
                                   }
                                   gpu::commitSmem();
                                   gpu::copySmemToGmem(refs[0], y.at(pl::ds(first, kLongTile)));
                                   gpu::waitSmemToGmem(0);
                               });
            });
            if (kind == BlockWork::DecidesSomething) {
                gpu::launch({},
                            [&] { dynamicRounds(y[0].load(), [&] { y[1] = y[2].load() + 1; }); });
            }
        }));
}

struct LongSums
{
    Picoseconds time;
    std::int64_t segments = 0, copies = 0, bytes = 0, passed = 0, fromL1 = 0, inBlocks = 0,
                 blocks = 0;
};

LongSums longSumsOf(const ir::Program& program, machine::LongGrid setting)
{
    machine::Options options{
        .values = machine::ValueMode::Needed, .settings = {.longGrids = setting}, .rows = false};
    std::vector<Array> inputs;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            const ir::Type type = ir::wholeType(program, argument);
            inputs.push_back({type.dtype, type.shape, nullptr});
            if (type.dtype == DType::Int32) { // what blocks read decides how long they take
                inputs.back() = makeArray(type.dtype, type.shape);
                std::fill_n(inputs.back().as<std::int32_t>(), type.shape.elements(), 3);
            }
        }
    }
    const Result<machine::RunResult> run = machine::run(program, inputs, h100(), options);
    if (!run) {
        throw std::runtime_error(run.error().message);
    }
    LongSums sums{.time = run->sums.end,
                  .passed = run->sums.passedBlocks,
                  .fromL1 = run->info.fromL1.value(),
                  .inBlocks = run->sums.inBlocks.value(),
                  .blocks = run->sums.blocks};
    sums.segments =
        std::accumulate(run->sums.instances.begin(), run->sums.instances.end(), std::int64_t{0});
    for (const auto& operand : run->sums.moved) {
        for (const trace::Summary::Moved& moved : operand) {
            sums.copies += moved.copies;
            sums.bytes += moved.bytes.value();
        }
    }
    return sums;
}

void expectNearShare(std::int64_t found, std::int64_t expected, double share)
{
    EXPECT_NEAR(static_cast<double>(found), static_cast<double>(expected),
                share * static_cast<double>(expected));
}

// Passing blocks over changes the time and each sum by no more than this share.
void expectTheSameSums(const ir::Program& program, double share)
{
    const LongSums whole = longSumsOf(program, machine::LongGrid::Whole),
                   passed = longSumsOf(program, machine::LongGrid::Short);
    EXPECT_EQ(whole.passed, 0);
    expectNearShare(passed.time.value(), whole.time.value(), share);
    expectNearShare(passed.segments, whole.segments, share);
    expectNearShare(passed.copies, whole.copies, share);
    expectNearShare(passed.bytes, whole.bytes, share);
    expectNearShare(passed.fromL1, whole.fromL1, share);
    expectNearShare(passed.inBlocks, whole.inBlocks, share);
    EXPECT_EQ(passed.blocks, whole.blocks);
}

std::int64_t passedOf(const ir::Program& program)
{
    return longSumsOf(program, machine::LongGrid::Short).passed;
}

} // namespace

TEST(LongGrids, countBlocksThatDoNotRun)
{
    const ir::Program program = longTiles(64, 132, BlockWork::CopiesOnly);
    EXPECT_GT(passedOf(program), 64 * 132 / 2);
    expectTheSameSums(program, 0.005);
}

TEST(LongGrids, countWhatBlocksThatDoNotRunFindInL1)
{
    const ir::Program program = longTiles(64, 132, BlockWork::LoadsTwice);
    const LongSums sums = longSumsOf(program, machine::LongGrid::Short);
    EXPECT_GT(sums.passed, 64 * 132 / 2);
    EXPECT_GT(sums.fromL1, 0);
    expectTheSameSums(program, 0.005);
}

// 24 columns of different lengths: only after so many blocks times as many as run at a time is the
// work the same again.
TEST(LongGrids, mayRepeatAfterOneOfTheirAxes)
{
    const ir::Program program = longTiles(1000, 24, BlockWork::WorkByTheColumn);
    EXPECT_GT(passedOf(program), 1000 * 24 / 2);
    expectTheSameSums(program, 0.01);
}

// Every row takes longer than the one before, so no wave is like another one.
TEST(LongGrids, thatDoNotRepeatRunAsAWhole)
{
    const ir::Program program = longTiles(40, 132, BlockWork::WorkByTheRow);
    EXPECT_EQ(passedOf(program), 0);
    expectTheSameSums(program, 0);
}

// Each row is several waves of the same length, and the next row is longer.
TEST(LongGrids, areNotPassedOverToRowsThatTakeLonger)
{
    expectTheSameSums(longTiles(24, 10 * 132, BlockWork::WorkByTheRowOfEight), 0.001);
    // Rows 2 to 5 take as long as rows 6, 7, 0 and 1 together.
    expectTheSameSums(longTiles(64, 4 * 132, BlockWork::WorkByTheRowOfEight), 0.02);
}

TEST(LongGrids, whoseBlocksDependOnNumbersThatTheyReadRunAsAWhole)
{
    EXPECT_EQ(passedOf(longTiles(64, 132, BlockWork::WorkByTheInput)), 0);
}

TEST(LongGrids, ofClustersCountBlocks)
{
    const ir::Program program = longTiles(64, 66, BlockWork::CopiesOnly, 2);
    expectTheSameSums(program, 0.01);
    EXPECT_GT(passedOf(program), 64 * 132 / 2) << "of 64 x 66 clusters of two";
}

TEST(LongGrids, ofFewTurnsRunAsAWholeUnlessTheSettingSaysOtherwise)
{
    const ir::Program program = longTiles(30, 132, BlockWork::CopiesOnly);
    EXPECT_GT(passedOf(program), 0);
    const LongSums whole = longSumsOf(program, machine::LongGrid::Whole),
                   automatic = longSumsOf(program, machine::LongGrid::Auto);
    EXPECT_EQ(automatic.passed, 0);
    EXPECT_EQ(automatic.time, whole.time);
    EXPECT_GT(
        longSumsOf(longTiles(64, 264, BlockWork::WorkByTheColumn), machine::LongGrid::Auto).passed,
        0);
}

TEST(LongGrids, ofFewWavesRunAsAWhole)
{
    EXPECT_EQ(passedOf(longTiles(4, 132, BlockWork::CopiesOnly)), 0);
}

TEST(LongGrids, whoseResultsDecideSomethingRunAsAWhole)
{
    EXPECT_EQ(passedOf(longTiles(64, 132, BlockWork::DecidesSomething)), 0);
}

TEST(LongGrids, areOfGpus)
{
    const ir::Program program = longTiles(1, 1, BlockWork::CopiesOnly);
    const Status status =
        machine::checkFit(program, v5e(), {.longGrids = machine::LongGrid::Short});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, "The setting long_grids is short, which is for GPUs; on TPU "
                                      "v5e every step runs.");
}

TEST(LongGrids, runAsAWholeWhereATraceIsKept)
{
    const ir::Program program = longTiles(20, 132, BlockWork::CopiesOnly);
    const LongSums whole = longSumsOf(program, machine::LongGrid::Whole);
    machine::Options options{.values = machine::ValueMode::Needed,
                             .settings = {.longGrids = machine::LongGrid::Short}};
    const Result<machine::RunResult> run =
        machine::run(program, {{kF32, {20 * 132 * kLongTile}, nullptr}}, h100(), options);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->trace->end(), whole.time);
}

} // namespace pallascope::machine_test
