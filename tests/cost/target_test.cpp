// Kernels for TPUs are refused on GPUs, in one sentence that names what is of TPUs.
#include "core/cost/budget.h"
#include "core/cost/target.h"
#include "tests/cost/v5e.h"

#include <gtest/gtest.h>

namespace pallascope::cost_test {

namespace {

chip::Chip someGpu()
{
    return chip::parse(chip::chipText("h100_sxm"), "h100_sxm.json").value();
}

std::string refusalOnGpu(const Result<ir::Program>& program)
{
    EXPECT_TRUE(program) << (program ? "" : program.error().message);
    EXPECT_TRUE(cost::checkTarget(*program, v5e()));
    const Status status = cost::checkTarget(*program, someGpu());
    const auto budgets = cost::budgets(*program, someGpu());
    EXPECT_EQ(budgets.has_value(), status.has_value());
    if (status) {
        return "";
    }
    EXPECT_EQ(budgets.error().message, status.error().message);
    EXPECT_TRUE(status.error().isAbout(Subject::Chip));
    return status.error().message;
}

void expectTheWords(const std::string& message, const std::vector<std::string>& words)
{
    for (const std::string& word : words) {
        EXPECT_NE(message.find(word), std::string::npos) << message;
    }
}

} // namespace

TEST(Target, ofAKernelWithAPipelineIsATpu)
{
    const auto program = ir_test::traced(
        {pl::in("x", DType::F32, {8, 128}), pl::out("out", DType::F32, {8, 128})},
        [](const std::vector<pl::Ref>& refs) { refs[1][pl::all] = refs[0][pl::all]; });
    expectTheWords(refusalOnGpu(program),
                   {"small is a kernel for TPUs, for it has the operation pipeline at ",
                    "; NVIDIA H100 SXM is a GPU. Choose the chip of a TPU; "});
}

TEST(Target, ofAKernelInVmemIsATpu)
{
    const auto program =
        pl::kernel("scoped", {pl::out("out", DType::F32, {8, 128})}, [](const pl::Ref&) {
            pl::runScoped({{"buffer", DType::F32, {8, 128}}},
                          [](const std::vector<pl::Ref>&) -> std::vector<pl::Value> { return {}; });
        });
    expectTheWords(refusalOnGpu(program),
                   {"scoped is a kernel for TPUs, for it uses the memory vmem at "});
}

TEST(Target, ofAKernelWithoutBlocksIsNoGpu)
{
    const auto program = pl::kernel("idle", {pl::out("out", DType::F32, {8, 128})},
                                    [](const pl::Ref&) { pl::delay(100); });
    expectTheWords(refusalOnGpu(program), {"idle is a kernel for TPUs, for it has no core_map"});
}

TEST(Target, ofACoreMapWithoutAnythingOfTpusMayBeAGpu)
{
    const auto program =
        pl::kernel("blocks", {pl::out("out", DType::F32, {8, 128})},
                   [](const pl::Ref&) { pl::coreMap("wg", 2, [] { pl::delay(100); }); });
    EXPECT_EQ(refusalOnGpu(program), "");
}

} // namespace pallascope::cost_test
