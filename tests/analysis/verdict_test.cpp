// What a report says in words, for reports made by hand.
#include "core/analysis/array_traffic.h"
#include "core/analysis/figures.h"
#include "core/analysis/losses.h"
#include "core/base/format.h"
#include "tests/analysis/runs.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::analysis_test {

using analysis::Alternative;
using analysis::Bound;
using analysis::BoundKind;
using analysis::Report;

namespace {

constexpr Picoseconds us(std::int64_t microseconds)
{
    return Picoseconds(microseconds * 1'000'000);
}

// 1 ms, 100 of 200 TFLOP/s, 8 steps; an HBM of 1000 GB/s achieves 80 %.
Report plainReport(const Bound& boundBy)
{
    Report report;
    report.kernel = "k";
    report.steps = 8;
    report.time = us(1000);
    report.flops = Flops(100'000'000'000);
    report.flopsPerSecond = 100e12;
    report.peakFlopsPerSecond = 200e12;
    report.utilization = 0.5;
    report.arithmeticIntensity = 125;
    report.boundBy = boundBy;
    report.split = {us(600), us(50), us(300), us(30), us(20)};
    report.busy = {{"HBM", us(900)}, {"MXU", us(550)}, {"store", us(400)}, {"load", us(200)}};
    report.roofline.peak = analysis::Roof{"bf16 MXU", 200e12};
    report.roofline.memory = {"HBM", BytesPerSecond(1000e9), BytesPerSecond(800e9)};
    report.roofline.ridge = 200;
    return report;
}

trace::Info plainInfo()
{
    trace::Info info;
    info.chipName = "A chip";
    info.links = {{"HBM", 0, 1, BytesPerSecond(1000e9), BytesPerSecond(800e9)}};
    info.units = {{"MXU", UnitKind::Matrix}, {"load", UnitKind::Load}, {"store", UnitKind::Store}};
    info.operands.edit().resize(2);
    info.operands.edit()[0].name = "x";
    info.operands.edit()[0].dtype = DType::BF16;
    info.operands.edit()[1].name = "out";
    info.operands.edit()[1].dtype = DType::BF16;
    info.operands.edit()[1].direction = trace::Direction::Out;
    return info;
}

std::string verdictOf(const Report& report, const std::vector<Alternative>& alternatives = {},
                      const trace::Info& info = plainInfo())
{
    return analysis::plain(analysis::verdict(report, info, alternatives));
}

Alternative blocks(std::int64_t microseconds, const Bound& boundBy)
{
    Alternative alternative;
    alternative.name = "1024-blocks";
    alternative.time = us(microseconds);
    alternative.boundBy = boundBy;
    alternative.vmem = Bytes(1 << 20);
    return alternative;
}

} // namespace

TEST(Verdict, memoryNamesTheLinkTheExposedCopiesAndTheRidge)
{
    EXPECT_EQ(
        verdictOf(plainReport({BoundKind::Memory, "HBM"})),
        "Memory-bound (HBM). 100.0 TFLOP/s, 50.0 % of peak in 1.00 ms; HBM is busy 900.0 µs of "
        "it (90.0 %), although only 50.0 µs of copies are exposed: 125.0 FLOP/B is under the "
        "ridge of 200.0, and HBM achieves 80 % of its datasheet rate.");
}

TEST(Verdict, memorySaysThatNoCopiesAreExposed)
{
    Report report = plainReport({BoundKind::Memory, "HBM"});
    report.split.exposedCopies = us(0);
    const std::string text = verdictOf(report);
    EXPECT_NE(text.find("(90.0 %), although no copies are exposed: 125.0 FLOP/B"),
              std::string::npos)
        << text;
}

TEST(Verdict, memoryBlamesAWideOutputAndLongWaits)
{
    trace::Info info = plainInfo();
    info.operands.edit()[1].dtype = DType::F32;
    Report report = plainReport({BoundKind::Memory, "HBM"});
    report.split = {us(200), us(700), us(100), us(0), us(0)};
    report.roofline.memory.achieved = report.roofline.memory.datasheet;
    EXPECT_EQ(
        verdictOf(report, {}, info),
        "Memory-bound (HBM). 100.0 TFLOP/s, 50.0 % of peak in 1.00 ms; HBM is busy 900.0 µs of "
        "it (90.0 %); 700.0 µs of copies are exposed: 125.0 FLOP/B is under the ridge of 200.0, "
        "out is f32.");
    report.arithmeticIntensity = 250;
    EXPECT_EQ(
        verdictOf(report, {}, info),
        "Memory-bound (HBM). 100.0 TFLOP/s, 50.0 % of peak in 1.00 ms; HBM is busy 900.0 µs of "
        "it (90.0 %); 700.0 µs of copies are exposed, even at 250.0 FLOP/B, above the ridge of "
        "200.0.");
}

TEST(Verdict, onChipMemoryNamesItsBusierUnit)
{
    EXPECT_EQ(
        verdictOf(plainReport({BoundKind::Memory, "VMEM"})),
        "Memory-bound (VMEM). 100.0 TFLOP/s, 50.0 % of peak in 1.00 ms; the store unit is busy "
        "400.0 µs of it (40.0 %).");
}

TEST(Verdict, computeSaysWhereTheRestGoes)
{
    EXPECT_EQ(
        verdictOf(plainReport({BoundKind::Compute, "MXU"})),
        "Compute-bound (MXU). 100.0 TFLOP/s, 50.0 % of peak in 1.00 ms; the MXU is busy 550.0 µs "
        "of it (55.0 %), step overhead takes 300.0 µs, copies and waits 100.0 µs.");
}

TEST(Verdict, ofAGpuNamesIdleSmsInsteadOfSteps)
{
    Report report = plainReport({BoundKind::Compute, "MXU"});
    report.isGpu = true;
    report.split.stepOverhead = Picoseconds(0);
    EXPECT_EQ(verdictOf(report),
              "Compute-bound (MXU). 100.0 TFLOP/s, 50.0 % of peak in 1.00 ms; the MXU is busy "
              "550.0 µs of it (55.0 %).");
    report.losses.beyond = {{analysis::LossKind::IdleCores, "", us(5), us(5)}};
    EXPECT_EQ(verdictOf(report).find("idle"), std::string::npos);
    report.losses.beyond = {{analysis::LossKind::IdleCores, "", us(300), us(300)}};
    EXPECT_EQ(verdictOf(report),
              "Compute-bound (MXU). 100.0 TFLOP/s, 50.0 % of peak in 1.00 ms; the MXU is busy "
              "550.0 µs of it (55.0 %) on the SMs with work, and idle SMs cost 300.0 µs (30.0 %).");
}

TEST(Verdict, computeMayBeTheScalarUnits)
{
    trace::Info info = plainInfo();
    info.units.push_back({"scalar", UnitKind::Scalar});
    Report report = plainReport({BoundKind::Compute, "scalar"});
    report.busy.insert(report.busy.begin(), {"scalar", us(950)});
    EXPECT_EQ(verdictOf(report, {}, info),
              "Compute-bound (scalar). 100.0 TFLOP/s, 50.0 % of peak in 1.00 ms; the scalar unit "
              "is busy 950.0 µs of it (95.0 %), step overhead takes 300.0 µs, copies and waits "
              "100.0 µs.");
}

TEST(Verdict, overheadCountsItsSteps)
{
    Report report = plainReport({BoundKind::StepOverhead});
    report.split = {us(100), us(50), us(800), us(30), us(20)};
    EXPECT_EQ(
        verdictOf(report),
        "Bound by step overhead. 100.0 TFLOP/s, 50.0 % of peak in 1.00 ms; 8 steps of 100.0 µs "
        "bookkeeping take 800.0 µs of it (80.0 %).");
    report.steps = 1;
    EXPECT_EQ(
        verdictOf(report),
        "Bound by step overhead. 100.0 TFLOP/s, 50.0 % of peak in 1.00 ms; 1 step of 800.0 µs "
        "bookkeeping takes 800.0 µs of it (80.0 %).");
    report.steps = 8;
    trace::Info cores = plainInfo();
    cores.pipelines.resize(2);
    cores.pipelines[1].agent = 1;
    EXPECT_EQ(
        verdictOf(report, {}, cores),
        "Bound by step overhead. 100.0 TFLOP/s, 50.0 % of peak in 1.00 ms; 8 steps of 200.0 µs "
        "bookkeeping, shared by 2 agents, take 800.0 µs of it (80.0 %).");
}

TEST(Verdict, latencyAndRunsWithoutFlopsHaveTheirOwnWords)
{
    EXPECT_EQ(
        verdictOf(plainReport({BoundKind::Latency})),
        "Bound by latency. 100.0 TFLOP/s, 50.0 % of peak in 1.00 ms; for most of it nothing is "
        "busy.");
    Report report = plainReport({BoundKind::Memory, "HBM"});
    report.roofline.peak.reset();
    EXPECT_EQ(verdictOf(report), "Memory-bound (HBM). The run takes 1.00 ms and counts no FLOPs; "
                                 "HBM is busy 900.0 µs of it (90.0 %).");
}

TEST(Verdict, endsWithWhatWouldHelpMost)
{
    const Report report = plainReport({BoundKind::Memory, "HBM"});
    EXPECT_TRUE(verdictOf(report, {blocks(700, {BoundKind::Compute, "MXU"})})
                    .ends_with("; 1024-blocks turn it compute-bound: 700.0 µs."));
    EXPECT_TRUE(verdictOf(report, {blocks(700, {BoundKind::Memory, "HBM"})})
                    .ends_with("; 1024-blocks take 700.0 µs."));
    EXPECT_TRUE(verdictOf(report, {blocks(700, {BoundKind::StepOverhead})})
                    .ends_with("; 1024-blocks turn it bound by step overhead: 700.0 µs."));
    EXPECT_EQ(verdictOf(report, {blocks(999, {BoundKind::Compute, "MXU"})}), verdictOf(report));
}

TEST(Best, isTheFastestThatFitsBothLimits)
{
    const Report report = plainReport({BoundKind::Memory, "HBM"});
    std::vector<Alternative> alternatives = {blocks(500, {}), blocks(400, {}), blocks(600, {}),
                                             blocks(300, {})};
    alternatives[3].overScopedLimit = true;
    EXPECT_EQ(analysis::best(report, alternatives), &alternatives[1]);
    alternatives[1].fits = false;
    EXPECT_EQ(analysis::best(report, alternatives), &alternatives[0]);
    EXPECT_EQ(analysis::best(report, {}), nullptr);
}

TEST(Text, isEightLinesThatEachSayOneThing)
{
    const auto trace = mainJob();
    const Report report = analysis::report(*trace).value();
    const std::string text =
        analysis::toText(report, trace->info(), {blocks(760, {BoundKind::Compute, "MXU"})});
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8);
    EXPECT_EQ(text.find('|'), std::string::npos);
    for (const char* said :
         {"512 steps", "of the bf16 MXU peak of 197.0 TFLOP/s", "\nbound   Memory-bound (HBM).",
          "\ncopies  x 256 MiB read in 512 copies (8× its array), y 256 MiB read in 512 copies (8× "
          "its array), out 64 MiB written in 64 copies (1× its array)",
          "\nVMEM    4 MiB of 128 MiB, scoped limit 16 MiB: x 1 MiB, y 1 MiB, out 2 MiB",
          "\nexposed ", "\nbeyond  the roofline's 697.7 µs: ",
          "\nadvice  without blocks of x and 1 other copied again ",
          "\ntry     1024-blocks: 760.0 µs"}) {
        EXPECT_NE(text.find(said), std::string::npos) << said << "\n" << text;
    }
}

TEST(Text, doesNotSumTheCopiesOfDifferentArraysOfOneName)
{
    const auto trace = mainJob();
    Report report = analysis::report(*trace).value();
    trace::Info info = trace->info();
    info.operands.edit()[1].name = report.traffic[1].operand = "x"; // it was y
    const auto text = [&] {
        report.arrays = analysis::trafficByArray(
            report.traffic, info, trace::arraysOf(info).ofOperand, trace::pipelineKindsOf(info));
        return analysis::toText(report, info, {});
    };
    EXPECT_NE(text().find("copies  x 512 MiB read in 1024 copies (16"), std::string::npos)
        << text();
    info.operands.edit()[1].dtype = DType::Int32;
    EXPECT_NE(
        text().find("copies  x 256 MiB read in 512 copies (8\u00d7 its array), x 256 MiB read"),
        std::string::npos)
        << text();
}

TEST(Text, ofAStoppedRunSaysSoAndGivesNoAdvice)
{
    trace::TraceBuilder builder = mainJobBuilder();
    builder.info.stoppedBy = "deadlock";
    const auto trace = std::move(builder).finish().value();
    const Report report = analysis::report(*trace).value();
    EXPECT_FALSE(report.band);
    EXPECT_EQ(analysis::advice(report), "");
    const std::vector<Alternative> faster{blocks(1, {BoundKind::Compute, "MXU"})};
    EXPECT_EQ(analysis::best(report, faster), nullptr);
    const std::string text = analysis::toText(report, trace->info(), faster);
    EXPECT_NE(text.find("\nStopped after " + timeText(report.time)
                        + " by a finding: Deadlock. All figures"),
              std::string::npos)
        << text;
    for (const char* left : {"\nbound ", "\nbeyond ", "\nadvice ", "\ntry "}) {
        EXPECT_EQ(text.find(left), std::string::npos) << text;
    }
    const Report whole = analysis::report(*mainJob()).value();
    EXPECT_EQ(analysis::fasterText(whole, report),
              "B stopped at a finding, so neither is called faster");
    EXPECT_EQ(analysis::fasterText(report, report),
              "A and B stopped at a finding, so neither is called faster");
}

// A program around a kernel has hundreds of small copies.
TEST(Text, ofManyPairsOfMemoriesThoseThatMoveMostAreNamed)
{
    const auto trace = mainJob();
    Report report = analysis::report(*trace).value();
    report.arrays.clear();
    std::int64_t hidden = 0, copies = 0;
    for (int i = 0; i < 20; ++i) {
        const Bytes bytes(i % 3 == 0 ? 1024 * (i + 1) : i + 1);
        report.arrays.push_back(
            {{"a" + std::to_string(i), trace::Summary::Read, i + 1, bytes, bytes, 1}});
        hidden += i % 3 == 0 ? 0 : bytes.value();
        copies += i % 3 == 0 ? 0 : i + 1;
    }
    const std::string text = analysis::toText(report, trace->info(), {});
    for (const std::string& said :
         {std::string("\ncopies  a0 1 KiB read in 1 copy (1× its array), a3 4 KiB read"),
          ", a18 19 KiB read in 19 copies (1× its array), and 13 more: " + bytesText(Bytes(hidden))
              + " in " + std::to_string(copies) + " copies\n"}) {
        EXPECT_NE(text.find(said), std::string::npos) << said << "\n" << text;
    }
}

TEST(Text, oneOfAThingIsSingular)
{
    for (const NamedRun& run : machineRuns()) {
        const Report report = analysis::report(*run.trace).value();
        const std::string text = analysis::toText(report, run.trace->info(), {});
        for (const char* wrong : {" 1 steps", " 1 copies", "1 step of 330 ns bookkeeping take "}) {
            EXPECT_EQ(text.find(wrong), std::string::npos) << run.name << "\n" << text;
        }
    }
}

TEST(Text, ofACapturedKernelItSaysWhereOtherBlocksComeFrom)
{
    for (const auto& [accepts, said] :
         {std::pair{"unknown", "try     nothing: no other blocks could"},
          std::pair{"yes", "capture_many"}}) {
        trace::TraceBuilder builder = mainJobBuilder();
        builder.info.jaxAccepts = accepts;
        const auto trace = std::move(builder).finish().value();
        const std::string text =
            analysis::toText(analysis::report(*trace).value(), trace->info(), {});
        EXPECT_NE(text.find(said), std::string::npos) << text;
    }
}

// A file has no parameters, so a sweep could try none, whether or not the kernel has a grid.
TEST(Text, ofACapturedKernelWithoutAGridItNamesNoParametersToTry)
{
    trace::TraceBuilder builder = mainJobBuilder();
    builder.info.jaxAccepts = "yes";
    const auto trace = std::move(builder).finish().value();
    Report report = analysis::report(*trace).value();
    report.steps = 0;
    const std::string text = analysis::toText(report, trace->info(), {});
    EXPECT_NE(text.find("try     other sizes in Python: "), std::string::npos) << text;
    EXPECT_EQ(text.find("--over"), std::string::npos) << text;
}

TEST(Text, aFailedCheckSaysSoOnTheFirstLine)
{
    trace::TraceBuilder builder = mainJobBuilder();
    builder.info.check = {true, false, 2.0, 0.5, "all"};
    const auto trace = std::move(builder).finish().value();
    const std::string text = analysis::toText(analysis::report(*trace).value(), trace->info(), {});
    const std::string first = text.substr(0, text.find('\n'));
    EXPECT_TRUE(first.ends_with("; result WRONG: error 0.5 of the largest value (all)")) << first;
}

} // namespace pallascope::analysis_test
