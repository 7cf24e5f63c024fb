// Blocks in the memory of their array, when the array ends inside of the last block.
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

// Blocks of 8 of 20 rows. A pipeline in the body takes each of them, in blocks of `rows` rows.
machine::RunResult inBlocks(Extent rows, machine::ValueMode values)
{
    const ir::Program program = mustTrace(pl::kernel(
        "blocks", {pl::in("x", kF32, {20, 128}), pl::out("out", kF32, {24, 128})},
        [&](pl::Ref x, pl::Ref out) {
            pl::BlockSpec far = pl::block({8, 128}, kRow);
            far.space = ir::MemorySpace::Hbm;
            const pl::BlockSpec near = pl::block({rows, 128}, kRow);
            pl::emitPipeline({.grid = {3}, .in = {far}, .out = {far}}, [&](pl::Ref a, pl::Ref b) {
                pl::emitPipeline({.grid = {8 / rows}, .in = {near}, .out = {near}},
                                 [](pl::Ref c, pl::Ref d) { d[pl::all] = c[pl::all]; })(a, b);
            })(x, out);
        }));
    return mustRun(program, {counting(kF32, {20, 128})}, values);
}

} // namespace

TEST(CutBlocks, stopTheRunWhereAPipelineReachesBehindTheirArray)
{
    for (const machine::ValueMode values : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
        const machine::RunResult run = inBlocks(8, values);
        ASSERT_EQ(findingsOf(run, "out_of_bounds").size(), 1U);
        EXPECT_EQ(findingsOf(run, "out_of_bounds")[0].message,
                  "x(0,0) reaches elements up to 7 on axis 0 of a block that has 4 in the array "
                  "around it: the run stops there.");
    }
}

// A block in the memory of its array is an array of its own for manual DMA. With `pick` it has an
// axis less.
TEST(FarBlocks, endsOfManualDmaLieInsideOfThem)
{
    for (const bool pick : {false, true}) {
        const Extents extents = pick ? Extents{3, 8, 128} : Extents{24, 128};
        const ir::Program program = mustTrace(pl::kernel(
            "far", {pl::in("x", kF32, Shape(extents)), pl::out("out", kF32, {24, 128})},
            [&](pl::Ref x, pl::Ref out) {
                pl::BlockSpec from = pick ? pl::block({pl::squeezed(), 8, 128},
                                                      [](auto i) { return pl::at(i, 0, 0); })
                                          : pl::block({8, 128}, kRow);
                pl::BlockSpec to = pl::block({8, 128}, kRow);
                from.space = to.space = ir::MemorySpace::Hbm;
                pl::emitPipeline(
                    {.grid = {3}, .in = {from}, .out = {to}, .scratch = {pl::dmaSemaphores("sem")}},
                    [](pl::Ref a, pl::Ref b, pl::Ref sem) {
                        copyAndWait(a.at({pl::ds(2, 4), pl::all}), b.at({pl::ds(4, 4), pl::all}),
                                    sem);
                    })(x, out);
            }));
        const machine::RunResult run = mustRun(program, {counting(kF32, Shape(extents))});
        const trace::CopyEnds& ends = run.trace->copyEnds();
        ASSERT_EQ(ends.size(), 6U);
        for (std::size_t i = 0; i < ends.size(); ++i) {
            EXPECT_EQ(run.trace->info().copiedShapes[static_cast<std::size_t>(ends.shape[i])],
                      Shape({4, 128}));
            EXPECT_EQ(ends.first[i], (i % 2 == 0 ? 2 : 4) * 128) << i;
        }
    }
}

TEST(CutBlocks, areRefusedInAnotherForm)
{
    const ir::Program program = mustTrace(pl::kernel(
        "bits", {pl::in("x", kF32, {20, 128}), pl::out("out", kInt, {24, 128})},
        [](pl::Ref x, pl::Ref out) {
            pl::BlockSpec far = pl::block({8, 128}, kRow);
            far.space = ir::MemorySpace::Hbm;
            pl::emitPipeline(
                {.grid = {3}, .in = {far}, .out = {far}, .scratch = {pl::dmaSemaphores("sem")}},
                [](pl::Ref a, pl::Ref b, pl::Ref sem) {
                    const pl::Ref bits = a.bitcast(kInt);
                    copyAndWait(bits, b, sem);
                })(x, out);
        }));
    const machine::RunResult run = mustRun(program, {counting(kF32, {20, 128})});
    ASSERT_EQ(findingsOf(run, "out_of_bounds").size(), 1U);
}

} // namespace pallascope::machine_test
