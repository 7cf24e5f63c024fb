// Index maps that return something else after the body has changed the memory that they load from.
#include "tests/machine/support.h"
#include "tests/machine/trace_difference.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

using Refs = std::vector<pl::Ref>;

// A pipeline of two steps in a scope that has a semaphore and a table, which begins as zeros.
ir::Program withTable(const std::function<void(pl::Ref list, pl::Ref x, pl::Ref out, pl::Ref table,
                                               pl::Ref sem)>& run)
{
    return mustTrace(pl::kernel(
        "changing",
        {pl::in("list", kInt, {8}), pl::in("x", kF32, {16, 128}), pl::out("out", kF32, {16, 128})},
        [&](pl::Ref list, pl::Ref x, pl::Ref out) {
            pl::runScoped({{"table", kInt, {8}, ir::MemorySpace::Smem}, pl::dmaSemaphores("sem")},
                          [&](const Refs& refs) {
                              refs[0][0] = pl::full({}, 0, kInt);
                              run(list, x, out, refs[0], refs[1]);
                              return std::vector<pl::Value>{};
                          });
        }));
}

machine::RunResult runBoth(const ir::Program& program)
{
    const std::vector<Array> inputs{arrayOf(kInt, {8}, std::vector<double>(8, 9)),
                                    counting(kF32, {16, 128})};
    machine::RunResult full = mustRun(program, inputs);
    const machine::RunResult needed = mustRun(program, inputs, machine::ValueMode::Needed);
    EXPECT_EQ(firstDifference(*full.trace, *needed.trace), "");
    return full;
}

} // namespace

// A visit shows the block that was copied in, and not the block to which it is written back.
TEST(ChangingMaps, writeABlockBackThatWasNotBrought)
{
    const machine::RunResult run = runBoth(withTable([](pl::Ref, pl::Ref, pl::Ref out,
                                                        pl::Ref table, pl::Ref) {
        pl::BlockSpec rows = pl::block({8, 128}, [&](auto) { return pl::at(table[0].load(), 0); });
        rows.outBuffers = 1;
        rows.buffers = 1;
        pl::emitPipeline({.grid = {1}, .out = {rows}}, [&](pl::Ref held) {
            held[pl::all] = 1;
            table[0] = pl::full({}, 1, kInt);
        })(out);
    }));
    const trace::Copies& copies = run.trace->copies();
    EXPECT_EQ(copies.block, (std::vector<std::int64_t>{0, 1}));
    const trace::Visits& visits = run.trace->visits();
    EXPECT_EQ(visits.block, std::vector<std::int64_t>{0});
    EXPECT_EQ(visits.copyIn, std::vector<std::int32_t>{0});
    EXPECT_EQ(visits.copyOut, std::vector<std::int32_t>{trace::kNone});
}

TEST(ChangingMaps, mayWaitForACopyThatNothingStarted)
{
    const machine::RunResult run =
        runBoth(withTable([](pl::Ref, pl::Ref x, pl::Ref out, pl::Ref table, pl::Ref) {
            const pl::BlockSpec rows =
                pl::block({8, 128}, [&](auto i) { return pl::at(table[0].load() * i, 0); });
            pl::emitPipeline({.grid = {2}, .in = {rows}, .out = {pl::block({8, 128}, kRow)}},
                             [&](pl::Ref a, pl::Ref b) {
                                 b[pl::all] = a[pl::all];
                                 table[0] = pl::full({}, 1, kInt);
                             })(x, out);
        }));
    ASSERT_EQ(findingsOf(run, "deadlock").size(), 1U);
    EXPECT_EQ(findingsOf(run, "deadlock")[0].operand, "x");
}

// The table arrives behind a long copy, while the step waits for its write-back.
TEST(ChangingMaps, mayEndTheRunBehindTheBodyOfAStep)
{
    const machine::RunResult run = runBoth(withTable([](pl::Ref list, pl::Ref x, pl::Ref out,
                                                        pl::Ref table, pl::Ref sem) {
        const pl::BlockSpec rows =
            pl::block({8, 128}, [&](auto) { return pl::at(table[0].load(), 0); });
        pl::runScoped({{"from", kF32, {4096, 128}, ir::MemorySpace::Hbm},
                       {"to", kF32, {4096, 128}, ir::MemorySpace::Hbm},
                       pl::dmaSemaphores("long")},
                      [&](const Refs& refs) {
                          pl::emitPipeline(
                              {.grid = {2}, .in = {rows}, .out = {pl::block({8, 128}, kRow, 1)}},
                              [&](pl::Ref a, pl::Ref b) {
                                  b[pl::all] = a[pl::all];
                                  pl::dmaStart(refs[0], refs[1], refs[2]);
                                  pl::dmaStart(list, table, sem);
                              })(x, out);
                          return std::vector<pl::Value>{};
                      });
    }));
    EXPECT_EQ(findingsOf(run, "out_of_bounds").size(), 1U);
    ASSERT_EQ(run.trace->steps().size(), 1U);
    EXPECT_EQ(run.trace->visits().copyOut.size(), 2U);
    EXPECT_LT(run.trace->steps().bodyEnd[0], run.trace->copies().end.back());
}

} // namespace pallascope::machine_test
