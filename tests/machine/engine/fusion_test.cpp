// The times of kernels and fusions, and what a trace shows of them.
#include "tests/chip/edited_chip.h"
#include "tests/ir/wholes.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::machine_test {

namespace {

using ir_test::fusion;
using trace::SegmentKind;

constexpr std::int64_t kKernelLaunch = 3'000'000, kFusionLaunch = 1'250'000; // ps
const Shape kFusedShape{1024, 1024}; // 1024 registers, 4 MiB

chip::Chip launching(chip::Figures figures = {})
{
    figures.emplace_back("/constants/kernel_launch_s", 3e-6);
    figures.emplace_back("/constants/fusion_launch_s", 1.25e-6);
    return chip::edited(figures);
}

// The time of a copy over the link to HBM, which achieves 0.8 of 819e9 bytes per second.
std::int64_t copyTime(std::int64_t bytes)
{
    const __int128 rate = 655'200'000'000;
    return static_cast<std::int64_t>((static_cast<__int128>(bytes) * 1'000'000'000'000 + rate - 1)
                                     / rate);
}

std::int64_t cycleTime(std::int64_t cycles)
{
    return (cycles * 2000 + 2) / 3; // at 1.5 GHz, rounded up to a picosecond
}

constexpr std::int64_t kArray = std::int64_t{4} << 20; // bytes

// out = exp(exp(... x + y)) with this many exponentials.
ir::Program fused(int exponentials, bool launches = true)
{
    return mustTrace(pl::kernel("fused",
                                {pl::in("x", kF32, kFusedShape), pl::in("y", kF32, kFusedShape),
                                 pl::out("out", kF32, kFusedShape)},
                                [&](pl::Ref x, pl::Ref y, pl::Ref out) {
                                    fusion({"fused", launches}, [&] {
                                        pl::Value value = x[pl::all] + y[pl::all];
                                        for (int i = 0; i < exponentials; ++i) {
                                            value = pl::exp(value);
                                        }
                                        out[pl::all] = value;
                                    });
                                }));
}

// Inputs are only shapes, because no time depends on the elements.
machine::RunResult timed(const ir::Program& program, const chip::Chip& chip = launching())
{
    std::vector<Array> inputs;
    for (const ir::Argument& argument : program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            const ir::Type& type = program.type(argument.ref);
            inputs.push_back({type.dtype, type.shape, nullptr});
        }
    }
    return mustRun(program, inputs, machine::ValueMode::Needed, chip);
}

std::int64_t endOf(const ir::Program& program, const chip::Chip& chip = launching())
{
    return timed(program, chip).trace->end().value();
}

// "launch fusion body ..." in the order in which the segments run.
std::string kindsOf(const trace::Trace& trace)
{
    const char* const names[] = {"body", "overhead", "launch", "fusion"};
    std::string text;
    for (const std::int32_t id : trace.segments().templateId) {
        const SegmentKind kind = trace.info().templates[static_cast<std::size_t>(id)].kind;
        text += (text.empty() ? "" : " ") + std::string(names[static_cast<std::size_t>(kind)]);
    }
    return text;
}

const trace::SegmentTemplate& segmentOf(const trace::Trace& trace, SegmentKind kind)
{
    for (const trace::SegmentTemplate& segment : trace.info().templates) {
        if (segment.kind == kind) {
            return segment;
        }
    }
    throw std::logic_error("no segment of this kind");
}

void add(const pl::Ref& x, const pl::Ref& out)
{
    pl::emitPipeline({.in = {pl::wholeArray()}, .out = {pl::wholeArray()}},
                     [](pl::Ref a, pl::Ref b) { b[pl::all] = a[pl::all] + 1.0; })(x, out);
}

// Runs `body` on x and out, f32[8,128] in HBM.
ir::Program small(const std::function<void(pl::Ref x, pl::Ref out)>& body)
{
    return mustTrace(pl::kernel("small",
                                {pl::in("x", kF32, {8, 128}), pl::out("out", kF32, {8, 128})},
                                [&](pl::Ref x, pl::Ref out) { body(x, out); }));
}

} // namespace

TEST(Fusions, ofMuchMemoryLastAsLongAsTheirCopies)
{
    const machine::RunResult run = timed(fused(0));
    const trace::Trace& trace = *run.trace;
    const std::int64_t each = copyTime(kArray);
    EXPECT_EQ(kindsOf(trace), "launch fusion");
    EXPECT_EQ(trace.segments().begin, (std::vector<std::int64_t>{0, kFusionLaunch}));
    // 2048 loads over 3 slots, 1024 stores: far less than the copies.
    EXPECT_EQ(segmentOf(trace, SegmentKind::Fusion).cycles, Cycles(1024));
    EXPECT_EQ(trace.end().value(), kFusionLaunch + 3 * each);
    // The two inputs are read one after the other, then the result is written.
    EXPECT_EQ(trace.copies().start, (std::vector<std::int64_t>{kFusionLaunch, kFusionLaunch + each,
                                                               kFusionLaunch + 2 * each}));
    EXPECT_EQ(trace.copies().out, (std::vector<std::uint8_t>{0, 0, 1}));
    EXPECT_EQ(trace.copies().bytes, (std::vector<std::int64_t>{kArray, kArray, kArray}));
    EXPECT_EQ(trace.copies().step, (std::vector<std::int32_t>{-1, -1, -1}));
    // The copies take longer than the operations, and the difference is a wait for the last copy.
    ASSERT_EQ(trace.waits().size(), 1U);
    EXPECT_EQ(trace.waits().copy[0], 2);
    EXPECT_EQ(trace.waits().begin[0], kFusionLaunch + cycleTime(1024));
    EXPECT_EQ(trace.waits().end[0], trace.end().value());
}

TEST(Fusions, ofMuchWorkLastAsLongAsTheirOperations)
{
    const machine::RunResult run = timed(fused(20));
    const trace::Trace& trace = *run.trace;
    const std::int64_t work = cycleTime(20 * 2048); // longer than all three copies together
    ASSERT_GT(work, 3 * copyTime(kArray));
    EXPECT_EQ(segmentOf(trace, SegmentKind::Fusion).cycles, Cycles(20 * 2048));
    EXPECT_EQ(trace.end().value(), kFusionLaunch + work);
    // The result is written while it is computed; its copy ends together with the computation.
    EXPECT_EQ(trace.copies().start[2], kFusionLaunch + work - copyTime(kArray));
    EXPECT_EQ(trace.copies().end[2], kFusionLaunch + work);
    EXPECT_EQ(trace.waits().size(), 0U);
}

TEST(Fusions, lastLongerThanTheirReadsAndTheirWorkWhereTheyWriteBehindThem)
{
    // More work than the reads take, less than reads and writes together.
    const ir::Program program = fused(9);
    const std::int64_t work = cycleTime(9 * 2048);
    ASSERT_GT(work, copyTime(kArray));
    ASSERT_LT(work, 2 * copyTime(kArray));
    EXPECT_EQ(endOf(program), kFusionLaunch + 3 * copyTime(kArray));
}

// Two results, the longer one first. Each write begins so that the rest of both ends with the
// computation.
TEST(Fusions, writeSeveralResultsOneAfterTheOther)
{
    const ir::Program program =
        mustTrace(pl::kernel("two",
                             {pl::in("x", kF32, kFusedShape), pl::out("a", kF32, kFusedShape),
                              pl::out("b", DType::BF16, kFusedShape)},
                             [](pl::Ref x, pl::Ref a, pl::Ref b) {
                                 fusion({"two"}, [&] {
                                     pl::Value value = x[pl::all].load();
                                     for (int i = 0; i < 30; ++i) {
                                         value = pl::exp(value);
                                     }
                                     a[pl::all] = value;
                                     b[pl::all] = pl::convert(value, DType::BF16);
                                 });
                             }));
    const machine::RunResult run = timed(program);
    const trace::Copies& copies = run.trace->copies();
    const std::int64_t end = kFusionLaunch + cycleTime(30 * 2048);
    EXPECT_EQ(run.trace->end().value(), end);
    EXPECT_EQ(copies.bytes, (std::vector<std::int64_t>{kArray, kArray, kArray / 2}));
    EXPECT_EQ(copies.start[1], end - copyTime(kArray / 2) - copyTime(kArray));
    EXPECT_EQ(copies.end[1], end - copyTime(kArray / 2));
    EXPECT_EQ(copies.end[2], end);
}

// What they are parts of, such as a collective, is launched once if the program launches nothing
// else.
TEST(Fusions, thatArePartsOfOthersAreNotLaunched)
{
    const machine::RunResult alone = timed(fused(0, false));
    EXPECT_EQ(kindsOf(*alone.trace), "launch fusion");
    EXPECT_EQ(alone.trace->end().value(), kKernelLaunch + 3 * copyTime(kArray));
    const machine::RunResult beside = timed(small([](pl::Ref x, pl::Ref out) {
        fusion({"whole"}, [&] { out[pl::all] = x[pl::all]; });
        fusion({"part", false}, [&] { out[pl::all] = x[pl::all]; });
    }));
    EXPECT_EQ(kindsOf(*beside.trace), "launch fusion fusion");
    EXPECT_EQ(beside.trace->end().value(), kFusionLaunch + 4 * copyTime(4096));
}

TEST(Fusions, haveNoLaunchOnAChipThatTakesNoTimeForOne)
{
    const machine::RunResult run = timed(fused(0), v5e());
    EXPECT_EQ(kindsOf(*run.trace), "fusion");
    EXPECT_EQ(run.trace->end().value(), 3 * copyTime(kArray));
}

TEST(Fusions, areSharedByTheCoresOfADevice)
{
    const chip::Chip two = launching({{"/agents/0/count", 2}});
    const machine::RunResult run = timed(fused(40), two);
    const trace::SegmentTemplate& segment = segmentOf(*run.trace, SegmentKind::Fusion);
    EXPECT_EQ(segment.cycles, Cycles(20 * 2048));
    EXPECT_EQ(run.trace->end().value(), kFusionLaunch + cycleTime(20 * 2048));
    EXPECT_EQ(segment.transcendentals, 40 * 1024 * 1024); // of both together
    EXPECT_EQ(segment.flops(), Flops(1024 * 1024));
    // A kernel runs on one core unless it says otherwise.
    const ir::Program program =
        small([](pl::Ref x, pl::Ref out) { ir_test::kernel("one", [&] { add(x, out); }); });
    EXPECT_EQ(endOf(program, two), endOf(program));
}

TEST(Fusions, copyWholeTiles)
{
    const Shape shape{10, 100};
    const ir::Program program = mustTrace(
        pl::kernel("odd", {pl::in("x", DType::BF16, shape), pl::out("out", kF32, {20, 100})},
                   [](pl::Ref x, pl::Ref out) {
                       fusion({"odd"}, [&] {
                           const pl::Value wide = pl::convert(x[pl::all], kF32);
                           out[{pl::ds(10, 10), pl::all}] = wide;
                       });
                   }));
    const machine::RunResult run = timed(program);
    const trace::Copies& copies = run.trace->copies();
    EXPECT_EQ(copies.bytes, (std::vector<std::int64_t>{16 * 128 * 2, 16 * 128 * 4}));
    EXPECT_EQ(copies.block, (std::vector<std::int64_t>{0, 1})); // rows 10 to 19
    const auto& operands = run.trace->info().operands;
    ASSERT_EQ(operands.size(), 2U);
    EXPECT_EQ(copies.operand, (std::vector<std::int32_t>{0, 1}));
    EXPECT_EQ(operands[0].name, "x");
    EXPECT_EQ(operands[0].direction, trace::Direction::In);
    EXPECT_EQ(operands[0].array, shape);
    EXPECT_EQ(operands[0].block, shape);
    EXPECT_EQ(operands[1].name, "out");
    EXPECT_EQ(operands[1].direction, trace::Direction::Out);
    EXPECT_EQ(operands[1].array, (Shape{20, 100}));
    EXPECT_EQ(operands[1].block, shape);
    EXPECT_EQ(operands[1].blockCounts, (std::vector<Extent>{2, 1}));
    for (const trace::Operand& operand : operands) {
        EXPECT_EQ(operand.pipeline, -1);
        EXPECT_EQ(operand.slots, 0);
    }
}

// Each round reads again, but nothing is launched again.
TEST(Fusions, readInEachRoundOfTheirLoops)
{
    const machine::RunResult run = timed(small([](pl::Ref x, pl::Ref out) {
        fusion({"loop"}, [&] {
            pl::foriLoop(3, {}, [&](pl::Value, const auto&) {
                out[pl::all] = pl::exp(x[pl::all]);
                return std::vector<pl::Value>{};
            });
        });
    }));
    EXPECT_EQ(kindsOf(*run.trace), "launch fusion fusion fusion");
    EXPECT_EQ(run.trace->copies().size(), 6U);
    EXPECT_EQ(run.trace->end().value(), kFusionLaunch + 6 * copyTime(4096));
}

TEST(Fusions, takeTheSameTimeWithAndWithoutValues)
{
    const ir::Program program = fused(3);
    const machine::RunResult needed = timed(program);
    const machine::RunResult full =
        mustRun(program, {counting(kF32, kFusedShape), counting(kF32, kFusedShape)},
                machine::ValueMode::Full, launching());
    EXPECT_TRUE(full.trace->segments() == needed.trace->segments());
    EXPECT_TRUE(full.trace->copies() == needed.trace->copies());
    EXPECT_EQ(full.trace->end(), needed.trace->end());
    EXPECT_EQ(full.trace->info().events, needed.trace->info().events);
}

// In both value modes, values that decide about later operations are computed.
TEST(Fusions, yieldNumbersThatAreNeeded)
{
    const ir::Program program = small([](pl::Ref x, pl::Ref out) {
        const pl::Value most = fusion({"most"}, [&] {
            return std::vector{pl::reduce(ir::OpCode::ReduceMax, x[pl::all], {0, 1})};
        })[0];
        pl::when(most > 1000.0, [&] { ir_test::kernel("large", [&] { add(x, out); }); });
        pl::when(most > 2000.0, [&] { ir_test::kernel("larger", [&] { add(x, out); }); });
    });
    const std::vector<Array> inputs{counting(kF32, {8, 128})}; // at most 1023
    for (const auto mode : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
        const machine::RunResult run = mustRun(program, inputs, mode, launching());
        EXPECT_EQ(kindsOf(*run.trace), "launch fusion body launch body overhead body");
    }
}

TEST(Launches, areOfEachKernelAndFusion)
{
    const auto run = [](const std::function<void(pl::Ref x, pl::Ref out)>& body) {
        return timed(small(body));
    };
    const auto bare = [](pl::Ref x, pl::Ref out) { add(x, out); };
    const std::int64_t alone = endOf(small(bare), v5e());
    const machine::RunResult two = run([&](pl::Ref x, pl::Ref out) {
        ir_test::kernel("one", [&] { bare(x, out); });
        ir_test::kernel("two", [&] { bare(x, out); });
    });
    EXPECT_EQ(kindsOf(*two.trace), "launch body overhead launch body overhead");
    EXPECT_EQ(two.trace->end().value(), 2 * (kKernelLaunch + alone));
    EXPECT_EQ(two.trace->segments().begin[3], kKernelLaunch + alone);
    const machine::RunResult mixed = run([&](pl::Ref x, pl::Ref out) {
        ir_test::kernel("one", [&] { bare(x, out); });
        fusion({"two"}, [&] { out[pl::all] = x[pl::all]; });
        fusion({"three", false}, [&] { out[pl::all] = x[pl::all]; });
    });
    EXPECT_EQ(kindsOf(*mixed.trace), "launch body overhead launch fusion fusion");
    EXPECT_EQ(mixed.trace->end().value(),
              kKernelLaunch + alone + kFusionLaunch + 4 * copyTime(4096));
}

TEST(Launches, areOneWhereAProgramNamesNoKernel)
{
    const ir::Program program = small([](pl::Ref x, pl::Ref out) {
        add(x, out);
        add(x, out);
    });
    const machine::RunResult run = timed(program);
    EXPECT_EQ(kindsOf(*run.trace), "launch body overhead body overhead");
    EXPECT_EQ(run.trace->end().value(), kKernelLaunch + endOf(program, v5e()));
}

TEST(Launches, areAsLongAsTheChipSays)
{
    const machine::RunResult run = timed(small(add));
    const trace::SegmentTemplate& launch = segmentOf(*run.trace, SegmentKind::Launch);
    EXPECT_EQ(launch.duration, Picoseconds(kKernelLaunch));
    EXPECT_EQ(launch.cycles, Cycles(4500)); // at 1.5 GHz
    EXPECT_TRUE(launch.operations.empty());
    EXPECT_EQ(launch.flops(), Flops(0));
}

// Also in each round of the code around it.
TEST(Launches, areOfEachTimeThatAKernelRuns)
{
    const machine::RunResult run = timed(small([](pl::Ref x, pl::Ref out) {
        pl::foriLoop(3, {}, [&](pl::Value, const auto&) {
            ir_test::kernel("again", [&] { add(x, out); });
            return std::vector<pl::Value>{};
        });
    }));
    EXPECT_EQ(kindsOf(*run.trace),
              "launch body overhead launch body overhead launch body overhead");
}

// The base time, and a fixed time more for each operand whose blocks are copied.
TEST(StepOverheads, areLongerWithEveryOperandThatIsCopied)
{
    const auto overhead = [](std::size_t inputs, std::optional<ir::MemorySpace> space,
                             const chip::Chip& chip) {
        std::vector<pl::detail::ArgumentSpec> arguments;
        for (std::size_t i = 0; i < inputs; ++i) {
            arguments.push_back(pl::in("x" + std::to_string(i), kF32, {16, 128}));
        }
        arguments.push_back(pl::out("out", kF32, {16, 128}));
        const auto body = [&](const std::vector<pl::Ref>& refs) {
            pl::Grid grid{.grid = {2}};
            grid.in.assign(inputs, pl::block({8, 128}, kRow));
            grid.out.push_back(pl::block({8, 128}, kRow));
            if (space) { // the first operand stays where it is, whole
                grid.in[0] = pl::wholeArray();
                grid.in[0].space = space;
            }
            pl::detail::pipeline(
                grid, ir::PipelineOrigin::EmitPipeline,
                [](const std::vector<pl::Ref>& blocks) {
                    blocks.back()[pl::all] = 1.0;
                    return true;
                },
                refs);
            return true;
        };
        const ir::Program program = mustTrace(
            pl::detail::traceKernel("steps", arguments, body, std::source_location::current()));
        const machine::RunResult run = timed(program, chip);
        return segmentOf(*run.trace, SegmentKind::StepOverhead).duration.value();
    };
    const chip::Chip chip = chip::edited({{"/constants/step_operand_s", 12e-9}});
    EXPECT_EQ(overhead(1, {}, chip), 330'000 + 2 * 12'000);
    EXPECT_EQ(overhead(3, {}, chip), 330'000 + 4 * 12'000);
    EXPECT_EQ(overhead(3, ir::MemorySpace::Any, chip), 330'000 + 3 * 12'000);
    EXPECT_EQ(overhead(3, {}, v5e()), 330'000);
}

} // namespace pallascope::machine_test
