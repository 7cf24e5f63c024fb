// Which values are computed before any run, and that this does not change the runs of their
// programs.
#include "core/machine/prepare/constants.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pallascope::machine_test {

namespace {

using Names = std::vector<std::string>;

const Shape kShape{8, 128};

OneStep step()
{
    return {{counting(kF32, kShape)}, kF32, kShape, {}, {}};
}

// The operations whose results are constant, in a body that stores something to its output.
Names constantsOf(const RefsBody& body)
{
    const ir::Program program = oneStepProgram(step(), body);
    const machine::NeededSet needed = machine::NeededSet::everything(program);
    const machine::Slots slots(program, needed);
    const machine::Constants constants(program, needed, slots);
    Names names;
    forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (constants.makes(operation)) {
            names.emplace_back(ir::opName(operation.code));
            const ir::ValueId result = operation.results[0];
            EXPECT_EQ(constants.values()[slots.of(result)].shape, program.type(result).shape);
        }
    });
    return names;
}

} // namespace

TEST(Constants, areWhatOperationsMakeOfLiteralsAlone)
{
    const auto body = [](const std::vector<pl::Ref>& refs) {
        const pl::Value rows = pl::iota(kInt, kShape, 0) * 3 + 1;
        refs[1][pl::all] = refs[0][pl::all] * pl::convert(rows, kF32);
    };
    EXPECT_EQ(constantsOf(body), (Names{"iota", "broadcast_in_dim", "mul", "broadcast_in_dim",
                                        "add", "convert_element_type"}));
    const machine::RunResult run = runOneStep(step(), body);
    for (std::int64_t i = 0; i < kShape.elements(); ++i) {
        ASSERT_EQ(run.outputs[0].at(i), static_cast<double>(i * (i / 128 * 3 + 1)));
    }
}

TEST(Constants, areNotLarge)
{
    EXPECT_EQ(
        constantsOf([](const std::vector<pl::Ref>& refs) {
            const pl::Value large = pl::full({64, 128}, 2, kF32);
            refs[1][pl::all] = refs[0][pl::all] + pl::reduce(ir::OpCode::ReduceSum, large, {0, 1});
        }),
        Names());
}

// However many there are, all constants together take no more memory than this.
TEST(Constants, areNotManyAtATime)
{
    const Names names = constantsOf([](const std::vector<pl::Ref>& refs) {
        pl::Value sum = refs[0][pl::all].load();
        for (int i = 0; i < 1000; ++i) {
            sum = sum + pl::full(kShape, i, kF32);
        }
        refs[1][pl::all] = sum;
    });
    EXPECT_EQ(names.size(), std::size_t{(1 << 18) / (8 * 128)});
}

// NaN or Inf that an operation makes from other numbers must be found where it is made, in a run.
TEST(Constants, doNotHideWhereNanIsBorn)
{
    const auto body = [](const std::vector<pl::Ref>& refs) {
        const pl::Value none = pl::elementwise(ir::OpCode::Log, {pl::full(kShape, -1, kF32)});
        refs[1][pl::all] = refs[0][pl::all] + none;
    };
    EXPECT_EQ(constantsOf(body), (Names{"broadcast_in_dim"}));
    const machine::RunResult run = runOneStep(step(), body);
    ASSERT_EQ(findingsOf(run, "nan_born").size(), 1U);
    EXPECT_NE(findingsOf(run, "nan_born")[0].message.find("log makes NaN"), std::string::npos);
    EXPECT_EQ(constantsOf([](const std::vector<pl::Ref>& refs) {
                  refs[1][pl::all] = pl::maximum(refs[0][pl::all], pl::full(kShape, -kInf, kF32));
              }),
              (Names{"broadcast_in_dim"}));
}

// A constant is used again in each round of a loop, even though values are overwritten in between.
TEST(Constants, lastThroughLoopsAndRuns)
{
    const ir::Program program = oneStepProgram(step(), [](const std::vector<pl::Ref>& refs) {
        refs[1][pl::all] =
            pl::foriLoop(3, {refs[0][pl::all].load()}, [&](pl::Value, std::vector<pl::Value> sum) {
                const pl::Value two = pl::full(kShape, 1, kF32) + 1.0;
                return std::vector<pl::Value>{sum[0] * two};
            })[0];
    });
    const auto prepared = machine::prepare(program, v5e(), machine::ValueMode::Full, true);
    ASSERT_TRUE(prepared);
    for (int round = 0; round < 2; ++round) {
        const Result<machine::RunResult> run = machine::run(**prepared, step().inputs, {});
        ASSERT_TRUE(run);
        for (std::int64_t i = 0; i < kShape.elements(); ++i) {
            ASSERT_EQ(run->outputs[0].at(i), static_cast<double>(8 * i));
        }
    }
}

} // namespace pallascope::machine_test
