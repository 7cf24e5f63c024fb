// The kernel add_vectors: its sums, shapes and dtypes.
#include "tests/kernels/support.h"

#include <gtest/gtest.h>

#include <limits>

namespace pallascope::kernel_test {

namespace {

void expectSum(const KernelRun& run)
{
    const Array& out = run.result.outputs.at(0);
    ASSERT_EQ(out.dtype, run.inputs[0].dtype);
    ASSERT_EQ(out.shape, run.inputs[0].shape);
    const std::vector<double> x = elementsOf(run.inputs[0]), y = elementsOf(run.inputs[1]);
    for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(out.at(static_cast<std::int64_t>(i)), rounded(x[i] + y[i], out.dtype)) << i;
    }
    EXPECT_EQ(findingsText(run), "");
    EXPECT_TRUE(run.check.passed) << run.check.maxAbsError;
}

} // namespace

TEST(AddVectors, addsWholeArraysOfAnyRankAndType)
{
    for (const char* shape : {"1024", "1", "7", "3,2,128,4", "5x3", "2,3,1,2,2"}) {
        for (const char* dtype : {"f32", "bf16", "int32"}) {
            SCOPED_TRACE(std::string(shape) + " " + dtype);
            const KernelRun run = mustRun("add_vectors", {{"shape", shape}, {"dtype", dtype}});
            expectSum(run);
            EXPECT_TRUE(run.result.trace->info().pipelines.at(0).grid.empty());
        }
    }
}

TEST(AddVectors, addsInBlocksAlsoWhereTheLastOverhangs)
{
    const std::vector<std::array<std::string, 3>> cases{
        {"1024", "256", "4"}, {"1000", "256", "4"}, {"3,16,128", "1", "3"}, {"40,128", "16", "3"}};
    for (const auto& [shape, block, steps] : cases) {
        SCOPED_TRACE(shape + " in " + block);
        const KernelRun run = mustRun("add_vectors", {{"shape", shape}, {"block", block}});
        expectSum(run);
        EXPECT_EQ(run.result.trace->info().pipelines.at(0).steps, std::stoll(steps));
    }
}

TEST(AddVectors, roundsRealNumbersOnce)
{
    for (const char* dtype : {"f32", "bf16"}) {
        SCOPED_TRACE(dtype);
        expectSum(mustRun("add_vectors", {{"shape", "4096"}, {"dtype", dtype}}, Inputs::Normal));
    }
}

TEST(AddVectors, checkSeesOneWrongElementAndNaN)
{
    const KernelRun run = mustRun("add_vectors", {{"shape", "100"}});
    Array out = makeArray(DType::F32, Shape({100}));
    std::copy_n(run.result.outputs[0].as<float>(), 100, out.as<float>());
    out.as<float>()[99] += 1;
    const auto comparison = kernels::find("add_vectors")->check(run.arguments, run.inputs, {out});
    EXPECT_FALSE(comparison.passed);
    EXPECT_EQ(comparison.maxAbsError, 1);
    out.as<float>()[0] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(kernels::find("add_vectors")->check(run.arguments, run.inputs, {out}).passed);
}

} // namespace pallascope::kernel_test
