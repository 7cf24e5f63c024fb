// Where the time beyond the roofline goes. The terms must sum to the run, and in runs that lose
// mostly by one term, it must be what arithmetic by hand gives.
#include "core/analysis/losses.h"
#include "core/ir/builder.h"
#include "tests/analysis/runs.h"
#include "tests/ir/kernels.h"

#include <gtest/gtest.h>

namespace pallascope::analysis_test {

namespace {

using analysis::Loss;
using analysis::LossKind;
using analysis::Report;

Picoseconds timeOf(const Report& report, LossKind kind, const std::string& of = "")
{
    Picoseconds sum;
    for (const Loss& loss : report.losses.beyond) {
        sum += loss.kind == kind && (of.empty() || loss.of == of) ? loss.time : Picoseconds(0);
    }
    return sum;
}

Picoseconds gainOf(const Report& report, LossKind kind)
{
    for (const Loss& loss : report.losses.beyond) {
        if (loss.kind == kind) {
            return loss.gain;
        }
    }
    return Picoseconds(0);
}

void expectSum(const Report& report)
{
    EXPECT_GE(report.losses.roofline, Picoseconds(0));
    for (const Loss& loss : report.losses.beyond) {
        EXPECT_GT(loss.time, Picoseconds(0)) << analysis::lossText(loss, report);
        EXPECT_GE(loss.gain, Picoseconds(0)) << analysis::lossText(loss, report);
        EXPECT_LT(loss.gain, report.time) << analysis::lossText(loss, report);
    }
    EXPECT_EQ(report.losses.total(), report.time);
}

Report reportOf(const trace::Trace& trace)
{
    return analysis::report(trace).value();
}

Report matmul(const std::string& size, const std::string& bm, const std::string& bn,
              const std::string& bk, const std::string& chip)
{
    const std::map<std::string, std::string> given{{"m", size}, {"n", size}, {"k", size},
                                                   {"bm", bm},  {"bn", bn},  {"bk", bk}};
    return reportOf(*runOf("matmul", given, chip));
}

constexpr double kFlops = 2.0 * 4096 * 4096 * 4096;

} // namespace

// What arrives late counts as copies, however long the warpgroup that makes them waits for slots.
TEST(Losses, ofTooFewSlotsAreCopies)
{
    const auto withStages = [](const std::string& stages) {
        return reportOf(*runOf(
            "hopper_matmul",
            {{"m", "2048"}, {"n", "2048"}, {"k", "1024"}, {"stages", stages}, {"cluster", "none"}},
            "h100_sxm"));
    };
    const Report one = withStages("1"), three = withStages("3");
    expectSum(one);
    expectSum(three);
    const double saved = microseconds(one.time - three.time);
    const double copies = microseconds(timeOf(one, LossKind::Copies));
    EXPECT_GT(copies, 0.8 * saved);
    EXPECT_GT(copies, microseconds(timeOf(one, LossKind::Waits)));
    EXPECT_NE(analysis::advice(one).find("more slots of SMEM"), std::string::npos);
}

// One tile more than the SMs do at a time: all but one wait for it.
TEST(Losses, ofALastWaveAreIdleSms)
{
    const auto withRows = [](const std::string& m) {
        return reportOf(*runOf(
            "hopper_matmul",
            {{"m", m}, {"n", "1536"}, {"k", "1024"}, {"persistent", "0"}, {"cluster", "none"}},
            "h100_sxm"));
    };
    const Report full = withRows("2816"); // 22 * 6 tiles
    const Report more = withRows("2944");
    expectSum(more);
    const double longer = microseconds(more.time - full.time);
    EXPECT_GT(longer, 1);
    EXPECT_NEAR(microseconds(timeOf(more, LossKind::IdleCores) - timeOf(full, LossKind::IdleCores)
                             + timeOf(more, LossKind::BlockStarts)),
                longer, 0.35 * longer);
}

// Each warpgroup waits for its own products, which are no work of its own, and the one that only
// copies for the others.
TEST(Losses, ofAGpuAreNotItsWaitsForProducts)
{
    const Report report = reportOf(
        *runOf("hopper_matmul", {{"m", "2048"}, {"n", "2048"}, {"k", "2048"}}, "h100_sxm"));
    const analysis::TimeSplit& split = report.split;
    EXPECT_EQ(split.total(), report.time);
    EXPECT_GT(ratio(split.products, report.time), 0.3);
    EXPECT_GT(ratio(split.otherAgents, report.time), 0.1);
    EXPECT_LT(ratio(split.compute, report.time), 0.1);
    EXPECT_EQ(matmul("1024", "256", "256", "256", "tpu_v5e").split.products, Picoseconds(0));
}

// Several blocks of an SM share its units, whose work is what bounds the run: not starting blocks,
// nor waits at barriers that they do not have.
TEST(Losses, ofAnSmsBusiestUnitAreItsWork)
{
    const auto kernel = [](pl::Ref x, pl::Ref y) {
        pl::gpu::launch({{{"block", 2048}}}, [&] {
            pl::Value value = x.at({pl::axisIndex("block"), pl::all})[pl::all] + 0.0;
            for (int round = 0; round < 128; ++round) {
                value = pl::select(value > 0.5, value * 0.25, value + 1);
            }
            y.at({pl::axisIndex("block"), pl::all})[pl::all] = value;
        });
    };
    const Result<ir::Program> program = pl::kernel(
        "selects", {pl::in("x", DType::F32, {2048, 1024}), pl::out("y", DType::F32, {2048, 1024})},
        kernel);
    ASSERT_TRUE(program) << program.error().message;
    const Report report = reportOf(*runOf(*program, "h100_sxm"));
    expectSum(report);
    ASSERT_EQ(toString(report.boundBy), "compute(issue)");
    EXPECT_GT(ratio(timeOf(report, LossKind::Units), report.time), 0.3);
    EXPECT_LT(
        ratio(timeOf(report, LossKind::Waits) + timeOf(report, LossKind::BlockStarts), report.time),
        0.05);
}

// A quarter of the SMs do all the work: three quarters of its time are theirs that have none.
TEST(Losses, ofFewBlocksAreIdleSmsWhateverBoundsThem)
{
    const Report few = reportOf(*runOf(
        "hopper_matmul",
        {{"m", "384"}, {"n", "2816"}, {"k", "2048"}, {"persistent", "0"}, {"cluster", "none"}},
        "h100_sxm")); // 33 tiles
    expectSum(few);
    const Picoseconds inKernel = few.time - few.split.launches;
    EXPECT_GT(ratio(timeOf(few, LossKind::IdleCores), inKernel), 0.4);
}

TEST(Losses, sumToTheRun)
{
    for (const NamedRun& run : machineRuns()) {
        SCOPED_TRACE(run.name);
        expectSum(reportOf(*run.trace));
    }
    expectSum(reportOf(*mainJob()));
    expectSum(reportOf(*twoCores()));
    expectSum(reportOf(*counting()));
}

TEST(Losses, ofAKernelBoundByMemoryAreItsCopies)
{
    // With 512-blocks, x and y move 8 times each. The products alone would take 697.7 us, moving
    // all bytes once 163.9 us, all copies at 819 GB/s 737.5 us, and all copies at 80 % of that rate
    // 921.8 us.
    const Report report = matmul("4096", "512", "512", "512", "tpu_v5e");
    expectSum(report);
    EXPECT_NEAR(microseconds(report.losses.roofline), kFlops / 197e6, 0.1);
    EXPECT_EQ(timeOf(report, LossKind::Padding), Picoseconds(0));
    EXPECT_NEAR(microseconds(timeOf(report, LossKind::LinkRate, "HBM")), 921.8 - 737.5, 1);
    EXPECT_GT(timeOf(report, LossKind::Refetch), Picoseconds(0));
    EXPECT_EQ(timeOf(report, LossKind::StepOverhead), Picoseconds(0)) << "behind copies";
}

// Rows of 64 elements fill half of the lanes of their tiles in HBM, so half of each copy is
// padding.
TEST(Losses, ofNarrowRowsAreThePaddingThatIsCopied)
{
    const Shape narrow{32768, 64};
    const auto rows = [](auto i) { return pl::at(i, 0); };
    const ir::Program program =
        pl::kernel("narrow", {pl::in("x", DType::F32, narrow), pl::out("out", DType::F32, narrow)},
                   [&](pl::Ref x, pl::Ref out) {
                       pl::emitPipeline({.grid = {16},
                                         .in = {pl::block({2048, 64}, rows)},
                                         .out = {pl::block({2048, 64}, rows)}},
                                        [](pl::Ref in, pl::Ref held) {
                                            held[pl::all] = in[pl::all] * 2.0;
                                        })(x, out);
                   })
            .value();
    const Report report = reportOf(*runOf(program, "tpu_v5e"));
    expectSum(report);
    const double once = 2.0 * 32768 * 64 * 4;
    EXPECT_EQ(report.hbmRead + report.hbmWritten, Bytes(static_cast<std::int64_t>(2 * once)));
    EXPECT_NEAR(microseconds(report.losses.roofline), once / 819e3, 0.01);
    EXPECT_NEAR(microseconds(timeOf(report, LossKind::PaddedCopies)), once / 819e3, 0.01);
    EXPECT_EQ(timeOf(report, LossKind::Refetch), Picoseconds(0));
    ASSERT_EQ(report.traffic.size(), 2U);
    EXPECT_DOUBLE_EQ(report.traffic[0].refetchFactor, 1);
    EXPECT_DOUBLE_EQ(report.traffic[0].paddingShare, 0.5);
}

namespace {

// Each of four devices copies its part of x into an array of each device that comes this many
// places after it: 0 is itself.
Report sending(const std::vector<std::int32_t>& distances, const Shape& part)
{
    const auto kernel = [&](pl::Ref x, pl::Ref) {
        pl::onMesh({{"d", 4}});
        const std::vector<pl::Scratch> scratch{
            {"sent", DType::F32, part, ir::MemorySpace::Hbm},
            pl::dmaSemaphores("begun"),
            pl::dmaSemaphores("landed"),
        };
        pl::runScoped(scratch, [&](const std::vector<pl::Ref>& refs) {
            for (const std::int32_t distance : distances) {
                pl::remoteDmaStart(x, refs[0], refs[1], refs[2],
                                   (pl::axisIndex("d") + distance) % 4);
                pl::dmaWait(x, refs[1]);
                pl::dmaWait(refs[0], refs[2]);
            }
            return std::vector<pl::Value>();
        });
    };
    const ir::Program program =
        pl::kernel("sending",
                   {pl::sharded(pl::in("x", DType::F32, part), {{"d"}, {}}),
                    pl::sharded(pl::out("out", DType::F32, part), {{"d"}, {}})},
                   kernel)
            .value();
    Report report = reportOf(*runOf(program, "tpu_v5e"));
    expectSum(report);
    return report;
}

Picoseconds busyOf(const Report& report, const std::string& name)
{
    return std::map(report.busy.begin(), report.busy.end()).at(name);
}

} // namespace

// HBM is not charged at either end of a link between devices.
TEST(Losses, ofCopiesBetweenDevicesAreNotThoseOfHbm)
{
    const Report report = sending({1}, {1024, 128});
    EXPECT_EQ(busyOf(report, "HBM"), Picoseconds(0));
    EXPECT_GT(report.hbmRead, Bytes(0)) << "it is read and written all the same";
    EXPECT_EQ(report.losses.roofline, Picoseconds(0));
    EXPECT_EQ(timeOf(report, LossKind::LinkRate), Picoseconds(0));
    EXPECT_EQ(timeOf(report, LossKind::OtherLinks, "ICI"), busyOf(report, "ICI"));
}

// One copy of each array stays on its device, the others leave it.
TEST(Losses, ofABroadcastAreOfHbmWhatItsOwnLinkMoves)
{
    const Report report = sending({0, 1, 3}, {1024, 128});
    const double once = 2.0 * 1024 * 128 * 4; // read and written
    EXPECT_NEAR(microseconds(report.losses.roofline), once / 819e3, 1e-3);
    EXPECT_NEAR(microseconds(busyOf(report, "HBM")), once / 819e3 / 0.8, 1e-3);
    EXPECT_EQ(timeOf(report, LossKind::Refetch), Picoseconds(0));
    EXPECT_EQ(report.losses.roofline + timeOf(report, LossKind::LinkRate, "HBM"),
              busyOf(report, "HBM"));
    EXPECT_GT(busyOf(report, "ICI"), busyOf(report, "HBM"));
    EXPECT_EQ(gainOf(report, LossKind::LinkRate), Picoseconds(0)) << "the other link is as busy";
}

TEST(Losses, ofNarrowRowsBetweenDevicesArePaddingOnTheirLink)
{
    const Report report = sending({1}, {1024, 64});
    const Picoseconds busy = busyOf(report, "ICI");
    EXPECT_NEAR(microseconds(timeOf(report, LossKind::PaddedCopies)), microseconds(busy) / 2, 1e-5);
    EXPECT_EQ(gainOf(report, LossKind::PaddedCopies), timeOf(report, LossKind::PaddedCopies));
    EXPECT_EQ(timeOf(report, LossKind::OtherLinks) + timeOf(report, LossKind::PaddedCopies), busy);
}

TEST(Losses, ofHalfFilledTilesAreAsLongAsTheProducts)
{
    // Blocks of 128 along k fill half of an MXU of 256 x 256.
    const Report report = matmul("4096", "1024", "1024", "128", "tpu_v6e");
    expectSum(report);
    EXPECT_NEAR(microseconds(timeOf(report, LossKind::Padding, "MXU")), kFlops / 918e6, 0.1);
    EXPECT_GT(gainOf(report, LossKind::Padding), Picoseconds(0));
    EXPECT_LT(gainOf(report, LossKind::Padding) * 5, timeOf(report, LossKind::Padding))
        << "loading, adding and storing the sums takes nearly as long";
    EXPECT_GT(timeOf(report, LossKind::StepOverhead), Picoseconds(0));
    EXPECT_NE(analysis::advice(report).find("step overhead"), std::string::npos);
}

TEST(Losses, ofACoreWithoutWorkAreHalfOfTheChip)
{
    const Report report = matmul("4096", "1024", "1024", "1024", "tpu_v5p");
    expectSum(report);
    // The other core would do half of all computing, not only of its products at the peak.
    EXPECT_NEAR(microseconds(timeOf(report, LossKind::IdleCores)),
                microseconds(report.split.compute) / 2, 0.1);
    EXPECT_GT(microseconds(timeOf(report, LossKind::IdleCores)), kFlops / 459e6);
}

// An H100 has 132 tensor cores, one for each SM, however many warpgroups share it.
TEST(Losses, ofAGpuAreThoseOfSmsWithoutBlocks)
{
    const auto product = [](const std::string& extent) {
        return reportOf(
            *runOf("hopper_matmul", {{"m", extent}, {"n", extent}, {"k", "1024"}}, "h100_sxm"));
    };
    const Report few = product("1024"); // 32 blocks
    expectSum(few);
    const double products = 2.0 * 1024 * 1024 * 1024 / 989.4e6 * (132.0 / 32 - 1);
    EXPECT_GT(microseconds(timeOf(few, LossKind::IdleCores)), products);
    EXPECT_LT(microseconds(timeOf(few, LossKind::IdleCores)), 1.2 * products);
    const Report persistent = product("4096");
    expectSum(persistent);
    EXPECT_LT(ratio(timeOf(persistent, LossKind::IdleCores), persistent.time), 0.1)
        << "only at the end";
}

// Each device copies its own part of the arrays once, at the rate of its own memory.
TEST(Losses, ofDevicesThatAllDoTheSameAreThoseOfOne)
{
    const auto copying = [](std::int32_t devices) {
        const auto kernel = [devices](pl::Ref xHbm, pl::Ref outHbm) {
            pl::onMesh({{"d", devices}});
            const auto rows = pl::block({256, 1024}, [](auto i) { return pl::at(i, 0); });
            pl::emitPipeline({.grid = {4}, .in = {rows}, .out = {rows}},
                             [](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all] * 2.0; })(
                xHbm, outHbm);
        };
        const ir::Program program =
            pl::kernel("copying",
                       {pl::sharded(pl::in("x", DType::F32, {1024, 1024}), {{"d"}, {}}),
                        pl::sharded(pl::out("out", DType::F32, {1024, 1024}), {{"d"}, {}})},
                       kernel)
                .value();
        return runOf(program, "tpu_v5e");
    };
    const auto one = copying(1), eight = copying(8);
    const Report alone = reportOf(*one), report = reportOf(*eight);
    expectSum(report);
    EXPECT_EQ(timeOf(report, LossKind::Refetch), Picoseconds(0));
    EXPECT_EQ(report.losses.roofline, alone.losses.roofline);
    EXPECT_EQ(analysis::advice(report), analysis::advice(alone));
    EXPECT_GT(alone.split.prologue, Picoseconds(0));
    EXPECT_EQ(report.split.prologue, alone.split.prologue);
    EXPECT_EQ(report.split.exposedCopies, alone.split.exposedCopies);
    const std::string text = analysis::toText(report, eight->info(), {});
    EXPECT_NE(text.find("x 32 MiB read in 32 copies (1× its array)"), std::string::npos) << text;
}

TEST(Losses, sayMasksApartFromOtherWorkOfTheirUnit)
{
    const auto masked = [](bool masks) {
        const auto kernel = [masks](const std::vector<pl::Ref>& refs) {
            pl::Value x = pl::dot(refs[0][pl::all], refs[0][pl::all], DType::F32);
            for (int round = 0; round < 32; ++round) {
                x = masks ? pl::select(x > 0.5, x, x * 0.25) : x * 0.25 + x;
            }
            refs[1][pl::all] = x;
        };
        const ir::Program program =
            ir_test::traced(
                {pl::in("x", DType::F32, {256, 256}), pl::out("y", DType::F32, {256, 256})}, kernel)
                .value();
        return reportOf(*runOf(program, "tpu_v5e"));
    };
    const Report with = masked(true), without = masked(false);
    expectSum(with);
    EXPECT_GT(timeOf(with, LossKind::Masks), Picoseconds(0));
    EXPECT_EQ(timeOf(without, LossKind::Masks), Picoseconds(0));
}

// Which block a step reads is decided by comparing and choosing numbers, which masks nothing.
TEST(Losses, doNotCallScalarWorkMasks)
{
    const auto kernel = [](const std::vector<pl::Ref>& refs) {
        pl::Value row = pl::programId(0);
        for (int round = 0; round < 64; ++round) {
            row = pl::select(row == 100 + round, row + 1, row);
        }
        refs[1][pl::all] = refs[0][pl::all] + pl::convert(row, DType::F32);
    };
    const ir::Program program =
        ir_test::traced({pl::in("x", DType::F32, {8, 128}), pl::out("y", DType::F32, {8, 128})},
                        kernel, {.grid = {2}})
            .value();
    const Report report = reportOf(*runOf(program, "tpu_v5e"));
    expectSum(report);
    EXPECT_EQ(timeOf(report, LossKind::Masks), Picoseconds(0));
}

TEST(Losses, nameHowManyOtherArraysAreCopiedAgain)
{
    const Report report = matmul("1024", "128", "128", "1024", "tpu_v5e");
    const auto named = [&](const std::string& of) {
        return timeOf(report, LossKind::Refetch, of) > Picoseconds(0);
    };
    EXPECT_TRUE(named("x and 1 other") || named("y and 1 other") || named("y"));
}

TEST(Losses, adviseNothingThatBringsNothing)
{
    Report report;
    report.time = Picoseconds(1'000'000);
    report.losses = {Picoseconds(400'000),
                     {{LossKind::LinkRate, "HBM", Picoseconds(591'000), Picoseconds(591'000)},
                      {LossKind::StepOverhead, "", Picoseconds(9'000), Picoseconds(9'000)}},
                     {}};
    EXPECT_EQ(analysis::advice(report), "") << "no schedule changes the memory's rate";
    report.losses.beyond[1].gain = Picoseconds(100'000);
    EXPECT_EQ(analysis::advice(report),
              "without step overhead it would take 0.90 µs, 10.0 % less: fewer and larger steps "
              "would save most of it, if they do no more work");
}

TEST(Losses, adviseLargerBlocksWhereOverheadAndCopiesHideEachOther)
{
    // Steps whose copies take as long as they do: leaving out one of the two brings nothing.
    const auto matmulOf = [](const std::string& block) {
        return reportOf(*runOf("matmul_scratch",
                               {{"m", "4096"},
                                {"n", "4096"},
                                {"k", "4096"},
                                {"bm", block},
                                {"bn", block},
                                {"bk", block}},
                               "tpu_v6e"));
    };
    const Report small = matmulOf("256");
    const Picoseconds most =
        std::max(gainOf(small, LossKind::StepOverhead), gainOf(small, LossKind::Refetch));
    ASSERT_GT(small.losses.gainOfLargerBlocks * 2, most * 3);
    EXPECT_TRUE(analysis::advice(small).starts_with("without step overhead and blocks of "))
        << analysis::advice(small);
    const Report large = matmulOf("1024");
    EXPECT_LT(large.time * 2, small.time * 2 - small.losses.gainOfLargerBlocks);
}

namespace {

// Products of blocks of x and y, which are others in each step or always the same two.
Report productsOf(bool others)
{
    const pl::Dims block{512, 512};
    const auto at = [&](auto row, auto column) {
        return others ? pl::at(row, column) : pl::at(0, 0);
    };
    const auto body = [](pl::Ref x, pl::Ref y, pl::Ref out) {
        out[pl::all] = pl::dot(x[pl::all], y[pl::all], DType::F32);
    };
    const Shape size{4096, 4096};
    const ir::Program program =
        pl::kernel(
            "products",
            {pl::in("x", DType::BF16, size), pl::in("y", DType::BF16, size),
             pl::out("out", DType::F32, size)},
            [&](pl::Ref x, pl::Ref y, pl::Ref out) {
                pl::pallasCall(
                    {.grid = {8, 8, 8},
                     .in = {pl::block(block, [&](auto i, auto, auto k) { return at(i, k); }),
                            pl::block(block, [&](auto, auto j, auto k) { return at(k, j); })},
                     .out = {pl::block(block, [](auto i, auto j, auto) { return pl::at(i, j); })}},
                    body)(x, y, out);
            })
            .value();
    return reportOf(*runOf(program, "tpu_v5e"));
}

} // namespace

// Without blocks that are copied again, no step waits for them either.
TEST(Losses, gainWhatRepeatedCopiesMakeStepsWait)
{
    const Report others = productsOf(true), same = productsOf(false);
    const double saved = microseconds(others.time - same.time);
    EXPECT_NEAR(microseconds(gainOf(others, LossKind::Refetch)), saved, 0.15 * saved);
}

// Cores that have work share the steps, too.
TEST(Losses, gainTheStepsThatIdleCoresWouldTake)
{
    const Report report = matmul("4096", "256", "1024", "1024", "tpu_v5p");
    const Picoseconds steps = timeOf(report, LossKind::StepOverhead);
    ASSERT_GT(steps, Picoseconds(0));
    EXPECT_NEAR(microseconds(gainOf(report, LossKind::IdleCores)),
                microseconds(timeOf(report, LossKind::IdleCores)) + microseconds(steps) / 2,
                0.01 * microseconds(report.time));
}

TEST(Losses, doNotCountTheLaunchOfTheOnlyKernel)
{
    const Report report = reportOf(*runOf("add_vectors", {}, "tpu_v5e"));
    EXPECT_GT(timeOf(report, LossKind::Launches), Picoseconds(0));
    EXPECT_EQ(gainOf(report, LossKind::Launches), Picoseconds(0));
}

// All elements of a row are the same, so that the vector unit computes one register of it.
TEST(Losses, countWhatRegistersThatRepeatTakeOnce)
{
    const auto kernel = [](const std::vector<pl::Ref>& refs) {
        const pl::Value largest = pl::reduce(ir::OpCode::ReduceMax, refs[0][pl::all], {1});
        pl::Value row = pl::broadcastTo(largest, {256, 2048}, {0});
        for (int round = 0; round < 64; ++round) {
            row = row * 1.0001 + 0.5;
        }
        refs[1][pl::all] = refs[0][pl::all] + row;
    };
    const ir::Program program =
        ir_test::traced(
            {pl::in("x", DType::F32, {256, 2048}), pl::out("y", DType::F32, {256, 2048})}, kernel)
            .value();
    const Report report = reportOf(*runOf(program, "tpu_v5e"));
    expectSum(report);
    EXPECT_LE(report.utilization, 1);
    EXPECT_EQ(report.flops, Flops(256 * 2048 * 2 + 256 * 128))
        << "of the maximum, the sum and rows";
}

TEST(Losses, haveTheWordsOfTheChip)
{
    Report report;
    report.time = Picoseconds(1'000'000);
    report.losses = {Picoseconds(400'000),
                     {{LossKind::IdleCores, "", Picoseconds(600'000), Picoseconds(600'000)}},
                     {}};
    EXPECT_EQ(analysis::advice(report),
              "without idle cores it would take 0.40 µs, 60.0 % less: a parallel grid axis, "
              "captured with as many cores, or a mesh of cores would use them");
    Report byHand = report;
    byHand.losses.beyond[0].kind = LossKind::Refetch;
    byHand.losses.beyond[0].of = "x \u2192 rows";
    EXPECT_EQ(analysis::advice(byHand),
              "without parts of x \u2192 rows copied again it would take 0.40 µs, 60.0 % less: "
              "keeping on chip what is copied more than once would save it");
    report.isGpu = true;
    EXPECT_EQ(analysis::advice(report),
              "without idle SMs it would take 0.40 µs, 60.0 % less: a grid that fills "
              "whole waves of the SMs' places, or blocks that divide the work more evenly, would "
              "use them");
    report.losses.beyond[0].kind = LossKind::Copies;
    report.losses.multiplies = true;
    report.isSharedMemoryFull = true;
    report.blocksTogether = 2;
    EXPECT_NE(analysis::advice(report).find("as long as an SM still runs 2 blocks at a time"),
              std::string::npos)
        << analysis::advice(report);
    report.blocksTogether = 1;
    EXPECT_NE(
        analysis::advice(report).find("smaller tiles, which leave shared memory for more slots"),
        std::string::npos);
    report.isSharedMemoryFull = false;
    EXPECT_TRUE(analysis::advice(report).ends_with("or more blocks on each SM would hide them"));
    report.leavesPlaces = true;
    EXPECT_TRUE(analysis::advice(report).ends_with(
        "or smaller tiles, which make more blocks for each SM, would hide them"));
    report.isSmFull = true;
    EXPECT_TRUE(analysis::advice(report).ends_with(
        "or larger tiles, which have more bytes under way, would hide them"));
    report.isSmFull = false;
    report.boundBy = {analysis::BoundKind::Memory, "L2"}; // smaller tiles copy more bytes
    EXPECT_TRUE(analysis::advice(report).ends_with("Triton's num_stages) would hide them"));
    report.isSharedMemoryFull = true;
    EXPECT_NE(analysis::advice(report).find("fewer slots of SMEM, if an SM then runs more blocks"),
              std::string::npos);
    report.losses.beyond[0].kind = LossKind::Launches; // the same words everywhere
    EXPECT_EQ(analysis::lossText(report.losses.beyond[0], report), "launches");
}

} // namespace pallascope::analysis_test
