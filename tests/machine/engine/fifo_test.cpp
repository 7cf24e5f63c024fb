// The result FIFO of the matrix unit: when its products can be taken out, and what happens if there
// is none.
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

const Shape kSquare{128, 128};

// Requests `asked` products, then takes out `taken`.
ir::Program asksAndTakes(int asked, int taken)
{
    return oneStepProgram(
        {.inputs = {{DType::BF16, kSquare, nullptr}},
         .shape = kSquare,
         .scratch = {{"fifo", kF32, kSquare, kUnit}, {"rhs", DType::BF16, kSquare, kUnit}}},
        [=](const std::vector<pl::Ref>& refs) {
            const pl::Value lhs = refs[0][pl::all].load();
            for (int i = 0; i < asked; ++i) {
                pl::matmulLhsFifo(refs[2], lhs, refs[3]);
            }
            for (int i = 0; i < taken; ++i) {
                refs[1][pl::all] = pl::matmulPopFifo(refs[2]);
            }
        });
}

machine::RunResult runWith(const ir::Program& program, machine::ValueMode values)
{
    return mustRun(program, {counting(DType::BF16, kSquare)}, values);
}

} // namespace

// A product can be taken out as soon as it is done, while later ones are still being computed.
TEST(MatrixUnitFifo, aProductIsWaitedForAlone)
{
    for (const auto values : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
        const machine::RunResult run = runWith(asksAndTakes(3, 3), values);
        EXPECT_EQ(findingsText(run), "");
        const trace::Trace& trace = *run.trace;
        std::vector<std::int64_t> begins, taken;
        for (std::size_t row = 0; row < trace.segments().size(); ++row) {
            if (trace.segments().agent[row] > 0) { // all but the core, which is agent 0
                begins.push_back(trace.segments().begin[row]);
            }
        }
        for (std::size_t row = 0; row < trace.waits().size(); ++row) {
            if (trace.waits().copy[row] == trace::kNone
                && trace.waits().begin[row] >= begins.at(0)) {
                taken.push_back(trace.waits().end[row]);
            }
        }
        ASSERT_EQ(begins.size(), 3U);
        ASSERT_GE(taken.size(), 2U);
        EXPECT_EQ(taken[0], begins[1]) << "the unit goes on with the next at once";
        EXPECT_EQ(taken[1], begins[2]);
    }
}

TEST(MatrixUnitFifo, aProductThatNobodyAskedFor)
{
    const ir::Program program = asksAndTakes(2, 3);
    for (const auto values : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
        const machine::RunResult run = runWith(program, values);
        ASSERT_EQ(run.trace->info().findings.size(), 1U) << findingsText(run);
        const trace::Finding& found = run.trace->info().findings[0];
        EXPECT_EQ(found.kind, "empty_fifo");
        EXPECT_EQ(found.operand, "fifo");
        EXPECT_NE(found.message.find("finds no product in fifo"), std::string::npos)
            << found.message;
    }
}

} // namespace pallascope::machine_test
