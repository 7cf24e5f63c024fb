// Indirect blocks, whose rows an index map lists: what is gathered and scattered, which copies that
// takes, what the trace says about it, and what JAX refuses. Values are computed by hand.
#include "core/trace/lookup.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pallascope::machine_test {

namespace {

using Numbers = std::vector<double>;
using Rows = std::vector<int>;

Array indices(const Rows& rows)
{
    return arrayOf(kInt, Shape{static_cast<Extent>(rows.size())},
                   Numbers(rows.begin(), rows.end()));
}

constexpr int kList = 4; // number of rows in a block

pl::BlockSpec listed(const pl::Ref& list, std::int32_t buffers = 2)
{
    return pl::block(
        {pl::indirect(kList), 128},
        [list](auto i) { return pl::at(list[pl::ds(i * kList, kList)], 0); }, buffers);
}

struct Made // out[...] = x[...], one of them by the rows that a list in SMEM names
{
    Extent inRows = 8, outRows = 8, steps = 2;
    bool scatters = false;
    std::int32_t buffers = 2;
    bool noPipelining = false;
};

ir::Program moving(const Made& made)
{
    return mustTrace(pl::kernel("moving",
                                {pl::scalarPrefetch("list", kInt, Shape{made.steps * kList}),
                                 pl::in("x", kF32, Shape{made.inRows, 128}),
                                 pl::out("out", kF32, Shape{made.outRows, 128})},
                                [&](pl::Ref list, pl::Ref x, pl::Ref out) {
                                    const pl::BlockSpec plain = pl::block({kList, 128}, kRow);
                                    const pl::BlockSpec rows = listed(list, made.buffers);
                                    pl::emitPipeline({.grid = {made.steps},
                                                      .in = {made.scatters ? plain : rows},
                                                      .out = {made.scatters ? rows : plain},
                                                      .noPipelining = made.noPipelining},
                                                     [](pl::Ref a, pl::Ref b) {
                                                         b[pl::all] = a[pl::all];
                                                     })(x, out);
                                }));
}

// The row numbers in an array whose elements count up; -1: undefined.
Rows rowsOf(const Array& array)
{
    const Numbers elements = elementsOf(array);
    const auto columns = static_cast<std::size_t>(array.shape[array.shape.rank() - 1]);
    Rows rows;
    for (std::size_t row = 0; row * columns < elements.size(); ++row) {
        const double first = elements[row * columns];
        rows.push_back(std::isnan(first) ? -1
                                         : static_cast<int>(first / static_cast<double>(columns)));
        for (std::size_t column = 0; column < columns; ++column) {
            const double wanted = first + static_cast<double>(column);
            const double got = elements[row * columns + column];
            EXPECT_TRUE(got == wanted || (std::isnan(got) && std::isnan(wanted))) << row;
        }
    }
    return rows;
}

std::vector<std::string> copyNames(const machine::RunResult& run, std::int32_t operand)
{
    std::vector<std::string> names;
    const trace::Trace& trace = *run.trace;
    for (std::size_t i = 0; i < trace.copies().size(); ++i) {
        if (trace.copies().operand[i] == operand) {
            names.push_back(
                trace::blockName(trace.info().operands[static_cast<std::size_t>(operand)],
                                 trace.copies().block[i])
                + " " + std::to_string(trace.copies().bytes[i]));
        }
    }
    return names;
}

} // namespace

TEST(IndirectBlocks, gatherTheRowsOfTheirListsInOrder)
{
    const machine::RunResult run =
        mustRun(moving({}), {indices({3, 1, 1, 7, 0, 5, 2, 6}), counting(kF32, {8, 128})});
    EXPECT_EQ(rowsOf(run.outputs[0]), (Rows{3, 1, 1, 7, 0, 5, 2, 6}));
    EXPECT_EQ(copyNames(run, 0),
              (std::vector<std::string>{"x([3,1,1,7],0) 2048", "x([0,5,2,6],0) 2048"}));
    EXPECT_EQ(findingsText(run), "");
    const trace::Operand& x = run.trace->info().operands[0];
    EXPECT_EQ(x.indirectAxis, 0);
    EXPECT_EQ(x.indices, (std::vector<std::int32_t>{3, 1, 1, 7, 0, 5, 2, 6}));
    EXPECT_EQ(x.blockCounts, (std::vector<Extent>{2, 1}));
    EXPECT_EQ(run.trace->info().operands[1].indirectAxis, -1);
}

// Only `taken` of the kList rows of a block are listed. An input block holds them first; an output
// block writes its first rows to them.
machine::RunResult movingFewer(bool scatters, const Rows& rows, Extent taken)
{
    const auto fewer = [&](const pl::Ref& list) {
        return pl::block({pl::indirect(kList), 128}, [list, taken](auto i) {
            return pl::at(list[pl::ds(i * static_cast<std::int32_t>(taken), taken)], 0);
        });
    };
    const auto steps = static_cast<Extent>(rows.size()) / taken;
    const Extent from = scatters ? kList : taken;
    return mustRun(mustTrace(pl::kernel(
                       "fewer",
                       {pl::scalarPrefetch("list", kInt, Shape{static_cast<Extent>(rows.size())}),
                        pl::in("x", kF32, Shape{8, 128}), pl::out("out", kF32, Shape{8, 128})},
                       [&](pl::Ref list, pl::Ref x, pl::Ref out) {
                           const pl::BlockSpec plain = pl::block({from, 128}, kRow);
                           pl::emitPipeline(
                               {.grid = {steps},
                                .in = {scatters ? plain : fewer(list)},
                                .out = {scatters ? fewer(list) : plain}},
                               [&](pl::Ref a, pl::Ref b) {
                                   b[{pl::ds(0, from), pl::all}] = a[{pl::ds(0, from), pl::all}];
                               })(x, out);
                       })),
                   {indices(rows), counting(kF32, {8, 128})});
}

TEST(IndirectBlocks, areFilledAndEmptiedFromTheirFirstRowByShorterLists)
{
    const machine::RunResult in = movingFewer(false, {3, 1, 7, 7, 0, 5, 2, 6}, 2);
    EXPECT_EQ(rowsOf(in.outputs[0]), (Rows{3, 1, 7, 7, 0, 5, 2, 6}));
    EXPECT_EQ(copyNames(in, 0), (std::vector<std::string>{"x([3,1],0) 1024", "x([7,7],0) 1024",
                                                          "x([0,5],0) 1024", "x([2,6],0) 1024"}));
    EXPECT_EQ(findingsText(in), "");
    EXPECT_EQ(in.trace->info().operands[0].indices.size(), 4U * kList);
    const machine::RunResult out = movingFewer(true, {6, 0, 3, 5, 1, 2}, 3);
    EXPECT_EQ(rowsOf(out.outputs[0]), (Rows{1, 5, 6, 2, -1, 4, 0, -1}));
    EXPECT_EQ(copyNames(out, 1),
              (std::vector<std::string>{"out([6,0,3],0) 1536", "out([5,1,2],0) 1536"}));
    EXPECT_EQ(findingsBesidesResults(out), "");
}

TEST(IndirectBlocks, areBroughtAtEveryStepEvenIfTheirListStays)
{
    for (const std::int32_t buffers : {1, 2}) {
        const machine::RunResult run =
            mustRun(moving({.outRows = 12, .steps = 3, .buffers = buffers}),
                    {indices({6, 2, 6, 4, 6, 2, 6, 4, 6, 2, 6, 4}), counting(kF32, {8, 128})});
        EXPECT_EQ(copyNames(run, 0), std::vector<std::string>(3, "x([6,2,6,4],0) 2048"));
        EXPECT_EQ(run.trace->info().operands[0].indices, (std::vector<std::int32_t>{6, 2, 6, 4}));
        // A visit for each step, of the input and of the output.
        EXPECT_EQ(run.trace->visits().size(), 6U);
        EXPECT_EQ(rowsOf(run.outputs[0]), (Rows{6, 2, 6, 4, 6, 2, 6, 4, 6, 2, 6, 4}));
        EXPECT_EQ(findingsText(run), "");
    }
}

// What earlier steps have written back stays; the run stops after the body.
TEST(IndirectBlocks, thatLeaveTheArrayStopTheRunBehindTheWriteBacksBeforeThem)
{
    const ir::Program program = mustTrace(
        pl::kernel("both",
                   {pl::scalarPrefetch("list", kInt, {2 * kList}), pl::in("x", kF32, {8, 128}),
                    pl::out("plain", kF32, {8, 128}), pl::out("scattered", kF32, {8, 128})},
                   [&](pl::Ref list, pl::Ref x, pl::Ref first, pl::Ref second) {
                       const pl::BlockSpec plain = pl::block({kList, 128}, kRow);
                       pl::emitPipeline({.grid = {2}, .in = {plain}, .out = {plain, listed(list)}},
                                        [](pl::Ref from, pl::Ref a, pl::Ref b) {
                                            a[pl::all] = from[pl::all];
                                            b[pl::all] = from[pl::all];
                                        })(x, first, second);
                   }));
    const machine::RunResult run =
        mustRun(program, {indices({0, 8, 1, 2, 3, 4, 5, 6}), counting(kF32, {8, 128})});
    ASSERT_EQ(run.trace->info().findings.size(), 1U);
    EXPECT_EQ(run.trace->info().findings[0].kind, "out_of_bounds");
    const trace::Steps& steps = run.trace->steps();
    ASSERT_EQ(steps.begin.size(), 1U);
    EXPECT_LT(steps.bodyEnd[0], steps.end[0]);
}

TEST(IndirectBlocks, scatterRowByRowSoThatTheLastOfEqualRowsStays)
{
    // Row k of x is written to row list[k]; the list lacks rows 4 and 6.
    const machine::RunResult run = mustRun(
        moving({.scatters = true}), {indices({2, 0, 2, 5, 7, 1, 3, 3}), counting(kF32, {8, 128})});
    EXPECT_EQ(rowsOf(run.outputs[0]), (Rows{1, 5, 2, 7, -1, 3, -1, 4}));
    EXPECT_EQ(copyNames(run, 1),
              (std::vector<std::string>{"out([2,0,2,5],0) 2048", "out([7,1,3,3],0) 2048"}));
    EXPECT_EQ(findingsBesidesResults(run), "");
    EXPECT_EQ(findingsOf(run, "undefined_result").size(), 1U); // for rows 4 and 6
}

TEST(IndirectBlocks, areCopiedByThemselvesWithoutPipelining)
{
    const std::vector<Array> inputs{indices({3, 1, 0, 7, 4, 5, 2, 6}), counting(kF32, {8, 128})};
    const machine::RunResult in = mustRun(moving({.noPipelining = true}), inputs);
    EXPECT_EQ(rowsOf(in.outputs[0]), (Rows{3, 1, 0, 7, 4, 5, 2, 6}));
    const machine::RunResult out =
        mustRun(moving({.scatters = true, .noPipelining = true}), inputs);
    EXPECT_EQ(rowsOf(out.outputs[0]), (Rows{2, 1, 6, 0, 4, 5, 7, 3}));
    EXPECT_EQ(findingsText(in) + findingsText(out), "");
}

TEST(IndirectBlocks, ofAGridWithoutStepsHaveNoLists)
{
    const ir::Program program = mustTrace(pl::kernel(
        "empty",
        {pl::scalarPrefetch("steps", kInt, Shape{1}), pl::scalarPrefetch("list", kInt, Shape{8}),
         pl::in("x", kF32, Shape{8, 128}), pl::out("out", kF32, Shape{8, 128})},
        [](pl::Ref steps, pl::Ref list, pl::Ref x, pl::Ref out) {
            pl::emitPipeline({.grid = {ir::kDynamicExtent},
                              .in = {listed(list)},
                              .out = {pl::block({kList, 128}, kRow)},
                              .bounds = {steps[0].load()}},
                             [](pl::Ref a, pl::Ref b) { b[pl::all] = a[pl::all]; })(x, out);
        }));
    for (const int steps : {0, 2}) {
        const machine::RunResult run =
            mustRun(program, {indices({steps}), indices({0, 1, 2, 3, 4, 5, 6, 7}),
                              counting(kF32, {8, 128})});
        const trace::Operand& x = run.trace->info().operands[0];
        EXPECT_EQ(x.blockCounts[0], steps);
        EXPECT_EQ(x.indices.size(), static_cast<std::size_t>(steps * kList));
    }
}

// Two write-backs may be under way at once. Whether they overlap depends on their rows, not on the
// range in which the rows lie.
TEST(IndirectBlocks, raceOnlyWhereTwoCopiesUnderWayShareARow)
{
    const Array x = counting(kF32, {8, 128});
    const machine::RunResult apart =
        mustRun(moving({.scatters = true}), {indices({0, 2, 4, 6, 1, 3, 5, 7}), x});
    EXPECT_EQ(findingsText(apart), "");
    EXPECT_EQ(rowsOf(apart.outputs[0]), (Rows{0, 4, 1, 5, 2, 6, 3, 7}));
    const std::vector<Array> shared{indices({0, 2, 4, 6, 1, 4, 5, 7}), x};
    const machine::RunResult both = mustRun(moving({.scatters = true}), shared);
    ASSERT_EQ(findingsOf(both, "overwritten_in_flight").size(), 1U) << findingsText(both);
    EXPECT_EQ(findingsOf(both, "overwritten_in_flight")[0].operand, "out");
    // With one buffer, the pipeline waits for each write-back before it goes on.
    const machine::RunResult single = mustRun(moving({.scatters = true, .buffers = 1}), shared);
    EXPECT_EQ(findingsBesidesResults(single), "");
    EXPECT_EQ(rowsOf(single.outputs[0]), (Rows{0, 4, 1, -1, 5, 6, 3, 7}));
}

TEST(IndirectBlocks, takeAsLongAsAsManyPlainRows)
{
    const Array x = counting(kF32, {16, 128});
    const machine::RunResult rows =
        mustRun(moving({.inRows = 16, .outRows = 16, .steps = 4}),
                {indices({15, 14, 13, 12, 0, 1, 2, 3, 7, 5, 6, 4, 8, 9, 10, 11}), x});
    const pl::BlockSpec plain = pl::block({kList, 128}, kRow);
    const machine::RunResult blocks = mustRun(
        mustTrace(pl::kernel(
            "plain", {pl::in("x", kF32, Shape{16, 128}), pl::out("out", kF32, Shape{16, 128})},
            [&](pl::Ref from, pl::Ref to) {
                pl::emitPipeline({.grid = {4}, .in = {plain}, .out = {plain}},
                                 [](pl::Ref a, pl::Ref b) { b[pl::all] = a[pl::all]; })(from, to);
            })),
        {x});
    EXPECT_EQ(rows.trace->copies().bytes, blocks.trace->copies().bytes);
    EXPECT_EQ(rows.trace->copies().issue, blocks.trace->copies().issue);
    EXPECT_EQ(rows.trace->copies().end, blocks.trace->copies().end);
    EXPECT_EQ(rows.trace->end(), blocks.trace->end());
}

TEST(IndirectBlocks, mayBeOnAnyAxisBesideOthersOfAnyKind)
{
    // Along planes of 8 rows: plane i, rows by the list, lanes in two blocks j; list[0] is for even
    // steps.
    const ir::Program program = mustTrace(pl::kernel(
        "planes",
        {pl::scalarPrefetch("list", kInt, Shape{4}), pl::in("x", kF32, Shape{2, 8, 256}),
         pl::out("out", kF32, Shape{2, 2, 256})},
        [](pl::Ref list, pl::Ref x, pl::Ref out) {
            const pl::BlockSpec rows =
                pl::block({pl::squeezed(), pl::indirect(2), 128},
                          [list](auto i, auto j) { return pl::at(i, list[pl::ds(j * 2, 2)], j); });
            const pl::BlockSpec plain =
                pl::block({pl::squeezed(), 2, 128}, [](auto i, auto j) { return pl::at(i, 0, j); });
            pl::emitPipeline({.grid = {2, 2}, .in = {rows}, .out = {plain}},
                             [](pl::Ref a, pl::Ref b) { b[pl::all] = a[pl::all]; })(x, out);
        }));
    const machine::RunResult run =
        mustRun(program, {indices({6, 3, 0, 7}), counting(kF32, {2, 8, 256})});
    const Numbers out = elementsOf(run.outputs[0]);
    const int rows[2][2] = {{6, 3}, {0, 7}}; // for each half of the lanes
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t plane = i / 512, row = i / 256 % 2, lane = i % 256;
        EXPECT_EQ(out[i],
                  static_cast<double>(
                      plane * 2048 + static_cast<std::size_t>(rows[lane / 128][row]) * 256 + lane))
            << i;
    }
    EXPECT_EQ(copyNames(run, 0),
              (std::vector<std::string>{"x(0,[6,3],0) 1024", "x(0,[0,7],1) 1024",
                                        "x(1,[6,3],0) 1024", "x(1,[0,7],1) 1024"}));
    EXPECT_EQ(findingsText(run), "");
}

TEST(IndirectBlocks, gatherLanesToo)
{
    const ir::Program program = mustTrace(
        pl::kernel("lanes",
                   {pl::scalarPrefetch("list", kInt, Shape{4}), pl::in("x", kF32, Shape{8, 16}),
                    pl::out("out", kF32, Shape{8, 4})},
                   [](pl::Ref list, pl::Ref x, pl::Ref out) {
                       pl::emitPipeline(
                           {.grid = {1},
                            .in = {pl::block({8, pl::indirect(4)},
                                             [list](auto i) { return pl::at(i, list[pl::all]); })},
                            .out = {pl::block({8, 4}, kRow)}},
                           [](pl::Ref a, pl::Ref b) { b[pl::all] = a[pl::all]; })(x, out);
                   }));
    const machine::RunResult run =
        mustRun(program, {indices({9, 0, 9, 15}), counting(kF32, {8, 16})});
    const Numbers out = elementsOf(run.outputs[0]);
    const double lanes[4] = {9, 0, 9, 15};
    for (std::size_t i = 0; i < out.size(); ++i) {
        EXPECT_EQ(out[i], static_cast<double>(i / 4 * 16) + lanes[i % 4]) << i;
    }
}

// The list lies in VMEM, where a manual DMA has brought it, and the index map computes with it.
TEST(IndirectBlocks, haveIndexMapsThatComputeWithArraysOfVmem)
{
    const ir::Program program = mustTrace(pl::kernel(
        "computed",
        {pl::in("list", kInt, Shape{8}), pl::in("x", kF32, Shape{8, 128}),
         pl::out("out", kF32, Shape{8, 128})},
        [](pl::Ref list, pl::Ref x, pl::Ref out) {
            pl::runScoped({{"held", kInt, {8}}, pl::dmaSemaphores("sem")}, [&](const auto& refs) {
                pl::dmaStart(list, refs[0], refs[1]);
                pl::dmaWait(refs[0], refs[1]);
                // Every other row below 6, beginning where the list says.
                const auto map = [&](auto i) {
                    const pl::Value rows = refs[0][pl::ds(i * kList, kList)].load();
                    return pl::at(pl::select(rows < 6, rows, rows - 6), 0);
                };
                pl::emitPipeline({.grid = {2},
                                  .in = {pl::block({pl::indirect(kList), 128}, map)},
                                  .out = {pl::block({kList, 128}, kRow)}},
                                 [](pl::Ref a, pl::Ref b) { b[pl::all] = a[pl::all]; })(x, out);
                return std::vector<pl::Value>();
            });
        }));
    const machine::RunResult run =
        mustRun(program, {indices({7, 1, 6, 5, 4, 11, 0, 9}), counting(kF32, {8, 128})});
    EXPECT_EQ(rowsOf(run.outputs[0]), (Rows{1, 1, 0, 5, 4, 5, 0, 3}));
    EXPECT_EQ(findingsText(run), "");
}

TEST(IndirectBlocks, takeTheSameCopiesWithoutValues)
{
    const Array list = indices({3, 1, 1, 7, 0, 5, 2, 6});
    for (const bool scatters : {false, true}) {
        const ir::Program program = moving({.scatters = scatters});
        const machine::RunResult full = mustRun(program, {list, counting(kF32, {8, 128})});
        const machine::RunResult needed = mustRun(
            program, {list, Array{kF32, Shape{8, 128}, nullptr}}, machine::ValueMode::Needed);
        EXPECT_EQ(full.trace->copies(), needed.trace->copies());
        EXPECT_EQ(full.trace->info().operands, needed.trace->info().operands);
    }
}

TEST(IndirectBlocks, ofWhichSomeRowsLieOutsideGoOnWithTheRest)
{
    machine::Options options;
    options.settings.outOfBoundsReads = machine::OutOfBoundsReads::Uninitialized;
    for (const bool scatters : {false, true}) {
        const Result<machine::RunResult> run = machine::run(
            moving({.scatters = scatters}),
            {indices({3, 8, 1, -1, 0, 5, 2, 6}), counting(kF32, {8, 128})}, v5e(), options);
        ASSERT_TRUE(run) << run.error().message;
        EXPECT_EQ(rowsOf(run->outputs[0]),
                  scatters ? (Rows{4, 2, 6, 0, -1, 5, 7, -1}) : (Rows{3, -1, 1, -1, 0, 5, 2, 6}));
        const auto found = findingsOf(*run, "out_of_bounds");
        ASSERT_EQ(found.size(), 1U) << findingsText(*run);
        EXPECT_EQ(found[0].count, 2); // two elements of the list
        EXPECT_EQ(found[0].operand, scatters ? "out" : "x");
        EXPECT_NE(found[0].message.find("has index 8 at place 1 for axis 0, which has 8 elements"),
                  std::string::npos)
            << found[0].message;
        EXPECT_EQ(findingsOf(*run, "undefined_written_back").size(), scatters ? 0U : 1U);
    }
}

TEST(IndirectBlocks, areRefusedWhereJaxRefusesThem)
{
    using Change = std::function<void(pl::Grid&)>;
    const auto trace = [](const Change& change, bool emitted = true) {
        return pl::kernel(
            "refused",
            {pl::scalarPrefetch("list", kInt, Shape{8}), pl::in("x", kF32, Shape{8, 128}),
             pl::out("out", kF32, Shape{8, 128})},
            [&](pl::Ref list, pl::Ref x, pl::Ref out) {
                pl::Grid grid{
                    .grid = {2}, .in = {listed(list)}, .out = {pl::block({kList, 128}, kRow)}};
                change(grid);
                const auto body = [](pl::Ref, pl::Ref b) { b[pl::all] = pl::zerosLike(b); };
                if (emitted) {
                    pl::emitPipeline(grid, body)(x, out);
                } else {
                    pl::pallasCall(grid, body)(x, out);
                }
            });
    };
    ASSERT_TRUE(trace([](pl::Grid&) {}));
    const std::vector<std::pair<std::string, Result<ir::Program>>> refused{
        {"emit_pipeline of JAX 0.10 or later alone", trace([](pl::Grid&) {}, false)},
        {"emit_pipeline of JAX 0.10 or later alone",
         trace([](pl::Grid& grid) { grid.schedule = "0.9"; })},
        {"1 or 2 buffers and no lookahead", trace([](pl::Grid& grid) { grid.in[0].buffers = 3; })},
        {"1 or 2 buffers and no lookahead",
         trace([](pl::Grid& grid) { grid.in[0].lookahead = true; })},
        {"in the memory of its blocks",
         trace([](pl::Grid& grid) { grid.in[0].space = ir::MemorySpace::Hbm; })},
        {"must return i32[4] or fewer for its Indirect axis",
         trace([](pl::Grid& grid) { grid.in[0].indexMap = kRow; })},
        {"2 Indirect axes; expected at most one",
         trace([](pl::Grid& grid) { grid.in[0].block[1].kind = ir::BlockKind::Indirect; })}};
    for (const auto& [sentence, result] : refused) {
        ASSERT_FALSE(result) << sentence;
        EXPECT_NE(result.error().message.find(sentence), std::string::npos)
            << result.error().message;
    }
}

} // namespace pallascope::machine_test
