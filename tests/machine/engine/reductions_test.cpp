// Warpgroups of one block that reduce arrays to one number: JAX gives them one scratch in SMEM, so
// they must take turns.
#include "core/ir/builder_gpu.h"
#include "core/machine/replay.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <string>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;
using Refs = std::vector<pl::Ref>;

constexpr Extent kReduced = 256, kReducers = 2;

struct NormParts
{
    std::int32_t blocks = 1, rounds = 1;
    bool takesTurns = false;
    bool fillsSm = false; // so that blocks come one after the other to the same place
    bool ofOneNumber = false;
    bool byRows = false; // keeps one axis
};

pl::Value totalOf(const pl::Value& x, const NormParts& parts)
{
    if (parts.byRows) {
        const pl::Value rows =
            pl::reduce(ir::OpCode::ReduceSum, pl::reshape(x, {2, kReduced / 2}), {1});
        return pl::reshape(pl::broadcastTo(rows, {2, kReduced / 2}, {0}), {kReduced});
    }
    return pl::reduce(ir::OpCode::ReduceSum, parts.ofOneNumber ? pl::full({kReduced}, 2, kF32) : x,
                      {0});
}

// Each warpgroup multiplies rows of its own by their sums.
ir::Program sumsProgram(const NormParts& parts)
{
    const Extent rows = parts.blocks * parts.rounds * kReducers;
    return mustTrace(pl::kernel(
        "sums", {pl::in("x", kF32, {rows, kReduced}), pl::out("y", kF32, {rows, kReduced})},
        [&](pl::Ref x, pl::Ref y) {
            gpu::launch({{{"block", parts.blocks}}, kReducers, "wg"}, [&] {
                const pl::Value wg = pl::axisIndex("wg");
                const pl::Value first =
                    pl::axisIndex("block") * (parts.rounds * static_cast<int>(kReducers)) + wg;
                const auto reduce = [&](const pl::Value& row) {
                    const pl::Value one = x[{row, pl::all}].load();
                    y[{row, pl::all}] = one * totalOf(one, parts);
                };
                const auto body = [&](const Refs& refs) {
                    for (int round = 0; round < parts.rounds; ++round) {
                        const pl::Value row = first + round * static_cast<int>(kReducers);
                        for (int turn = 0; turn < kReducers && parts.takesTurns; ++turn) {
                            pl::when(wg == turn, [&] { reduce(row); });
                            gpu::barrierArrive(refs[1]);
                            gpu::barrierWait(refs[1]);
                        }
                        if (!parts.takesTurns) {
                            reduce(row);
                        }
                    }
                };
                gpu::runScoped({gpu::smem("pad", kF32, {parts.fillsSm ? 40000 : 1}),
                                gpu::barrier("met", kReducers)},
                               true, body);
            });
        }));
}

// Findings are structural, so both modes have the same.
machine::RunResult runReductions(const ir::Program& program)
{
    const std::vector<Array> inputs{counting(kF32, program.type(program.arguments[0].ref).shape)};
    machine::RunResult full = mustRun(program, inputs, machine::ValueMode::Full, h100());
    EXPECT_EQ(findingsText(full),
              findingsText(mustRun(program, inputs, machine::ValueMode::Needed, h100())));
    return full;
}

} // namespace

TEST(Reductions, atTheSameTimeAreARaceThatIsFoundOnce)
{
    const machine::RunResult run = runReductions(sumsProgram({.blocks = 3, .rounds = 2}));
    const std::vector<trace::Finding> found = findingsOf(run, "race");
    ASSERT_EQ(found.size(), 1U) << findingsText(run);
    EXPECT_EQ(run.trace->info().findings.size(), 1U) << findingsText(run);
    EXPECT_EQ(found[0].operand, "the scratch of reductions");
    EXPECT_NE(found[0].message.find("Warpgroup 1 reduces"), std::string::npos) << found[0].message;
    EXPECT_NE(found[0].message.find("Warpgroup 0 does so too"), std::string::npos);
}

TEST(Reductions, inTurnsAreInOrder)
{
    EXPECT_EQ(
        findingsText(runReductions(sumsProgram({.blocks = 3, .rounds = 2, .takesTurns = true}))),
        "");
}

// Nothing orders the last turn of a block before the first one of the next block there.
TEST(Reductions, ofABlockComeAfterThoseOfTheBlockBeforeIt)
{
    EXPECT_EQ(findingsText(
                  runReductions(sumsProgram({.blocks = 300, .takesTurns = true, .fillsSm = true}))),
              "");
}

TEST(Reductions, thatNeedNoScratchMayBeInAnyOrder)
{
    EXPECT_EQ(findingsText(runReductions(sumsProgram({.byRows = true}))), "");
    EXPECT_EQ(findingsText(runReductions(sumsProgram({.ofOneNumber = true}))), "");
}

// Both lines are in the sentence.
TEST(Reductions, ofDifferentKindsRaceToo)
{
    int sumLine = 0, maxLine = 0;
    const machine::RunResult run = runReductions(mustTrace(
        pl::kernel("both", {pl::in("x", kF32, {2, kReduced}), pl::out("y", kF32, {2, kReduced})},
                   [&](pl::Ref x, pl::Ref y) {
                       gpu::launch({{}, 2, "wg"}, [&] {
                           const pl::Value wg = pl::axisIndex("wg");
                           const pl::Value row = x[{wg, pl::all}].load();
                           pl::when(wg == 0, [&] {
                               sumLine = __LINE__ + 1;
                               y[{0, pl::all}] = row * pl::reduce(ir::OpCode::ReduceSum, row, {0});
                           });
                           pl::when(wg == 1, [&] {
                               maxLine = __LINE__ + 1;
                               y[{1, pl::all}] = row * pl::reduce(ir::OpCode::ReduceMax, row, {0});
                           });
                       });
                   })));
    const std::vector<trace::Finding> found = findingsOf(run, "race");
    ASSERT_EQ(found.size(), 1U) << findingsText(run);
    for (const int line : {sumLine, maxLine}) {
        EXPECT_NE(found[0].message.find("reductions_test.cpp:" + std::to_string(line)),
                  std::string::npos)
            << found[0].message;
    }
}

// In a cluster every block has a scratch of its own.
TEST(Reductions, ofTwoBlocksOfAClusterHaveTwoScratches)
{
    const machine::RunResult run = runReductions(mustTrace(pl::kernel(
        "cluster", {pl::in("x", kF32, {2, kReduced}), pl::out("y", kF32, {2, kReduced})},
        [&](pl::Ref x, pl::Ref y) {
            gpu::launch({{}, 2, "wg", {{"cluster", 2}}}, [&] {
                const pl::Value block = pl::axisIndex("cluster");
                pl::when(block == pl::axisIndex("wg"), [&] {
                    const pl::Value row = x[{block, pl::all}].load();
                    y[{block, pl::all}] = row * pl::reduce(ir::OpCode::ReduceSum, row, {0});
                });
            });
        })));
    EXPECT_EQ(findingsText(run), "");
}

// A replay that goes back finds the state of the scratches as it was.
TEST(Reductions, areInTheStateOfAReplay)
{
    const ir::Program program = sumsProgram({.rounds = 2, .takesTurns = true});
    const std::vector<Array> inputs{counting(kF32, {4, kReduced})};
    const auto replay =
        machine::Replay::start(program, inputs, h100(), {}, {Seconds(0), Bytes(1 << 30)});
    ASSERT_TRUE(replay.has_value());
    std::vector<std::uint64_t> hashes;
    for (std::int64_t at = 0; at < 60; ++at) {
        ASSERT_TRUE((*replay)->seek(at).has_value());
        hashes.push_back((*replay)->hash());
    }
    for (std::int64_t at = 59; at >= 0; --at) {
        ASSERT_TRUE((*replay)->seek(at).has_value());
        EXPECT_EQ((*replay)->hash(), hashes[static_cast<std::size_t>(at)]) << at;
    }
}

} // namespace pallascope::machine_test
