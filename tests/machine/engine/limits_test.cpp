// Runs that would take too long: they are refused before they start, or cancelled in the middle of
// a step.
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

const OneStep kStep{.inputs = {makeArray(DType::F32, {8, 128})}, .shape = {8, 128}, .grid = {}};

std::vector<Array> shapes()
{
    return {{DType::F32, {8, 128}, nullptr}};
}

TEST(Limits, moreStepsThanARunRecordsAreRefusedAtOnce)
{
    OneStep step = kStep;
    step.grid = {machine::kMostRecordedSteps + 1};
    const ir::Program program = oneStepProgram(
        step, [](const std::vector<pl::Ref>& refs) { refs[1][pl::all] = refs[0][pl::all]; });
    const auto run = machine::run(program, shapes(), v5e(), {.values = machine::ValueMode::Needed});
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().kind, ErrorKind::Limit);
    EXPECT_NE(run.error().message.find("2\u2009500\u2009001 grid steps"), std::string::npos)
        << run.error().message;
    // A sweep keeps no rows, so it may run the program.
    EXPECT_TRUE(machine::checkFit(program, v5e()));
}

// A row of one element fills 128 lanes in HBM: of 2^26 of them 32 GiB, of which a v5e has 16.
TEST(Limits, arraysCountWithThePaddingOfTheirTiles)
{
    const auto fits = [](Extent rows) {
        const OneStep step{
            .inputs = {{DType::F32, {rows, 1}, nullptr}}, .shape = {8, 128}, .grid = {}};
        const ir::Program program = oneStepProgram(step, [](const std::vector<pl::Ref>& refs) {
            refs[1][pl::all] = pl::full({8, 128}, 1, DType::F32);
        });
        return machine::checkFit(program, v5e());
    };
    const Status wide = fits(1 << 26);
    ASSERT_FALSE(wide);
    EXPECT_NE(wide.error().message.find("of HBM, TPU v5e has 16 GiB"), std::string::npos)
        << wide.error().message;
}

TEST(Limits, anEndlessLoopInAStepCanBeCancelled)
{
    const ir::Program program = oneStepProgram(kStep, [](const std::vector<pl::Ref>& refs) {
        pl::whileLoop(
            {pl::full({}, 0, DType::Int32)},
            [](std::vector<pl::Value> carry) { return carry[0] == carry[0]; },
            [&](std::vector<pl::Value> carry) {
                refs[1][pl::all] = refs[0][pl::all];
                return carry;
            });
    });
    for (const auto values : {machine::ValueMode::Needed, machine::ValueMode::Full}) {
        int calls = 0;
        machine::Options options{.values = values};
        options.progress = [&calls](double) { return ++calls < 3; };
        const auto run = machine::run(program, kStep.inputs, v5e(), options);
        ASSERT_FALSE(run);
        EXPECT_EQ(run.error().kind, ErrorKind::Cancelled);
    }
}

} // namespace

} // namespace pallascope::machine_test
