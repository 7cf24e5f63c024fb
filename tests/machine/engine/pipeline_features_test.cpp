// What block specs and pipelines can ask for beyond plain blocks. Each result is compared with that
// of a plain loop.
#include "core/analysis/report.h"
#include "core/trace/lookup.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pallascope::machine_test {

namespace {

using Numbers = std::vector<double>;

struct CopyRow
{
    std::int64_t block, bytes;
    bool out;
    bool operator==(const CopyRow&) const = default;
};

// The copies of one operand in the order of issue.
std::vector<CopyRow> copiesOf(const machine::RunResult& run, std::int32_t operand)
{
    std::vector<CopyRow> rows;
    const trace::Copies& copies = run.trace->copies();
    for (std::size_t i = 0; i < copies.size(); ++i) {
        if (copies.operand[i] == operand) {
            rows.push_back({copies.block[i], copies.bytes[i], copies.out[i] != 0});
        }
    }
    return rows;
}

// out[i] = the block of x, with the given specs. Both arrays are f32 with rows of 128.
ir::Program copying(pl::Grid grid, Extent inRows, Extent outRows, bool emitted = true)
{
    const auto kernel = [&](pl::Ref xHbm, pl::Ref outHbm) {
        const auto body = [](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all] * 1.0; };
        if (emitted) {
            pl::emitPipeline(grid, body)(xHbm, outHbm);
        } else {
            pl::pallasCall(grid, body)(xHbm, outHbm);
        }
    };
    return mustTrace(pl::kernel(
        "copying",
        {pl::in("x", kF32, Shape{inRows, 128}), pl::out("out", kF32, Shape{outRows, 128})},
        kernel));
}

} // namespace

TEST(ElementBlocks, startAtAnyElementAndMayOverlap)
{
    const ir::Program program =
        copying({.grid = {3},
                 .in = {pl::block({pl::element(8), pl::element(128)},
                                  [](auto i) { return pl::at(i * 3 + 1, 0); })},
                 .out = {pl::block({8, 128}, kRow)}},
                24, 24);
    const machine::RunResult run = mustRun(program, {counting(kF32, {24, 128})});
    const Numbers out = elementsOf(run.outputs[0]);
    for (std::size_t i = 0; i < 24 * 128; ++i) {
        const std::size_t block = i / 1024; // block b of 8 rows holds rows 3b + 1 to 3b + 8
        EXPECT_EQ(out[i], static_cast<double>((block * 3 + 1) * 128 + i % 1024)) << i;
    }
    EXPECT_EQ(findingsText(run), "");
}

TEST(ElementBlocks, ofAPallasCallSeeUndefinedPaddingAndEmitPipelineIgnoresIt)
{
    const auto spec = pl::block({pl::element(8, 4, 4), pl::element(128)},
                                [](auto i) { return pl::at(i * 8, 0); });
    const ir::Program padded =
        copying({.grid = {2}, .in = {spec}, .out = {pl::block({8, 128}, kRow)}}, 8, 16, false);
    const machine::RunResult run = mustRun(padded, {counting(kF32, {8, 128})});
    const Numbers out = elementsOf(run.outputs[0]);
    for (std::size_t row = 0; row < 16; ++row) { // rows 4 to 11 of the 16 padded rows are the array
        for (std::size_t lane = 0; lane < 128; ++lane) {
            const double got = out[row * 128 + lane];
            if (row < 4 || row >= 12) {
                EXPECT_TRUE(std::isnan(got)) << row;
            } else {
                EXPECT_EQ(got, static_cast<double>((row - 4) * 128 + lane));
            }
        }
    }
    EXPECT_EQ(findingsOf(run, "undefined_written_back").size(), 1U);
    const trace::Operand& x = run.trace->info().operands[0];
    EXPECT_EQ(x.elementAxes, (std::vector<std::int32_t>{0, 1}));
    EXPECT_EQ(x.elementPads, (std::vector<Extent>{4, 0}));

    const ir::Program ignored =
        copying({.grid = {1}, .in = {spec}, .out = {pl::block({8, 128}, kRow)}}, 8, 8);
    EXPECT_EQ(elementsOf(mustRun(ignored, {counting(kF32, {8, 128})}).outputs[0]),
              elementsOf(counting(kF32, {8, 128})));
}

TEST(BoundedSlices, copyAsManyRowsAsTheMapSays)
{
    // Slices begin at 0, 8 and 24 with 8, 16 and 5 rows; the last is copied in whole tiles of 8
    // rows.
    const auto map = [](auto i) {
        return pl::at(pl::select(i == 2, i * 12, i * 8), pl::select(i == 2, i * 0 + 5, i * 8 + 8),
                      0);
    };
    const ir::Program program = copying({.grid = {3},
                                         .in = {pl::block({pl::boundedSlice(16), 128}, map)},
                                         .out = {pl::block({16, 128}, kRow)}},
                                        32, 48);
    const machine::RunResult run = mustRun(program, {counting(kF32, {32, 128})});
    std::vector<std::int64_t> bytes;
    std::vector<std::string> names;
    for (const CopyRow& copy : copiesOf(run, 0)) {
        bytes.push_back(copy.bytes);
        names.push_back(trace::blockName(run.trace->info().operands[0], copy.block));
    }
    EXPECT_EQ(bytes, (std::vector<std::int64_t>{8 * 512, 16 * 512, 8 * 512}));
    EXPECT_EQ(names, (std::vector<std::string>{"x(0:8,0)", "x(8:24,0)", "x(24:29,0)"}));
    const Numbers out = elementsOf(run.outputs[0]);
    for (std::size_t lane = 0; lane < 128; ++lane) {
        EXPECT_EQ(out[7 * 128 + lane], static_cast<double>(7 * 128 + lane));         // of block 0
        EXPECT_EQ(out[31 * 128 + lane], static_cast<double>(23 * 128 + lane));       // of block 1
        EXPECT_EQ(out[(32 + 4) * 128 + lane], static_cast<double>(28 * 128 + lane)); // of block 2
        EXPECT_TRUE(std::isnan(out[8 * 128 + lane])); // outside of the slice: never copied
    }
}

TEST(ScalarPrefetch, decidesTheBlocksAndAStoreIsSeenByTheMapOfTheStepAfterTheNext)
{
    // table = 3 1 0 2 0. The body of step s stores 2 to entry s + 1, which is too late, and to
    // entry s + 2, which is in time.
    const auto trace = [](bool stores) {
        return mustTrace(pl::kernel(
            "gather",
            {pl::scalarPrefetch("table", kInt, {8}), pl::in("x", kF32, Shape{32, 128}),
             pl::out("out", kF32, Shape{40, 128})},
            [&](pl::Ref table, pl::Ref xHbm, pl::Ref outHbm) {
                pl::pallasCall(
                    {.grid = {5},
                     .in = {pl::block({8, 128}, [&](auto i) { return pl::at(table[i], 0); })},
                     .out = {pl::block({8, 128}, kRow)}},
                    [&](pl::Ref x, pl::Ref out) {
                        out[pl::all] = x[pl::all] * 1.0;
                        if (stores) {
                            table[pl::programId(0) + 2] = 2;
                        }
                    })(xHbm, outHbm);
            }));
    };
    const Array table = arrayOf(kInt, {8}, {3, 1, 0, 2, 0, 0, 0, 0});
    const auto blocks = [&](bool stores) {
        const machine::RunResult run = mustRun(trace(stores), {table, counting(kF32, {32, 128})});
        EXPECT_EQ(findingsText(run), "");
        std::vector<std::int64_t> seen;
        const Numbers out = elementsOf(run.outputs[0]);
        for (std::size_t step = 0; step < 5; ++step) {
            seen.push_back(static_cast<std::int64_t>(out[step * 1024]) / 1024);
        }
        return seen;
    };
    EXPECT_EQ(blocks(false), (std::vector<std::int64_t>{3, 1, 0, 2, 0}));
    EXPECT_EQ(blocks(true), (std::vector<std::int64_t>{3, 1, 2, 2, 2}));
}

TEST(ScalarPrefetch, isNeededAndNamed)
{
    const ir::Program program = mustTrace(pl::kernel(
        "gather",
        {pl::scalarPrefetch("table", kInt, {8}), pl::in("x", kF32, Shape{32, 128}),
         pl::out("out", kF32, Shape{16, 128})},
        [&](pl::Ref table, pl::Ref xHbm, pl::Ref outHbm) {
            pl::pallasCall(
                {.grid = {2},
                 .in = {pl::block({8, 128}, [&](auto i) { return pl::at(table[i], 0); })},
                 .out = {pl::block({8, 128}, kRow)}},
                [&](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all] * 1.0; })(xHbm, outHbm);
        }));
    const Array x{kF32, Shape{32, 128}, nullptr};
    const Result<machine::RunResult> run = machine::run(
        program, {{kInt, Shape{8}, nullptr}, x}, v5e(), {.values = machine::ValueMode::Needed});
    ASSERT_FALSE(run);
    EXPECT_NE(run.error().message.find("The values of table decide"), std::string::npos)
        << run.error().message;
    const machine::RunResult needed = mustRun(
        program, {arrayOf(kInt, {8}, {1, 3, 0, 0, 0, 0, 0, 0}), x}, machine::ValueMode::Needed);
    EXPECT_EQ(copiesOf(needed, 0), (std::vector<CopyRow>{{1, 4096, false}, {3, 4096, false}}));
}

TEST(IndexMaps, mayUseScalarsFromAroundTheirPipeline)
{
    // In round r of two, step i sees block r + i of x.
    const ir::Program program = mustTrace(pl::kernel(
        "shifted", {pl::in("x", kF32, Shape{32, 128}), pl::out("out", kF32, Shape{24, 128})},
        [&](pl::Ref xHbm, pl::Ref outHbm) {
            pl::foriLoop(2, {}, [&](pl::Value round, const std::vector<pl::Value>&) {
                pl::emitPipeline(
                    {.grid = {3},
                     .in = {pl::block({8, 128}, [&](auto i) { return pl::at(round + i, 0); })},
                     .out = {pl::block({8, 128}, kRow)}},
                    [](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all] * 1.0; })(xHbm, outHbm);
                return std::vector<pl::Value>();
            });
        }));
    for (const machine::ValueMode mode : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
        const machine::RunResult run = mustRun(program, {counting(kF32, {32, 128})}, mode);
        std::vector<std::int64_t> blocks;
        for (const CopyRow& row : copiesOf(run, 0)) {
            blocks.push_back(row.block);
        }
        EXPECT_EQ(blocks, (std::vector<std::int64_t>{0, 1, 2, 1, 2, 3}));
    }
}

TEST(DynamicGrids, runAsManyStepsAsTheirBoundSays)
{
    const ir::Program program =
        mustTrace(pl::kernel("some",
                             {pl::scalarPrefetch("n", kInt, {1}), pl::in("x", kF32, Shape{32, 128}),
                              pl::out("out", kF32, Shape{32, 128})},
                             [&](pl::Ref n, pl::Ref xHbm, pl::Ref outHbm) {
                                 pl::emitPipeline({.grid = {ir::kDynamicExtent},
                                                   .in = {pl::block({8, 128}, kRow)},
                                                   .out = {pl::block({8, 128}, kRow)},
                                                   .bounds = {n[0].load()}},
                                                  [](pl::Ref x, pl::Ref out) {
                                                      out[pl::all] = x[pl::all] + 1.0;
                                                  })(xHbm, outHbm);
                             }));
    for (const double steps : {0.0, 1.0, 3.0}) {
        const machine::RunResult run =
            mustRun(program, {arrayOf(kInt, {1}, {steps}), counting(kF32, {32, 128})});
        EXPECT_EQ(run.trace->steps().size(), static_cast<std::size_t>(steps));
        const Numbers out = elementsOf(run.outputs[0]);
        for (std::size_t i = 0; i < out.size(); ++i) {
            const bool reached = static_cast<double>(i / 1024) < steps;
            EXPECT_TRUE(reached ? out[i] == static_cast<double>(i) + 1 : std::isnan(out[i])) << i;
        }
        EXPECT_TRUE(analysis::report(*run.trace).has_value());
    }
    const Result<machine::RunResult> negative =
        machine::run(program, {arrayOf(kInt, {1}, {-2}), counting(kF32, {32, 128})}, v5e(), {});
    ASSERT_FALSE(negative);
    EXPECT_NE(negative.error().message.find("an axis of -2 steps; expected 0 or more"),
              std::string::npos);
}

TEST(Pipelines, inALoopMayHaveAnotherGridEachTime)
{
    const ir::Program program = mustTrace(pl::kernel(
        "growing", {pl::in("x", kF32, Shape{32, 128}), pl::out("out", kF32, Shape{32, 128})},
        [&](pl::Ref xHbm, pl::Ref outHbm) {
            pl::foriLoop(4, {}, [&](pl::Value i, const std::vector<pl::Value>&) {
                pl::emitPipeline({.grid = {ir::kDynamicExtent},
                                  .in = {pl::block({8, 128}, kRow)},
                                  .out = {pl::block({8, 128}, kRow)},
                                  .bounds = {i + 1}},
                                 [](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all] + 1.0; })(
                    xHbm, outHbm);
                return std::vector<pl::Value>();
            });
        }));
    const machine::RunResult run = mustRun(program, {counting(kF32, {32, 128})});
    EXPECT_EQ(run.trace->steps().size(), 1U + 2U + 3U + 4U);
    EXPECT_EQ(run.trace->info().pipelines.size(), 4U); // one row for each grid
    EXPECT_EQ(run.trace->info().pipelines[3].grid, (std::vector<Extent>{4}));
    Numbers want = elementsOf(counting(kF32, {32, 128}));
    for (double& number : want) {
        number += 1;
    }
    EXPECT_EQ(elementsOf(run.outputs[0]), want);
    machine::Options options{.rows = false};
    const Result<machine::RunResult> sums =
        machine::run(program, {counting(kF32, {32, 128})}, v5e(), options);
    ASSERT_TRUE(sums) << sums.error().message;
    EXPECT_EQ(sums->sums.end, run.trace->end());
}

// Each round fills a part of the array. All rounds together fill it, or leave out its last part.
TEST(Pipelines, inALoopCoverTheirArrayTogether)
{
    for (const std::int64_t turns : {4, 3}) {
        const ir::Program program = mustTrace(
            pl::kernel("parts", {pl::out("out", kF32, Shape{64, 128})}, [&](pl::Ref outHbm) {
                pl::foriLoop(turns, {}, [&](pl::Value i, const std::vector<pl::Value>&) {
                    pl::emitPipeline({.grid = {2},
                                      .in = {},
                                      .out = {pl::block(
                                          {8, 128}, [&](auto j) { return pl::at(i * 2 + j, 0); })}},
                                     [](pl::Ref out) {
                                         out[pl::all] = pl::full({8, 128}, 1, kF32);
                                     })(outHbm);
                    return std::vector<pl::Value>();
                });
            }));
        const auto found = findingsOf(mustRun(program, {}), "output_never_written");
        ASSERT_EQ(found.size(), turns == 4 ? 0U : 1U);
        if (turns == 3) {
            EXPECT_NE(found[0].message.find("2 of 8 blocks"), std::string::npos)
                << found[0].message;
        }
    }
}

// Two cores share a grid that leaves out the last two blocks.
TEST(Pipelines, thatCoresShareAreHeldToTheirWholeArray)
{
    for (const Extent steps : {8, 6}) {
        const ir::Program program = mustTrace(
            pl::kernel("shared", {pl::out("out", kF32, Shape{64, 128})}, [&](pl::Ref outHbm) {
                pl::coreMap("core", 2, [&] {
                    pl::emitPipeline({.grid = {steps},
                                      .in = {},
                                      .out = {pl::block({8, 128}, kRow)},
                                      .coreAxis = "core",
                                      .parallel = {0}},
                                     [](pl::Ref out) {
                                         out[pl::all] = pl::full({8, 128}, 1, kF32);
                                     })(outHbm);
                });
            }));
        const auto found = findingsOf(mustRun(program, {}, machine::ValueMode::Full, v5p()),
                                      "output_never_written");
        ASSERT_EQ(found.size(), steps == 8 ? 0U : 1U);
        if (steps == 6) {
            EXPECT_EQ(found[0].count, 2);
        }
    }
}

TEST(Aliases, shareOneArrayAndKeepWhatNoStepVisits)
{
    const ir::Program program = mustTrace(pl::kernel(
        "in_place",
        {pl::in("x", kF32, Shape{32, 128}), pl::outAliasing("out", "x", kF32, Shape{32, 128})},
        [&](pl::Ref xHbm, pl::Ref outHbm) {
            pl::emitPipeline({.grid = {2},
                              .in = {pl::block({8, 128}, kRow)},
                              .out = {pl::block({8, 128}, kRow)}},
                             [](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all] + 1000.0; })(
                xHbm, outHbm);
        }));
    const machine::RunResult run = mustRun(program, {counting(kF32, {32, 128})});
    const Numbers out = elementsOf(run.outputs[0]);
    for (std::size_t i = 0; i < out.size(); ++i) {
        EXPECT_EQ(out[i], static_cast<double>(i) + (i < 2048 ? 1000 : 0)) << i;
    }
    EXPECT_EQ(findingsText(run), "");
}

TEST(InOuts, readWhatTheyWriteBack)
{
    pl::BlockSpec both = pl::block({8, 128}, kRow);
    both.outBuffers = 1;
    const ir::Program program = mustTrace(pl::kernel(
        "accumulate",
        {pl::in("x", kF32, Shape{16, 128}), pl::outAliasing("sum", "x", kF32, Shape{16, 128})},
        [&](pl::Ref, pl::Ref sumHbm) {
            pl::emitPipeline({.grid = {2}, .out = {both}},
                             [](pl::Ref sum) { sum[pl::all] = sum[pl::all] * 2.0; })(sumHbm);
        }));
    const machine::RunResult run = mustRun(program, {counting(kF32, {16, 128})});
    const Numbers out = elementsOf(run.outputs[0]);
    for (std::size_t i = 0; i < out.size(); ++i) {
        EXPECT_EQ(out[i], static_cast<double>(i) * 2) << i;
    }
}

TEST(RestoredOutputs, areReadBackBeforeARevisitAndPayForIt)
{
    // Two steps add to each of two blocks in turn. Without `restores`, each visit begins undefined.
    const auto build = [](bool restores) {
        pl::BlockSpec out = pl::block(
            {8, 128}, [](auto i) { return pl::at(i % 2, 0); }, 1);
        out.restores = restores;
        return mustTrace(pl::kernel(
            "revisits",
            {pl::in("x", kF32, Shape{32, 128}), pl::outAliasing("out", "x", kF32, Shape{32, 128})},
            [&](pl::Ref xHbm, pl::Ref outHbm) {
                pl::pallasCall(
                    {.grid = {4},
                     .in = {pl::block({8, 128}, [](auto i) { return pl::at(i * 0 + 3, 0); })},
                     .out = {out}},
                    [](pl::Ref x, pl::Ref sum) { sum[pl::all] += x[pl::all]; })(xHbm, outHbm);
            }));
    };
    const Array x = arrayOf(kF32, {32, 128}, Numbers(32 * 128, 1.0));
    const machine::RunResult kept = mustRun(build(true), {x});
    EXPECT_EQ(findingsText(kept), "");
    EXPECT_EQ(elementsOf(kept.outputs[0])[0], 3); // 1 + 1 + 1
    EXPECT_EQ(copiesOf(kept, 1).size(), 8U);      // copied in and out at every step
    const machine::RunResult plain = mustRun(build(false), {x});
    EXPECT_EQ(findingsOf(plain, "output_revisited").size(), 1U);
    EXPECT_EQ(copiesOf(plain, 1).size(), 4U);
    EXPECT_LT(plain.trace->end(), kept.trace->end());
}

TEST(NoPipelining, copiesEveryBlockOfEveryStepAndOverlapsNothing)
{
    pl::Grid grid{.grid = {2, 3},
                  .in = {pl::block({8, 128}, [](auto i, auto) { return pl::at(i, 0); })},
                  .out = {pl::block({8, 128}, [](auto i, auto) { return pl::at(i, 0); })},
                  .noPipelining = true};
    const ir::Program program = copying(grid, 16, 16);
    const machine::RunResult run = mustRun(program, {counting(kF32, {16, 128})});
    EXPECT_EQ(elementsOf(run.outputs[0]), elementsOf(counting(kF32, {16, 128})));
    EXPECT_EQ(copiesOf(run, 0).size(), 6U);
    EXPECT_EQ(copiesOf(run, 1).size(), 6U);
    std::int64_t link = 0, core = 0;
    const trace::Trace& trace = *run.trace;
    for (std::size_t i = 0; i < trace.copies().size(); ++i) {
        link += trace.copies().end[i] - trace.copies().issue[i];
    }
    for (std::size_t i = 0; i < trace.segments().size(); ++i) {
        const auto id = static_cast<std::size_t>(trace.segments().templateId[i]);
        core += trace.info().templates[id].duration.value();
    }
    EXPECT_EQ(trace.end().value(), link + core);
}

TEST(RunScoped, givesMemoryThatIsUndefinedAtEveryEntryAndCountsWhileItLives)
{
    const auto build = [](bool initialises) {
        return mustTrace(pl::kernel(
            "scoped", {pl::in("x", kF32, Shape{16, 128}), pl::out("out", kF32, Shape{16, 128})},
            [&](pl::Ref xHbm, pl::Ref outHbm) {
                const auto body = [&](pl::Ref x, pl::Ref out) {
                    pl::runScoped({{"acc", kF32, {8, 128}}}, [&](const auto& refs) {
                        if (initialises) {
                            refs[0][pl::all] = pl::zerosLike(refs[0]);
                        }
                        refs[0][pl::all] += x[pl::all];
                        out[pl::all] = refs[0][pl::all] * 1.0;
                        return std::vector<pl::Value>();
                    });
                };
                const auto block = pl::block({8, 128}, kRow);
                pl::emitPipeline({.grid = {2}, .in = {block}, .out = {block}}, body)(xHbm, outHbm);
            }));
    };
    const Array x = counting(kF32, {16, 128});
    const machine::RunResult good = mustRun(build(true), {x});
    EXPECT_EQ(elementsOf(good.outputs[0]), elementsOf(x));
    EXPECT_EQ(findingsText(good), "");
    const machine::RunResult bad = mustRun(build(false), {x});
    ASSERT_EQ(findingsOf(bad, "undefined_written_back").size(), 1U);
    EXPECT_EQ(findingsOf(bad, "undefined_written_back")[0].count, 2);
    const Result<analysis::Report> report = analysis::report(*good.trace);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->vmemPeak, Bytes(5 * 4096)); // two slots for each direction, and acc
}

TEST(UnbufferedOperands, areTheArrayItself)
{
    // A pipeline's operand is scratch in VMEM: the body sees its rows, and nothing is copied.
    const ir::Program program = mustTrace(pl::kernel(
        "resident", {pl::in("x", kF32, Shape{16, 128}), pl::out("out", kF32, Shape{16, 128})},
        [&](pl::Ref xHbm, pl::Ref outHbm) {
            pl::runScoped({{"held", kF32, {16, 128}}}, [&](const auto& refs) {
                const auto block = pl::block({8, 128}, kRow);
                pl::emitPipeline({.grid = {2}, .in = {block}, .out = {block}},
                                 [](pl::Ref x, pl::Ref held) { held[pl::all] = x[pl::all] * 2.0; })(
                    xHbm, refs[0]);
                pl::emitPipeline({.grid = {2}, .in = {block}, .out = {block}},
                                 [](pl::Ref held, pl::Ref out) {
                                     out[pl::all] = held[pl::all] + 1.0;
                                 })(refs[0], outHbm);
                return std::vector<pl::Value>();
            });
        }));
    const machine::RunResult run = mustRun(program, {counting(kF32, {16, 128})});
    const Numbers out = elementsOf(run.outputs[0]);
    for (std::size_t i = 0; i < out.size(); ++i) {
        EXPECT_EQ(out[i], static_cast<double>(i) * 2 + 1) << i;
    }
    EXPECT_EQ(run.trace->copies().size(), 4U);
    EXPECT_EQ(run.trace->info().operands.size(), 2U);
    EXPECT_EQ(findingsText(run), "");
}

// Blocks of 32-bit words in an array of 16-bit elements: rows 2i and 2i + 1 form row i. Another
// copy may fill the rest of the array meanwhile.
TEST(Bits, ofAnArrayAreCutIntoBlocksAndWrittenBack)
{
    const ir::Program program = mustTrace(pl::kernel(
        "bits",
        {pl::in("x", DType::Int16, Shape{20, 2}), pl::out("out", DType::Int16, Shape{20, 2})},
        [](pl::Ref xHbm, pl::Ref outHbm) {
            const auto words = [](const pl::Ref& half) { return half.bitcast(kInt); };
            pl::emitPipeline(
                {.grid = {2}, .in = {pl::block({8, 2}, kRow)}, .out = {pl::block({8, 2}, kRow)}},
                [](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all] + 65537; })(words(xHbm),
                                                                                   words(outHbm));
        }));
    for (const char* mode : {"timed", "eager", "on_wait"}) {
        const auto settings = machine::settingsOf({{"dma_execution_mode", mode}});
        const auto run = machine::run(program, {counting(DType::Int16, {20, 2})}, v5e(),
                                      {.settings = *settings});
        ASSERT_TRUE(run) << run.error().message;
        EXPECT_EQ(findingsText(*run), "");
        const Numbers out = elementsOf(run->outputs[0]);
        for (std::size_t i = 0; i < 40; ++i) {
            EXPECT_EQ(out[i], static_cast<double>(i + 1)) << mode << " " << i;
        }
    }
}

// Elements that the body leaves undefined are undefined in the array; they are counted as elements
// of the block.
TEST(Bits, thatAreUndefinedAreFound)
{
    const ir::Program program = mustTrace(
        pl::kernel("bits", {pl::out("out", DType::Int16, Shape{16, 2})}, [](pl::Ref outHbm) {
            pl::emitPipeline(
                {.grid = {2}, .in = {}, .out = {pl::block({4, 2}, kRow)}}, [](pl::Ref out) {
                    out.at({pl::ds(1, 3), pl::all})[pl::all] = pl::full({3, 2}, 1, kInt);
                })(outHbm.bitcast(kInt));
        }));
    const machine::RunResult run = mustRun(program, {});
    const auto found = findingsOf(run, "undefined_written_back");
    ASSERT_EQ(found.size(), 1U) << findingsText(run);
    EXPECT_EQ(found[0].count, 2);
    EXPECT_NE(found[0].message.find("with 2 of 8 elements undefined"), std::string::npos)
        << found[0].message;
}

TEST(Schedules, ofOldReleasesLeaveAFetchThatNobodyWaitsFor)
{
    // JAX 0.10 has a fault if there are more buffers than steps, which 0.11 fixed.
    for (const char* schedule : {"0.10", "0.11"}) {
        pl::Grid grid{.grid = {2},
                      .in = {pl::block({8, 128}, kRow, 4)},
                      .out = {pl::block({8, 128}, kRow)},
                      .schedule = schedule};
        const machine::RunResult run = mustRun(copying(grid, 16, 16), {counting(kF32, {16, 128})});
        EXPECT_EQ(findingsOf(run, "copy_never_awaited").size(),
                  schedule == std::string("0.10") ? 1U : 0U);
        EXPECT_EQ(elementsOf(run.outputs[0]), elementsOf(counting(kF32, {16, 128})));
    }
}

} // namespace pallascope::machine_test
