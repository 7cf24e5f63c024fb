// Manual DMA, semaphores and several cores: their times, what they order, and what stops them.
#include "core/trace_file/trace_file.h"
#include "tests/chip/edited_chip.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <cstring>

namespace pallascope::machine_test {

namespace {

using Refs = std::vector<pl::Ref>;
using Nothing = std::vector<pl::Value>;

// A kernel without a grid on x and out, which are f32[rows,128] in HBM.
ir::Program manualDma(Extent rows, const std::vector<pl::Scratch>& scratch,
                      const std::function<void(pl::Ref x, pl::Ref out, const Refs& scratch)>& body)
{
    return mustTrace(pl::kernel("manual_dma",
                                {pl::in("x", kF32, {rows, 128}), pl::out("out", kF32, {rows, 128})},
                                [&](pl::Ref x, pl::Ref out) {
                                    pl::runScoped(scratch, [&](const Refs& refs) {
                                        body(x, out, refs);
                                        return Nothing{};
                                    });
                                }));
}

// How long one copy of this many bytes takes on the chip's HBM link, without latency.
std::int64_t copyTime(std::int64_t bytes, const chip::Chip& chip)
{
    const auto rate = static_cast<std::int64_t>(chip.links[0].achieved().value());
    const __int128 time = static_cast<__int128>(bytes) * 1'000'000'000'000 + rate - 1;
    return static_cast<std::int64_t>(time / rate);
}

machine::RunResult onZeros(const ir::Program& program, const chip::Chip& chip = v5e(),
                           machine::ValueMode values = machine::ValueMode::Full)
{
    std::vector<Array> inputs;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            const ir::Type& type = program.type(argument.ref);
            inputs.push_back(makeArray(type.dtype, type.shape));
            std::memset(inputs.back().data.get(), 0,
                        static_cast<std::size_t>(type.shape.elements() * dtypeBytes(type.dtype)));
        }
    }
    return mustRun(program, inputs, values, chip);
}

} // namespace

TEST(ManualDma, aCopyFromOrToMemoryWithoutANameHasThatOfTheSpace)
{
    ir::Program program = manualDma(8, {{"a", kF32, {8, 128}}, pl::dmaSemaphores("sem", {})},
                                    [](pl::Ref x, pl::Ref out, const Refs& refs) {
                                        pl::dmaStart(x, refs[0], refs[1]);
                                        pl::dmaWait(refs[0], refs[1]);
                                        pl::dmaStart(refs[0], out, refs[1]);
                                        pl::dmaWait(out, refs[1]);
                                    });
    for (ir::Value& value : program.values) {
        value.name = value.name == "a" ? "" : value.name;
    }
    const machine::RunResult run = onZeros(program);
    EXPECT_EQ(run.trace->info().operands[0].name, "x \u2192 vmem");
    EXPECT_EQ(run.trace->info().operands[1].name, "vmem \u2192 out");
}

// Two copies queue on the link. The wait for the first ends with the first, the wait for both with
// the second.
TEST(ManualDma, copiesQueueOnTheLinkAndWaitsEndWithThem)
{
    const ir::Program program =
        manualDma(16, {{"a", kF32, {8, 128}}, {"b", kF32, {8, 128}}, pl::dmaSemaphores("sem", {2})},
                  [](pl::Ref x, pl::Ref out, const Refs& refs) {
                      pl::dmaStart(x.at({pl::ds(0, 8), pl::all}), refs[0], refs[2].at({0}));
                      pl::dmaStart(x.at({pl::ds(8, 8), pl::all}), refs[1], refs[2].at({1}));
                      pl::dmaWait(refs[0], refs[2].at({0}));
                      pl::dmaWait(refs[1], refs[2].at({1}));
                      pl::dmaStart(refs[0], out.at({pl::ds(0, 8), pl::all}), refs[2].at({0}));
                      pl::dmaStart(refs[1], out.at({pl::ds(8, 8), pl::all}), refs[2].at({0}));
                      pl::dmaWait(out, refs[2].at({0})); // for the bytes of both copies
                  });
    const machine::RunResult run = onZeros(program);
    EXPECT_EQ(findingsText(run), "");
    const trace::Trace& trace = *run.trace;
    const std::int64_t each = copyTime(4096, v5e());
    ASSERT_EQ(trace.copies().size(), 4U);
    EXPECT_EQ(trace.copies().end, (std::vector<std::int64_t>{each, 2 * each, 3 * each, 4 * each}));
    EXPECT_EQ(trace.copies().block, (std::vector<std::int64_t>{0, 1, 0, 1}));
    EXPECT_EQ(trace.copies().out, (std::vector<std::uint8_t>{0, 0, 1, 1}));
    EXPECT_EQ(trace.waits().end, (std::vector<std::int64_t>{each, 2 * each, 4 * each}));
    EXPECT_EQ(trace.end(), Picoseconds(4 * each));
    EXPECT_EQ(trace.info().operands[0].name, "x \u2192 a");
    ASSERT_EQ(trace.info().semaphores.size(), 2U);
    EXPECT_EQ(trace.info().semaphores[1].name, "sem[1]");
    EXPECT_EQ(trace.signals().amount,
              (std::vector<std::int64_t>{4096, -4096, 4096, -4096, 4096, 4096, -8192}));
}

// The core starts the second copy after it has started the first; starting each takes this long.
TEST(ManualDma, startsOfCopiesTakeTheCoreAsLongAsTheChipSays)
{
    const ir::Program program =
        manualDma(16, {{"a", kF32, {16, 128}}, pl::dmaSemaphores("sem")},
                  [](pl::Ref x, pl::Ref, const Refs& refs) {
                      for (const int first : {0, 8}) {
                          pl::dmaStart(x.at({pl::ds(first, 8), pl::all}),
                                       refs[0].at({pl::ds(first, 8), pl::all}), refs[1]);
                      }
                      pl::dmaWait(refs[0], refs[1]);
                  });
    const chip::Chip chip = chip::edited({{"/operations/dma_start/scalar", 30'000}});
    const chip::Unit& unit = *chip.unitOf(UnitKind::Scalar);
    const auto cycles = static_cast<std::int64_t>(30'000 * unit.cyclesPerRegister) / unit.count;
    const std::int64_t each = toPicoseconds(Cycles(cycles), chip.agents[0].clock).value();
    ASSERT_GT(each, copyTime(4096, chip));
    const machine::RunResult run = onZeros(program, chip);
    EXPECT_EQ(run.trace->copies().start, (std::vector<std::int64_t>{each, 2 * each}));
    EXPECT_EQ(run.trace->end().value(), 2 * each + copyTime(4096, chip));
    EXPECT_EQ(onZeros(program).trace->copies().start,
              (std::vector<std::int64_t>{0, copyTime(4096, v5e())}));
}

// Copies from one source line are one operand, as in a loop that its author unrolled. Another line
// is another operand, and so is a part of another size.
TEST(ManualDma, copiesOfOneLineBetweenTheSameArraysAreOneOperand)
{
    const ir::Program program =
        manualDma(32, {{"a", kF32, {16, 128}}, pl::dmaSemaphores("sem", {})},
                  [](pl::Ref x, pl::Ref out, const Refs& refs) {
                      for (Extent i = 0; i < 4; ++i) {
                          pl::dmaStart(x.at({pl::ds(i * 4, 4), pl::all}),
                                       refs[0].at({pl::ds(i * 4, 4), pl::all}), refs[1]);
                      }
                      pl::dmaWait(refs[0], refs[1]);
                      for (const Extent rows : {4, 8}) {
                          pl::dmaStart(refs[0].at({pl::ds(0, rows), pl::all}),
                                       out.at({pl::ds(16, rows), pl::all}), refs[1]);
                          pl::dmaWait(out.at({pl::ds(16, rows), pl::all}), refs[1]);
                      }
                      pl::dmaStart(x.at({pl::ds(4, 4), pl::all}),
                                   refs[0].at({pl::ds(0, 4), pl::all}), refs[1]);
                      pl::dmaWait(refs[0].at({pl::ds(0, 4), pl::all}), refs[1]);
                  });
    const machine::RunResult run = onZeros(program);
    EXPECT_EQ(run.trace->copies().operand, (std::vector<std::int32_t>{0, 0, 0, 0, 1, 2, 3}));
    EXPECT_EQ(run.trace->copies().block, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 2, 1}));
    ASSERT_EQ(run.trace->info().operands.size(), 4U);
    EXPECT_EQ(run.trace->info().operands[3].name, run.trace->info().operands[0].name);
}

// What a manual DMA brings is visible after the wait for it and not before; a read before that
// returns the old values.
TEST(ManualDma, aCopyReadsWhenItStartsAndLandsWhenItEnds)
{
    const ir::Program program = manualDma(8, {{"a", kF32, {8, 128}}, pl::dmaSemaphores("sem")},
                                          [](pl::Ref, pl::Ref out, const Refs& refs) {
                                              refs[0][pl::all] = pl::full({8, 128}, 7, kF32);
                                              pl::dmaStart(refs[0], out, refs[1]);
                                              pl::delay(1); // it has started but not ended
                                              refs[0][pl::all] = pl::full({8, 128}, 8, kF32);
                                              pl::dmaWait(out, refs[1]);
                                          });
    const machine::RunResult run = onZeros(program);
    EXPECT_EQ(elementsOf(run.outputs[0])[0], 7);
    ASSERT_EQ(findingsOf(run, "overwritten_in_flight").size(), 1U);
    EXPECT_EQ(findingsOf(run, "overwritten_in_flight")[0].operand, "a");
}

// As in JAX's interpreter, the copy's bytes count on a regular semaphore too, and a wait for them
// is a wait for the copy.
TEST(ManualDma, aCopyMayCountOnARegularSemaphore)
{
    const auto waitingFor = [](int amount, machine::DmaMode mode) {
        const ir::Program program =
            manualDma(8, {pl::semaphores("sem")}, [&](pl::Ref x, pl::Ref out, const Refs& refs) {
                pl::dmaStart(x, out, refs[0]);
                pl::semaphoreWait(refs[0], amount);
            });
        machine::Options options;
        options.settings.dmaExecutionMode = mode;
        return machine::run(program, {counting(kF32, {8, 128})}, v5e(), options).value();
    };
    for (const auto mode :
         {machine::DmaMode::Timed, machine::DmaMode::Eager, machine::DmaMode::OnWait}) {
        const machine::RunResult all = waitingFor(4096, mode);
        EXPECT_EQ(findingsText(all), "");
        EXPECT_EQ(elementsOf(all.outputs[0])[1000], 1000);
        EXPECT_EQ(findingsOf(waitingFor(1, mode), "semaphore_left_over").size(), 1U);
    }
}

// A copy from HBM to HBM moves its bytes over the link twice.
TEST(ManualDma, aCopyWithinHbmReadsAndWritesOverTheLink)
{
    const ir::Program program =
        manualDma(8, {pl::dmaSemaphores("sem")}, [](pl::Ref x, pl::Ref out, const Refs& refs) {
            pl::dmaStart(x, out, refs[0]);
            pl::dmaWait(out, refs[0]);
        });
    EXPECT_EQ(onZeros(program).trace->copies().bytes, (std::vector<std::int64_t>{8192}));
}

// Rows of 64 elements lie in tiles of 128 lanes, so copies of them move twice their elements, each
// row by itself too. The semaphore counts the elements.
TEST(ManualDma, aCopyOfNarrowRowsMovesTheirPadding)
{
    const ir::Program program = mustTrace(pl::kernel(
        "narrow", {pl::in("x", kF32, {16, 64}), pl::out("out", kF32, {16, 64})},
        [&](pl::Ref x, pl::Ref out) {
            pl::runScoped({{"a", kF32, {16, 64}}, pl::dmaSemaphores("sem")}, [&](const Refs& refs) {
                pl::dmaStart(x.at({pl::ds(0, 8), pl::all}), refs[0].at({pl::ds(0, 8), pl::all}),
                             refs[1]);
                pl::dmaWait(refs[0].at({pl::ds(0, 8), pl::all}), refs[1]);
                pl::dmaStart(x.at({pl::ds(8, 1), pl::all}), refs[0].at({pl::ds(8, 1), pl::all}),
                             refs[1]);
                pl::dmaWait(refs[0].at({pl::ds(8, 1), pl::all}), refs[1]);
                pl::dmaStart(refs[0], out, refs[1]);
                pl::dmaWait(out, refs[1]);
                return Nothing{};
            });
        }));
    const machine::RunResult run = onZeros(program);
    EXPECT_EQ(run.trace->copies().bytes, (std::vector<std::int64_t>{4096, 512, 8192}));
    EXPECT_EQ(run.trace->signals().amount,
              (std::vector<std::int64_t>{2048, -2048, 256, -256, 4096, -4096}));
    EXPECT_EQ(run.trace->info().operands[0].arrayBytes, Bytes(4096));
    EXPECT_EQ(run.trace->info().operands[0].paddedBytes, Bytes(8192));
}

// Above a megabyte the link computes with wider integers: 2 MiB moved twice at 655.2 GB/s take 6
// 401 562.88 ps.
TEST(ManualDma, aLongCopyEndsWithItsLastByteToo)
{
    const ir::Program program =
        manualDma(4096, {pl::dmaSemaphores("sem")}, [](pl::Ref x, pl::Ref out, const Refs& refs) {
            pl::dmaStart(x, out, refs[0]);
            pl::dmaWait(out, refs[0]);
        });
    const machine::RunResult run = onZeros(program, v5e(), machine::ValueMode::Needed);
    EXPECT_EQ(run.trace->end(), Picoseconds(6'401'563));
}

TEST(ManualDma, coresShareTheLinkAndJoinWhenBothAreDone)
{
    const ir::Program program = manualDma(16, {}, [](pl::Ref x, pl::Ref out, const Refs&) {
        pl::coreMap("core", 2, [&] {
            pl::runScoped({{"a", kF32, {8, 128}}, pl::dmaSemaphores("sem")}, [&](const Refs& refs) {
                const pl::Value first = pl::axisIndex("core") * 8;
                pl::dmaStart(x.at({pl::ds(first, 8), pl::all}), refs[0], refs[1]);
                pl::dmaWait(refs[0], refs[1]);
                pl::dmaStart(refs[0], out.at({pl::ds(first, 8), pl::all}), refs[1]);
                pl::dmaWait(out.at({pl::ds(first, 8), pl::all}), refs[1]);
                return Nothing{};
            });
        });
    });
    const machine::RunResult run = onZeros(program, v5p());
    EXPECT_EQ(findingsText(run), "");
    const std::int64_t each = copyTime(4096, v5p());
    const trace::Waits& waits = run.trace->waits();
    const std::int64_t issue = 1143; // two cycles at 1.75 GHz to compute the row
    EXPECT_EQ(run.trace->copies().end,
              (std::vector<std::int64_t>{issue + each, issue + 2 * each, issue + 3 * each,
                                         issue + 4 * each}));
    ASSERT_EQ(waits.size(), 5U); // two on each core, and core 0's wait for core 1
    EXPECT_EQ(run.trace->end(), Picoseconds(issue + 4 * each));
}

// A chip without slots runs the blocks of a grid one after another, each on both of its cores.
TEST(ManualDma, blocksOfAGridRunOneAfterTheOther)
{
    const ir::Program program = manualDma(12, {}, [](pl::Ref, pl::Ref out, const Refs&) {
        pl::coreMap(ir::CoreMapParams{"core", 2, {{"i", 2}, {"j", 3}}}, [&] {
            pl::runScoped({{"a", kF32, {1, 128}}, pl::dmaSemaphores("sem")}, [&](const Refs& refs) {
                const pl::Value i = pl::axisIndex("i"), j = pl::axisIndex("j"),
                                core = pl::axisIndex("core"), row = (i * 3 + j) * 2 + core;
                refs[0][pl::all] =
                    pl::full({1, 128}, 0, kF32) + pl::convert(i * 100 + j * 10 + core, DType::F32);
                pl::dmaStart(refs[0], out.at({pl::ds(row, 1), pl::all}), refs[1]);
                pl::dmaWait(out.at({pl::ds(row, 1), pl::all}), refs[1]);
                return Nothing{};
            });
        });
    });
    const machine::RunResult run = onZeros(program, v5p());
    EXPECT_EQ(findingsText(run), "");
    const std::vector<double> out = elementsOf(run.outputs[0]);
    std::vector<std::int64_t> ends = run.trace->copies().end;
    for (std::size_t row = 0; row < 12; ++row) {
        const std::size_t block = row / 2;
        EXPECT_EQ(out[row * 128], static_cast<double>(block / 3 * 100 + block % 3 * 10 + row % 2));
        if (row >= 2) { // a block begins when both cores are done with the block before
            EXPECT_GE(run.trace->copies().issue[row], ends[row / 2 * 2 - 1]);
        }
    }
}

TEST(ManualDma, aGridHasNamesOfItsOwn)
{
    const auto refusal = [](std::vector<ir::MeshAxis> grid) {
        const Result<ir::Program> program =
            pl::kernel("blocks", {pl::in("x", kF32, {8, 128})}, [&](pl::Ref) {
                pl::coreMap(ir::CoreMapParams{"core", 2, std::move(grid)}, [] {});
            });
        return program ? std::string() : program.error().message;
    };
    EXPECT_EQ(refusal({{"i", 3}, {"j", 4}}), "");
    EXPECT_NE(refusal({{"i", 3}, {"i", 4}}).find("use another name"), std::string::npos);
    EXPECT_NE(refusal({{"core", 3}}).find("use another name"), std::string::npos);
    EXPECT_NE(refusal({{"i", 0}}).find("a size of at least 1"), std::string::npos);
    EXPECT_NE(refusal({{"i", 1 << 20}, {"j", 2}}).find("at most 1048576"), std::string::npos);
}

TEST(ManualDma, asManyCoresAsTheChipHas)
{
    const ir::Program program =
        manualDma(8, {}, [](pl::Ref, pl::Ref, const Refs&) { pl::coreMap("core", 2, [] {}); });
    const Result<machine::RunResult> run = machine::run(
        program, {Array{kF32, {8, 128}, nullptr}}, v5e(), {.values = machine::ValueMode::Needed});
    ASSERT_FALSE(run);
    EXPECT_NE(run.error().message.find("asks for 2 cores; the chip TPU v5e has 1"),
              std::string::npos)
        << run.error().message;
}

// The two cores of a pipeline with a core axis share its steps, as by JAX's _partition_grid.
TEST(ManualDma, aPipelineSharesOneParallelAxisBetweenTheCores)
{
    struct Case
    {
        std::vector<Extent> grid;
        std::vector<std::int32_t> parallel;
        std::vector<std::vector<Extent>> parts; // the part of the grid that each core runs
        std::vector<std::int64_t> firsts;       // each core's first step along i and j
    };

    const Case cases[] = {{{7, 1}, {0}, {{4, 1}, {3, 1}}, {0, 0, 4, 0}},
                          {{3, 4}, {0, 1}, {{3, 2}, {3, 2}}, {0, 0, 0, 2}},
                          {{3, 5}, {0, 1}, {{3, 3}, {3, 2}}, {0, 0, 0, 3}},
                          {{3, 4}, {0}, {{2, 4}, {1, 4}}, {0, 0, 2, 0}},
                          // Of two equal axes, the first is split.
                          {{3, 3}, {0, 1}, {{2, 3}, {1, 3}}, {0, 0, 2, 0}},
                          {{4, 4}, {0, 1}, {{2, 4}, {2, 4}}, {0, 0, 2, 0}}};
    for (const Case& one : cases) {
        const Shape shape{one.grid[0] * 8, one.grid[1] * 128};
        const ir::Program program = mustTrace(pl::kernel(
            "shared", {pl::in("x", kF32, shape), pl::out("out", kF32, shape)},
            [&](pl::Ref x, pl::Ref out) {
                pl::coreMap("core", 2, [&] {
                    const auto block =
                        pl::block({8, 128}, [](auto i, auto j) { return pl::at(i, j); });
                    pl::emitPipeline({.grid = one.grid,
                                      .in = {block},
                                      .out = {block},
                                      .coreAxis = "core",
                                      .parallel = one.parallel},
                                     [](pl::Ref a, pl::Ref b) {
                                         b[pl::all] = a[pl::all]
                                                      + pl::convert(pl::programId(0) * 100
                                                                        + pl::programId(1),
                                                                    DType::F32);
                                     })(x, out);
                });
            }));
        const machine::RunResult run = onZeros(program, v5p());
        EXPECT_EQ(findingsText(run), "");
        const std::vector<double> got = elementsOf(run.outputs[0]);
        for (Extent i = 0; i < one.grid[0]; ++i) {
            for (Extent j = 0; j < one.grid[1]; ++j) {
                const auto at = static_cast<std::size_t>(i * 8 * shape[1] + j * 128);
                ASSERT_EQ(got[at], static_cast<double>(i * 100 + j));
            }
        }
        const trace::Info& info = run.trace->info();
        ASSERT_EQ(info.pipelines.size(), 2U);
        for (std::size_t core = 0; core < 2; ++core) {
            EXPECT_EQ(info.pipelines[core].grid, one.parts[core]);
            EXPECT_EQ(info.pipelines[core].agent, static_cast<std::int32_t>(core));
        }
    }
}

// For each step of the outer pipeline, an inner pipeline runs over the outer block in VMEM scratch.
TEST(ManualDma, aPipelineRunsInsideTheBodyOfAnother)
{
    const Shape shape{32, 256};
    const ir::Program program = mustTrace(pl::kernel(
        "nested", {pl::in("x", kF32, shape), pl::out("out", kF32, shape)},
        [&](pl::Ref x, pl::Ref out) {
            const auto rows = [](ir::MemorySpace space) {
                pl::BlockSpec spec = pl::block({16, 256}, [](auto i) { return pl::at(i, 0); });
                spec.space = space;
                return spec;
            };
            const auto inner = pl::block({8, 128}, [](auto i, auto j) { return pl::at(i, j); });
            pl::emitPipeline({.grid = {2},
                              .in = {rows(ir::MemorySpace::Hbm)},
                              .out = {rows(ir::MemorySpace::Hbm)}},
                             [&](pl::Ref a, pl::Ref b) {
                                 pl::emitPipeline({.grid = {2, 2}, .in = {inner}, .out = {inner}},
                                                  [](pl::Ref c, pl::Ref d) {
                                                      d[pl::all] =
                                                          c[pl::all]
                                                          + pl::convert(pl::programId(1), kF32);
                                                  })(a, b);
                             })(x, out);
        }));
    const machine::RunResult run = onZeros(program);
    EXPECT_EQ(findingsText(run), "");
    const std::vector<double> got = elementsOf(run.outputs[0]);
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i], i % 256 < 128 ? 0 : 1) << i;
    }
    const trace::Steps& steps = run.trace->steps();
    ASSERT_EQ(steps.size(), 2U + 2 * 4U);
    EXPECT_LE(steps.begin[0], steps.begin[1]);
    EXPECT_LE(steps.end[4], steps.end[0]); // four steps inside of the first outer step
    EXPECT_EQ(onZeros(program, v5e(), machine::ValueMode::Needed).trace->steps(), steps);
}

// A trace with manual DMA, semaphores and two cores reads back unchanged.
TEST(ManualDma, itsTraceReadsBack)
{
    const ir::Program program = manualDma(8, {}, [](pl::Ref x, pl::Ref out, const Refs&) {
        pl::coreMap("core", 2, [&] {
            pl::runScoped({pl::dmaSemaphores("sem"), pl::semaphores("turn")},
                          [&](const Refs& refs) {
                              const pl::Value core = pl::axisIndex("core");
                              pl::when(core == 1, [&] { pl::semaphoreWait(refs[1], 1); });
                              const pl::Ref mine = out.at({pl::ds(core * 4, 4), pl::all});
                              pl::dmaStart(x.at({pl::ds(core * 4, 4), pl::all}), mine, refs[0]);
                              pl::dmaWait(mine, refs[0]);
                              pl::when(core == 0, [&] { pl::semaphoreSignal(refs[1], 1, 1); });
                              return Nothing{};
                          });
        });
    });
    const machine::RunResult run = onZeros(program, v5p());
    EXPECT_EQ(findingsText(run), "");
    EXPECT_GT(run.trace->signals().size(), 0U);
    const std::string path = testing::TempDir() + "/manual_dma.trace.json.gz";
    ASSERT_TRUE(trace_file::save(*run.trace, path, {}));
    const Result<std::shared_ptr<const trace::Trace>> back = trace_file::load(path);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_TRUE(**back == *run.trace);
}

} // namespace pallascope::machine_test
