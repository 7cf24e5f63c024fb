// Kernels for TPUs are refused on GPUs, in one sentence that names what is of TPUs.
#include "core/cost/budget.h"
#include "core/cost/target.h"
#include "core/ir/builder_gpu.h"
#include "tests/cost/v5e.h"

#include <gtest/gtest.h>

namespace pallascope::cost_test {

namespace {

std::string refusalOnGpu(const Result<ir::Program>& program)
{
    EXPECT_TRUE(program) << (program ? "" : program.error().message);
    EXPECT_TRUE(cost::checkTarget(*program, v5e()));
    const Status status = cost::checkTarget(*program, h100());
    const auto budgets = cost::budgets(*program, h100());
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

namespace {

// Multiplies a tile that it copies from itself, as a kernel for Hopper does.
Result<ir::Program> hopperProduct()
{
    namespace gpu = pl::gpu;
    const Shape square{64, 64};
    return pl::kernel("product", {pl::in("x", DType::F16, square)}, [&](const pl::Ref& x) {
        gpu::launch({}, [&] {
            gpu::runScoped({gpu::smem("tile", DType::F16, square), gpu::barrier("ready"),
                            gpu::accumulator("sum", square)},
                           true, [&](const std::vector<pl::Ref>& refs) {
                               gpu::copyGmemToSmem(x, refs[0], refs[1]);
                               gpu::barrierWait(refs[1]);
                               gpu::wgmma(refs[2], refs[0], refs[0]);
                               gpu::wgmmaWait(0);
                           });
        });
    });
}

std::string refusalOn(const Result<ir::Program>& program, const std::string& chip)
{
    EXPECT_TRUE(program) << (program ? "" : program.error().message);
    const Status status =
        cost::checkTarget(*program, chip::parse(chip::chipText(chip), chip + ".json").value());
    return status ? "" : status.error().message;
}

} // namespace

TEST(Target, ofAKernelWithBarriersIsAGpu)
{
    expectTheWords(refusalOn(hopperProduct(), "tpu_v5e"),
                   {"product is a kernel for GPUs, for it allocates a barrier at ",
                    "; TPU v5e is a TPU. Choose the chip of a GPU; "});
}

TEST(Target, ofAKernelWhoseBlocksAccessHbmIsAGpu)
{
    const auto program =
        pl::kernel("direct", {pl::out("out", DType::F32, {8, 128})}, [](const pl::Ref& out) {
            pl::gpu::launch({}, [&] { out[pl::all] = pl::full({8, 128}, 0, DType::F32); });
        });
    EXPECT_EQ(refusalOn(program, "l4"), "");
    expectTheWords(refusalOn(program, "tpu_v5e"),
                   {"direct is a kernel for GPUs, for its blocks access HBM directly, by the "
                    "core_map at "});
}

TEST(Target, ofAKernelWithWgmmaIsAHopperGpu)
{
    for (const char* chip : {"h100_sxm", "h100_pcie", "h200"}) {
        EXPECT_EQ(refusalOn(hopperProduct(), chip), "") << chip;
    }
    expectTheWords(refusalOn(hopperProduct(), "b200"),
                   {"product has the operation wgmma at ",
                    ", which GPUs of compute capability 9.x have; NVIDIA B200 has 10.0. Choose "
                    "another GPU; "});
    expectTheWords(refusalOn(hopperProduct(), "a100_80"),
                   {"product has the operation wgmma at ", "capability 9.x have; ", " has 8.0."});
}

TEST(Target, takesClustersOfAsManyBlocksAsItsChip)
{
    const auto blocks = [](std::int32_t size) {
        pl::gpu::Launch launch;
        launch.cluster = {{"c", size}};
        return pl::kernel(
            "clusters", {pl::out("out", DType::F32, {8, 128})}, [&](const pl::Ref& out) {
                pl::gpu::launch(launch, [&] { out[pl::all] = pl::full({8, 128}, 0, DType::F32); });
            });
    };
    EXPECT_EQ(refusalOn(blocks(16), "h100_sxm"), "");
    EXPECT_EQ(refusalOn(blocks(17), "h100_sxm"),
              "clusters has clusters of 17 blocks; NVIDIA H100 SXM takes 16 at most.");
    EXPECT_EQ(refusalOn(blocks(2), "l4"),
              "clusters has clusters of 2 blocks; NVIDIA L4 has no clusters.");
    EXPECT_EQ(refusalOn(blocks(1), "l4"), "");
}

TEST(Target, ofACoreMapWithoutAnythingOfTpusMayBeAGpu)
{
    const auto program =
        pl::kernel("blocks", {pl::out("out", DType::F32, {8, 128})},
                   [](const pl::Ref&) { pl::coreMap("wg", 2, [] { pl::delay(100); }); });
    EXPECT_EQ(refusalOnGpu(program), "");
}

} // namespace pallascope::cost_test
