// The kernels for GPUs that go through rows: sums and softmax.
#include "core/base/element.h"
#include "tests/kernels/support.h"

#include <gtest/gtest.h>

namespace pallascope::kernel_test {

namespace {

// Runs a kernel of 24 tiles with every combination of its improvements.
template<class Visit>
void forEveryImprovement(const Parameters& small, const Visit& visit)
{
    for (const char* copies : {"tma", "direct"}) {
        for (const char* persistent : {"0", "4", "5"}) {
            for (const char* stages : {"1", "2", "8"}) {
                const Parameters parameters = with(
                    small, {{"copies", copies}, {"persistent", persistent}, {"stages", stages}});
                SCOPED_TRACE(testing::PrintToString(parameters));
                visit(parameters);
            }
        }
    }
}

void expectRight(const std::string& kernel, const Parameters& parameters)
{
    const KernelRun run = mustRun(kernel, parameters, Inputs::Normal);
    EXPECT_TRUE(run.check.passed) << run.check.maxRelError;
    EXPECT_EQ(findingsText(run), "");
    const KernelRun needed =
        mustRun(kernel, parameters, Inputs::Normal, machine::ValueMode::Needed);
    EXPECT_EQ(findingsText(needed), "");
    EXPECT_EQ(needed.result.trace->end(), run.result.trace->end());
}

const Parameters kRows{{"rows", "96"}, {"block", "4"}, {"columns", "128"}};

} // namespace

TEST(GpuAddVectors, addsWithEveryCombinationOfItsImprovements)
{
    forEveryImprovement(
        kRows, [](const Parameters& parameters) { expectRight("gpu_add_vectors", parameters); });
    expectRight("gpu_add_vectors", with(kRows, {{"dtype", "bf16"}, {"columns", "640"}}));
}

TEST(GpuSoftmax, isRightWithEveryCombinationOfItsImprovements)
{
    for (const char* passes : {"1", "3"}) {
        forEveryImprovement(with(kRows, {{"passes", passes}}), [](const Parameters& parameters) {
            expectRight("gpu_softmax", parameters);
        });
    }
    expectRight("gpu_softmax", with(kRows, {{"dtype", "bf16"}, {"columns", "640"}}));
}

// Long rows round more often: 1024 numbers are more than a bound for short rows allows.
TEST(GpuSoftmax, isRightAtItsDefaultSize)
{
    expectRight("gpu_softmax", {});
}

// An element that is off by more than rounding fails the check.
TEST(GpuSoftmax, isCheckedElementByElement)
{
    const KernelRun run = mustRun("gpu_softmax", kRows, Inputs::Normal);
    Array wrong = run.result.outputs[0];
    writeElement(wrong.dtype, wrong.data.get(), 777, wrong.at(777) + 1e-3);
    EXPECT_FALSE(kernels::find("gpu_softmax")->check(run.arguments, run.inputs, {wrong}).passed);
}

TEST(GpuRows, refuseTilesThatDoNotDivideThem)
{
    for (const std::string kernel : {"gpu_add_vectors", "gpu_softmax"}) {
        EXPECT_EQ(refusal(kernel, with(kRows, {{"rows", "90"}})),
                  "The parameter rows of " + kernel + " is 90; expected a multiple of 4.");
        EXPECT_NE(
            refusal(kernel, {{"stages", "64"}, {"block", "128"}}).find("bytes of shared memory"),
            std::string::npos);
    }
}

} // namespace pallascope::kernel_test
