// What debug_print records in the trace.
#include "core/machine/record/recorder.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pallascope::machine_test {

namespace {

using Refs = std::vector<pl::Ref>;

// This many steps, each of which calls `says` before it stores a zero.
machine::RunResult eachStep(Extent steps, const std::function<void()>& says)
{
    return runOneStep({.inputs = {}, .shape = {8, 128}, .grid = {steps}}, [&](const Refs& refs) {
        says();
        refs.back()[pl::all] = pl::zerosLike(refs.back());
    });
}

} // namespace

TEST(Prints, haveTheirStepAgentLineAndTime)
{
    constexpr int kPrint = __LINE__ + 1;
    const machine::RunResult run = eachStep(3, [] { pl::debugPrint("at {}", {pl::programId(0)}); });
    const trace::Info& info = run.trace->info();
    const trace::Steps& steps = run.trace->steps();
    ASSERT_EQ(info.prints.size(), 3U);
    EXPECT_EQ(info.printsBeyond, 0);
    for (std::size_t i = 0; i < 3; ++i) {
        const trace::Print& print = info.prints[i];
        EXPECT_EQ(print.text, "at " + std::to_string(i));
        EXPECT_EQ(print.step, static_cast<std::int32_t>(i));
        EXPECT_EQ(print.agent, 0);
        EXPECT_EQ(print.source.line, kPrint);
        EXPECT_GE(print.time.value(), steps.bodyBegin[i]);
        EXPECT_LE(print.time.value(), steps.bodyEnd[i]);
    }
}

// A print comes after what its operands wait for, and not at the beginning of its segment.
TEST(Prints, comeWhenTheirValuesAreThere)
{
    const machine::RunResult run =
        runOneStep({.inputs = {arrayOf(DType::F32, {8, 128}, std::vector<double>(1024, 1))},
                    .shape = {8, 128}},
                   [](const Refs& refs) {
                       pl::debugPrint("early", {});
                       pl::Value x = refs[0][pl::all].load();
                       for (int i = 0; i < 10; ++i) {
                           x = pl::exp(x);
                       }
                       pl::debugPrint("late {}", {pl::reduce(ir::OpCode::ReduceMax, x, {0, 1})});
                       refs[1][pl::all] = x;
                   });
    const std::vector<trace::Print>& prints = run.trace->info().prints;
    ASSERT_EQ(prints.size(), 2U);
    EXPECT_LT(prints[0].time, prints[1].time);
}

TEST(Prints, beyondTheFirstThousandAreCounted)
{
    const machine::RunResult run =
        eachStep(machine::kMostPrints + 5, [] { pl::debugPrint("at {}", {pl::programId(0)}); });
    const trace::Info& info = run.trace->info();
    ASSERT_EQ(info.prints.size(), machine::kMostPrints);
    EXPECT_EQ(info.prints.back().text, "at 999");
    EXPECT_EQ(info.printsBeyond, 5);
}

TEST(Prints, thatAreLongAreCutBetweenCharacters)
{
    std::string text = "x";
    while (text.size() < machine::kMostPrintBytes + 100) {
        text += "\u00e9"; // 2 bytes, so that the limit falls inside of a character
    }
    const machine::RunResult run = eachStep(1, [&] { pl::debugPrint(text, {}); });
    const std::string& kept = run.trace->info().prints.at(0).text;
    EXPECT_EQ(kept, text.substr(0, machine::kMostPrintBytes - 1) + "\u2026");
}

// A NaN makes the machine run the program a second time.
TEST(Prints, areKeptOnceWhereBirthsAreLookedFor)
{
    const machine::RunResult run =
        runOneStep({.inputs = {arrayOf(DType::F32, {1}, {1})}, .shape = {1}}, [](const Refs& refs) {
            const pl::Value x = refs[0][pl::all].load();
            pl::debugPrint("{}", {x});
            refs[1][pl::all] = (x - x) / (x - x);
        });
    EXPECT_EQ(findingsOf(run, "nan_born").size(), 1U);
    EXPECT_EQ(run.trace->info().prints.size(), 1U);
}

TEST(Prints, areNoneWhereNotAllValuesAreComputed)
{
    const ir::Program program =
        mustTrace(pl::kernel("says", {pl::out("out", DType::F32, {8, 128})}, [](const pl::Ref&) {
            pl::coreMap("core", 1, [&] {
                pl::debugPrint("without a value", {});
                pl::debugPrint("with {}", {pl::axisIndex("core")});
            });
        }));
    EXPECT_EQ(mustRun(program, {}, machine::ValueMode::Full).trace->info().prints.size(), 2U);
    EXPECT_EQ(mustRun(program, {}, machine::ValueMode::Needed).trace->info().prints.size(), 0U);
}

// The second core's lines are recorded while the first core prints.
TEST(Prints, ofSeveralCoresAreByTime)
{
    const ir::Program program =
        mustTrace(pl::kernel("cores", {pl::out("out", DType::F32, {8, 128})}, [](pl::Ref out) {
            pl::coreMap("core", 2, [&] {
                const pl::Value core = pl::axisIndex("core");
                pl::debugPrint("first of {}", {core});
                pl::runScoped({{"a", DType::F32, {8, 128}}, pl::dmaSemaphores("sem")},
                              [&](const Refs& refs) {
                                  pl::when(core == 0, [&] {
                                      refs[0][pl::all] = pl::zerosLike(refs[0]);
                                      pl::dmaStart(refs[0], out, refs[1]);
                                      pl::dmaWait(refs[0], refs[1]);
                                  });
                                  return std::vector<pl::Value>{};
                              });
                pl::debugPrint("last of {}", {core});
            });
        }));
    const machine::RunResult run = mustRun(program, {}, machine::ValueMode::Full, v5p());
    std::vector<std::string> texts;
    for (const trace::Print& print : run.trace->info().prints) {
        texts.push_back(print.text);
        EXPECT_EQ(std::to_string(print.agent), print.text.substr(print.text.size() - 1));
    }
    EXPECT_EQ(texts,
              (std::vector<std::string>{"first of 0", "first of 1", "last of 1", "last of 0"}));
}

} // namespace pallascope::machine_test
