// Dtypes in programs: literals, runs, and how packed elements are counted.
#include "core/base/element.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace pallascope::dtype_test {

namespace {

using machine_test::OneStep;

std::string mistakeOf(DType type, double number)
{
    const auto kernel = [&](pl::Ref x, pl::Ref out) {
        pl::pallasCall({.in = {pl::wholeArray()}, .out = {pl::wholeArray()}},
                       [&](pl::Ref xBlock, pl::Ref outBlock) {
                           outBlock[pl::all] = xBlock[pl::all] + number;
                       })(x, out);
    };
    const Result<ir::Program> program =
        pl::kernel("k", {pl::in("x", type, {8, 128}), pl::out("out", type, {8, 128})}, kernel);
    return program ? "" : program.error().message;
}

TEST(DTypeProgramTest, literalsThatADtypeLacksAreNamed)
{
    EXPECT_NE(mistakeOf(DType::Int8, 300)
                  .find("300 does not fit int8; expected a whole number from -128 to 127"),
              std::string::npos);
    EXPECT_NE(mistakeOf(DType::UInt4, -1)
                  .find("-1 does not fit uint4; expected a whole number from 0 to 15"),
              std::string::npos);
    EXPECT_NE(mistakeOf(DType::Int32, 0.5).find("0.5 does not fit int32"), std::string::npos);
    EXPECT_EQ(mistakeOf(DType::UInt32, 4294967295.0), "");
    EXPECT_EQ(mistakeOf(DType::F8E4M3FN, 1e6), "") << "NaN, as JAX makes of it";
}

TEST(DTypeProgramTest, literalsAreRoundedToTheirDtype)
{
    const Array x = machine_test::arrayOf(DType::BF16, {1}, {1});
    const auto run =
        machine_test::runOneStep({{x}, DType::F32, {1}}, [](const std::vector<pl::Ref>& refs) {
            refs[1][{0}] = pl::convert(pl::full({}, 0.1, DType::BF16), DType::F32);
        });
    EXPECT_EQ(run.outputs[0].at(0), 0.10009765625); // 205 / 2048
}

TEST(DTypeProgramTest, minusZeroAndNanAreLiteralsOfTheirOwn)
{
    const Array x = machine_test::arrayOf(DType::F32, {1}, {1});
    const auto run =
        machine_test::runOneStep({{x}, DType::F32, {3}}, [](const std::vector<pl::Ref>& refs) {
            refs[1][{0}] = pl::full({}, 0.0, DType::F32);
            refs[1][{1}] = pl::full({}, -0.0, DType::F32);
            refs[1][{2}] = pl::full({}, std::numeric_limits<double>::quiet_NaN(), DType::F32);
        });
    EXPECT_FALSE(std::signbit(run.outputs[0].at(0)));
    EXPECT_TRUE(std::signbit(run.outputs[0].at(1)));
    EXPECT_TRUE(std::isnan(run.outputs[0].at(2)));
}

class DTypeRun : public testing::TestWithParam<DTypeEntry>
{
protected:
    DType m_type = GetParam().type;
};

// Half of the blocks go through f32, which holds these values exactly.
TEST_P(DTypeRun, copiesAndComputesInBlocks)
{
    constexpr Extent kRows = 256, kBlock = 64, kColumns = 128;
    const auto kernel = [&](pl::Ref x, pl::Ref out) {
        const auto block = pl::block({kBlock, kColumns}, [](auto i) { return pl::at(i, 0); });
        pl::pallasCall({.grid = {kRows / kBlock}, .in = {block}, .out = {block}},
                       [&](pl::Ref xBlock, pl::Ref outBlock) {
                           const pl::Value value = xBlock[pl::all].load();
                           outBlock[pl::all] =
                               pl::select(pl::programId(0) < 2, value,
                                          pl::convert(pl::convert(value, DType::F32), m_type));
                       })(x, out);
    };
    const ir::Program program = machine_test::mustTrace(pl::kernel(
        "k", {pl::in("x", m_type, {kRows, kColumns}), pl::out("out", m_type, {kRows, kColumns})},
        kernel));
    const Array x = normalArray(m_type, {kRows, kColumns}, 1);
    const auto run = machine_test::mustRun(program, {x});
    EXPECT_EQ(machine_test::findingsText(run), "");
    EXPECT_EQ(std::memcmp(run.outputs[0].data.get(), x.data.get(),
                          static_cast<std::size_t>(x.byteCount())),
              0);

    const trace::Operand& operand = run.trace->info().operands[0];
    const Bytes block(kBlock * kColumns * dtypeBits(m_type) / 8);
    EXPECT_EQ(operand.blockBytes, block);
    EXPECT_EQ(operand.arrayBytes, block * 4);
    EXPECT_EQ(operand.slotBytes, block) << "whole tiles: no padding";
    for (std::size_t i = 0; i < run.trace->copies().size(); ++i) {
        EXPECT_EQ(run.trace->copies().bytes[i], block.value());
    }
}

INSTANTIATE_TEST_SUITE_P(Of, DTypeRun, testing::ValuesIn(kDTypes),
                         [](const auto& test) { return std::string(test.param.name); });

} // namespace

} // namespace pallascope::dtype_test
