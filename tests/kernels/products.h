// What the tests of the kernels that multiply matrices share.
#pragma once

#include "tests/kernels/support.h"

#include <gtest/gtest.h>

namespace pallascope::kernel_test {

// Compares exactly: the inputs are small integers, so every sum is exact in f32.
inline void expectProduct(const KernelRun& run)
{
    const Array& out = run.result.outputs.at(0);
    const Eigen::MatrixXd product = matrixOf(run.inputs[0]) * matrixOf(run.inputs[1]);
    const Eigen::MatrixXd expected =
        product.unaryExpr([&](double value) { return rounded(value, out.dtype); });
    EXPECT_EQ((matrixOf(out) - expected).cwiseAbs().maxCoeff(), 0.0);
    EXPECT_EQ(findingsText(run), "");
    EXPECT_TRUE(run.check.passed) << run.check.maxAbsError;
}

// The values are right, nothing is found, and a run of needed values takes as long.
inline void expectTheSameInBothModes(const std::string& kernel, const Parameters& parameters)
{
    const KernelRun full = mustRun(kernel, parameters);
    EXPECT_EQ(findingsText(full), "");
    EXPECT_TRUE(full.check.passed) << full.check.maxAbsError;
    const KernelRun needed =
        mustRun(kernel, parameters, Inputs::Integers, machine::ValueMode::Needed);
    EXPECT_EQ(findingsText(needed), "");
    EXPECT_EQ(full.result.trace->end(), needed.result.trace->end());
}

} // namespace pallascope::kernel_test
