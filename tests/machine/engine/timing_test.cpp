// Times of runs: rules that hold for every run, and a case computed by hand.
#include "core/analysis/report.h"
#include "core/machine/arith/threads.h"
#include "kernels/kernel.h"
#include "tests/machine/support.h"
#include "tests/machine/table_pipeline.h"
#include "tests/machine/trace_difference.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace pallascope::machine_test {

namespace {

// v5e with figures that make copying and computing comparable on tiny blocks, with some latency,
// and with different numbers for each seed.
chip::Chip strangeChip(std::mt19937_64& random)
{
    nlohmann::json file = nlohmann::json::parse(v5e().json);
    const auto pick = [&](std::initializer_list<double> choices) {
        return choices.begin()[random() % choices.size()];
    };
    file["links"][0]["bytes_per_s"]["value"] = pick({1e8, 1e9, 7e9, 819e9});
    file["links"][0]["latency_s"]["value"] = pick({0, 0, 3e-9, 1e-6});
    file["constants"]["step_overhead_s"]["value"] = pick({0, 1e-9, 50e-9, 0.33e-6});
    const Result<chip::Chip> chip = chip::parse(file.dump(), "strange");
    if (!chip) {
        throw std::runtime_error(chip.error().message);
    }
    return *chip;
}

struct Case
{
    TablePipeline pipeline;
    chip::Chip chip;
    ir::Program program;
    std::vector<Array> inputs;
};

Case randomCase(std::uint64_t seed, bool inOuts)
{
    std::mt19937_64 random(seed);
    Case result{randomPipeline(random, {.inOuts = inOuts}), strangeChip(random), {}, {}};
    result.program = tableProgram(result.pipeline);
    for (const ir::Argument& argument : result.program.arguments) {
        if (argument.kind == ir::ArgumentKind::Input) {
            result.inputs.push_back(
                normalArray(DType::F32, result.program.type(argument.ref).shape, seed++));
        }
    }
    return result;
}

template<class Function>
void forRandomRuns(std::uint64_t count, bool inOuts, Function&& function)
{
    for (std::uint64_t seed = 0; seed < count; ++seed) {
        SCOPED_TRACE(seed);
        const Case test = randomCase(seed, inOuts);
        const machine::RunResult run =
            mustRun(test.program, test.inputs, machine::ValueMode::Full, test.chip);
        function(test, run);
        if (testing::Test::HasFatalFailure()) {
            return;
        }
    }
}

std::int64_t durationOf(const trace::Trace& trace, std::size_t segment)
{
    const auto which = static_cast<std::size_t>(trace.segments().templateId[segment]);
    return trace.info().templates[which].duration.value();
}

bool sameBytes(const Array& a, const Array& b)
{
    return a.shape == b.shape && a.dtype == b.dtype
           && std::memcmp(a.data.get(), b.data.get(), static_cast<std::size_t>(a.byteCount())) == 0;
}

class Threads // uses this many threads until the end of the scope
{
public:
    Threads()
        : m_before(arith::threadCount())
    {}

    ~Threads() { arith::setThreadCount(m_before); }

    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

private:
    int m_before;
};

} // namespace

TEST(RandomRuns, serveCopiesOneAfterTheOtherInTheOrderOfTheirIssue)
{
    forRandomRuns(150, true, [](const Case& test, const machine::RunResult& run) {
        const trace::Copies& copies = run.trace->copies();
        const chip::Link& link = test.chip.links[0];
        std::int64_t free = 0, issued = 0;
        for (std::size_t i = 0; i < copies.size(); ++i) {
            ASSERT_GE(copies.issue[i], issued);
            // start = max(issue + latency, free); end = start + bytes / bandwidth, rounded up.
            ASSERT_EQ(copies.start[i], std::max(copies.issue[i] + link.latency.value(), free));
            const double exact =
                static_cast<double>(copies.bytes[i]) / link.achieved().value() * 1e12;
            ASSERT_GE(static_cast<double>(copies.end[i] - copies.start[i]), exact * (1 - 1e-12));
            ASSERT_LT(static_cast<double>(copies.end[i] - copies.start[i]),
                      exact * (1 + 1e-12) + 1);
            issued = copies.issue[i];
            free = copies.end[i];
        }
    });
}

TEST(RandomRuns, neverLetTheCoreDoTwoThingsAtOnce)
{
    forRandomRuns(150, true, [](const Case&, const machine::RunResult& run) {
        const trace::Trace& trace = *run.trace;
        std::vector<std::pair<std::int64_t, std::int64_t>> busy;
        for (std::size_t i = 0; i < trace.segments().size(); ++i) {
            const std::int64_t begin = trace.segments().begin[i];
            busy.emplace_back(begin, begin + durationOf(trace, i));
        }
        for (std::size_t i = 0; i < trace.waits().size(); ++i) {
            busy.emplace_back(trace.waits().begin[i], trace.waits().end[i]);
        }
        std::sort(busy.begin(), busy.end());
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < busy.size(); ++i) {
            ASSERT_TRUE(i == 0 || busy[i].first >= busy[i - 1].second) << "at " << busy[i].first;
            sum += busy[i].second - busy[i].first;
        }
        // It computes, waits or does bookkeeping, and is never idle.
        ASSERT_EQ(sum, trace.end().value());
    });
}

TEST(RandomRuns, lastAtLeastAsLongAsLinkAndCoreAndAtMostAsBoth)
{
    forRandomRuns(150, true, [](const Case& test, const machine::RunResult& run) {
        const trace::Trace& trace = *run.trace;
        std::int64_t link = 0, core = 0, latency = 0;
        for (std::size_t i = 0; i < trace.copies().size(); ++i) {
            link += trace.copies().end[i] - trace.copies().start[i];
            latency += test.chip.links[0].latency.value();
        }
        for (std::size_t i = 0; i < trace.segments().size(); ++i) {
            core += durationOf(trace, i);
        }
        ASSERT_GE(trace.end().value(), std::max(link, core));
        ASSERT_LE(trace.end().value(), link + core + latency);
    });
}

TEST(RandomRuns, moveTheBytesOfTheBlocksThatTheScheduleAsksFor)
{
    forRandomRuns(150, true, [](const Case& test, const machine::RunResult& run) {
        std::int64_t moved = 0, asked = 0;
        for (const std::int64_t bytes : run.trace->copies().bytes) {
            moved += bytes;
        }
        for (const Event& event :
             expectedEvents(test.pipeline.steps(), test.pipeline.operands, test.pipeline.release)) {
            if (event.event.find("copy") != std::string::npos) {
                const auto& operands = run.trace->info().operands;
                const auto of =
                    std::find_if(operands.begin(), operands.end(), [&](const trace::Operand& one) {
                        return one.name == event.operand;
                    });
                const std::size_t last = event.block.size() - 1;
                // Of an array that is one block wide, all lanes move.
                const bool isWhole = of->array[last] == kBlockSize
                                     && of->indirectAxis != static_cast<std::int32_t>(last);
                std::int64_t bytes = 4 * (isWhole ? 128 : kBlockSize);
                for (std::size_t axis = 0; axis < last; ++axis) {
                    bytes *= kBlockSize;
                }
                asked += bytes;
            }
        }
        ASSERT_EQ(moved, asked);
    });
}

TEST(RandomRuns, splitTheirTimeWithoutRest)
{
    forRandomRuns(100, true, [](const Case& test, const machine::RunResult& run) {
        const Result<analysis::Report> report = analysis::report(*run.trace);
        ASSERT_TRUE(report) << report.error().message;
        ASSERT_EQ(report->split.total(), run.trace->end());
        ASSERT_EQ(report->losses.total(), run.trace->end());
        ASSERT_EQ(report->time, run.trace->end());
        for (const Picoseconds part :
             {report->split.compute, report->split.exposedCopies, report->split.stepOverhead,
              report->split.prologue, report->split.epilogue}) {
            ASSERT_GE(part, Picoseconds(0));
        }
        ASSERT_EQ(report->split.idle, Picoseconds(0)); // the one core waits only for copies
        ASSERT_EQ(report->split.stepOverhead,
                  Picoseconds(test.chip.stepOverhead.value() * test.pipeline.steps()));
    });
}

TEST(RandomRuns, areTheSameTwice)
{
    forRandomRuns(60, true, [](const Case& test, const machine::RunResult& run) {
        const machine::RunResult again =
            mustRun(test.program, test.inputs, machine::ValueMode::Full, test.chip);
        ASSERT_TRUE(*run.trace == *again.trace);
        for (std::size_t i = 0; i < run.outputs.size(); ++i) {
            ASSERT_TRUE(sameBytes(run.outputs[i], again.outputs[i]));
        }
    });
}

TEST(RandomRuns, haveTheSameEventsTimesAndStructuralFindingsWithNeededValues)
{
    forRandomRuns(150, true, [](const Case& test, const machine::RunResult& run) {
        std::vector<Array> shapes = test.inputs;
        for (Array& input : shapes) {
            input.data = nullptr;
        }
        const machine::RunResult needed =
            mustRun(test.program, shapes, machine::ValueMode::Needed, test.chip);
        ASSERT_TRUE(run.trace->steps() == needed.trace->steps());
        ASSERT_TRUE(run.trace->segments() == needed.trace->segments());
        ASSERT_TRUE(run.trace->copies() == needed.trace->copies());
        ASSERT_TRUE(run.trace->waits() == needed.trace->waits());
        ASSERT_TRUE(run.trace->visits() == needed.trace->visits());
        ASSERT_EQ(run.trace->info().events, needed.trace->info().events);
        ASSERT_TRUE(structural(*run.trace) == structural(*needed.trace));
        ASSERT_TRUE(needed.outputs.empty());
    });
}

// A matmul of 200 x 150 x 700: large enough for several threads, and with overhanging blocks.
TEST(Outputs, haveTheSameBitsWhateverTheNumberOfThreads)
{
    const Threads restore;
    const kernels::Kernel kernel = *kernels::find("matmul");
    const auto arguments = kernels::arguments(
        kernel,
        {{"m", "200"}, {"n", "150"}, {"k", "768"}, {"bm", "104"}, {"bn", "128"}, {"bk", "256"}});
    ASSERT_TRUE(arguments) << arguments.error().message;
    const ir::Program program = mustTrace(kernel.build(*arguments));
    const std::vector<Array> inputs{normalArray(DType::BF16, {200, 768}, 1),
                                    normalArray(DType::BF16, {768, 150}, 2)};
    std::vector<machine::RunResult> runs;
    for (const int threads : {1, 2, 3}) {
        arith::setThreadCount(threads);
        runs.push_back(mustRun(program, inputs));
    }
    for (std::size_t i = 1; i < runs.size(); ++i) {
        EXPECT_TRUE(sameBytes(runs[i].outputs[0], runs[0].outputs[0])) << i + 1 << " threads";
        EXPECT_TRUE(*runs[i].trace == *runs[0].trace) << i + 1 << " threads";
    }
}

namespace {

// v5e with round figures: 1024e9 B/s of which half is achieved, and this step overhead.
chip::Chip roundChip(double stepOverhead)
{
    nlohmann::json file = nlohmann::json::parse(v5e().json);
    file["links"][0]["bytes_per_s"]["value"] = 1024e9;
    file["links"][0]["efficiency"]["value"] = 0.5;
    file["constants"]["step_overhead_s"]["value"] = stepOverhead;
    Result<chip::Chip> chip = chip::parse(file.dump(), "by hand");
    if (!chip) {
        throw std::runtime_error(chip.error().message);
    }
    return *std::move(chip);
}

// Doubles f32[3072] in three blocks of 1024 elements.
machine::RunResult runTwice(std::int32_t buffers, const chip::Chip& chip)
{
    const auto block = pl::block(
        {1024}, [](auto i) { return pl::at(i); }, buffers);
    const ir::Program program = mustTrace(
        pl::kernel("twice", {pl::in("x", DType::F32, {3072}), pl::out("out", DType::F32, {3072})},
                   [&](pl::Ref xHbm, pl::Ref outHbm) {
                       pl::emitPipeline({.grid = {3}, .in = {block}, .out = {block}},
                                        [](pl::Ref x, pl::Ref out) {
                                            const pl::Value value = x[pl::all].load();
                                            out[pl::all] = value + value;
                                        })(xHbm, outHbm);
                   }));
    return mustRun(program, {normalArray(DType::F32, {3072}, 1)}, machine::ValueMode::Full, chip);
}

} // namespace

TEST(SingleBuffers, neverOverlapSoThatTheTimeIsASum)
{
    // Doubles f32[3072] in blocks of 1024 elements with one buffer each. By hand: a block has 4096
    // bytes, which take 8000 ps at 1024e9 B/s x 0.5. The body has two uses of one load, one add and
    // one store. Each is on a unit of its own and of one register, so it takes one cycle of 1.5
    // GHz: 666.67 ps, rounded up to 667. The step overhead is 1000 ps. Each of three steps is copy
    // in, body, overhead, copy out.
    const machine::RunResult run = runTwice(1, roundChip(1e-9));
    EXPECT_EQ(run.trace->end(), Picoseconds(3 * (8000 + 667 + 1000 + 8000)));
    EXPECT_EQ(run.trace->copies().start,
              (std::vector<std::int64_t>{0, 9667, 17667, 27334, 35334, 45001}));
}

TEST(DoubleBuffers, hideAllCopiesButTheFirstInAndTheLastOutBehindLongerBodies)
{
    // As above with two buffers and a step overhead of 100 000 ps: 8000 in, then three steps of 100
    // 667 ps that hide the next copy in and the last copy out, then 8000 out.
    const machine::RunResult run = runTwice(2, roundChip(100e-9));
    EXPECT_EQ(run.trace->end(), Picoseconds(8000 + 3 * 100667 + 8000));
}

} // namespace pallascope::machine_test
