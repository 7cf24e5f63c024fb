// The check of matrix products must fail for results that are wrong in only one place.
#include "tests/kernels/support.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pallascope::kernel_test {

namespace {

const Parameters kSmall{{"m", "64"},  {"n", "256"},  {"k", "128"},
                        {"bm", "32"}, {"bn", "128"}, {"bk", "128"}};

kernels::Comparison checkWith(const KernelRun& run, std::int64_t element, float value)
{
    Array out = makeArray(DType::F32, run.result.outputs[0].shape);
    std::copy_n(run.result.outputs[0].as<float>(), out.shape.elements(), out.as<float>());
    out.as<float>()[element] = value;
    return kernels::find("matmul")->check(run.arguments, run.inputs, {out});
}

} // namespace

TEST(MatmulCheck, seesOneWrongElementWhereverItStands)
{
    const KernelRun run = mustRun("matmul", kSmall, Inputs::Normal);
    ASSERT_TRUE(run.check.passed);
    const Array& out = run.result.outputs[0];
    for (std::int64_t element = 0; element < out.shape.elements(); element += 61) {
        const auto right = static_cast<float>(out.at(element));
        ASSERT_FALSE(checkWith(run, element, right + 1).passed) << element;
        ASSERT_TRUE(checkWith(run, element, right).passed) << element;
    }
}

TEST(MatmulCheck, seesNaNAndInfinity)
{
    const KernelRun run = mustRun("matmul", kSmall);
    const auto nan = checkWith(run, 0, std::numeric_limits<float>::quiet_NaN());
    EXPECT_FALSE(nan.passed);
    EXPECT_TRUE(std::isnan(nan.maxAbsError));
    EXPECT_FALSE(checkWith(run, 300, std::numeric_limits<float>::infinity()).passed);
}

TEST(MatmulCheck, saysTheErrorAndItsShareOfTheLargestValue)
{
    const KernelRun run = mustRun("matmul", kSmall);
    const Eigen::MatrixXd product = matrixOf(run.inputs[0]) * matrixOf(run.inputs[1]);
    EXPECT_EQ(run.check.maxAbsError, 0); // the inputs are small integers
    // Row 0 is one of the rows that are sampled.
    const auto comparison = checkWith(run, 5, static_cast<float>(product(0, 5)) + 3);
    EXPECT_EQ(comparison.maxAbsError, 3);
    EXPECT_LE(comparison.maxRelError * product.cwiseAbs().maxCoeff(), 3.0001 * 2);
    EXPECT_GE(comparison.maxRelError, 3 / product.cwiseAbs().maxCoeff());
}

} // namespace pallascope::kernel_test
