// Operations of a GPU's agents, on small arrays.
#include "core/ir/builder_gpu.h"
#include "tests/machine/ops/operation_cases.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;

// Brings x to SMEM, and stores it with 1 added in two copies of one group. The copy and the agent
// complete the barrier's phase together.
void copies()
{
    const auto body = [](pl::Ref x, pl::Ref out, const std::vector<pl::Ref>& refs) {
        gpu::setMaxRegisters(40, false);
        gpu::copyGmemToSmem(x, refs[0], refs[1]);
        gpu::barrierArrive(refs[1]);
        gpu::barrierWait(refs[1]);
        refs[0][pl::all] = refs[0][pl::all] + 1.0F;
        gpu::commitSmem();
        gpu::copySmemToGmem(refs[0].at(pl::ds(0, 128)), out.at(pl::ds(0, 128)), false);
        gpu::copySmemToGmem(refs[0].at(pl::ds(128, 128)), out.at(pl::ds(128, 128)), false);
        gpu::commitGroup();
        gpu::waitSmemToGmem(0, true);
        gpu::waitSmemToGmem(0);
    };
    const Array x = counting(kF32, {256});
    const machine::RunResult run = mustRun(
        mustTrace(pl::kernel("copies", {pl::in("x", kF32, {256}), pl::out("out", kF32, {256})},
                             [&](pl::Ref in, pl::Ref out) {
                                 gpu::launch({}, [&] {
                                     gpu::runScoped(
                                         {gpu::smem("tile", kF32, {256}), gpu::barrier("ready", 2)},
                                         true, [&](const auto& refs) { body(in, out, refs); });
                                 });
                             })),
        {x}, machine::ValueMode::Full, h100());
    EXPECT_EQ(findingsText(run), "");
    std::vector<double> expected = elementsOf(x);
    for (double& element : expected) {
        element += 1;
    }
    EXPECT_EQ(elementsOf(run.outputs[0]), expected);
}

// Adds x times x twice to what the accumulator holds, once with x in registers.
void products()
{
    const auto body = [](pl::Ref x, pl::Ref out, const std::vector<pl::Ref>& refs) {
        const pl::Value value = x[pl::all].load();
        refs[0][pl::all] = value;
        gpu::commitSmem();
        gpu::store(refs[1], pl::full({64, 64}, 3, kF32));
        gpu::wgmma(refs[1], refs[0], refs[0]);
        gpu::wgmma(refs[1], value, refs[0]);
        gpu::wgmmaWait(1);
        gpu::wgmmaWait(0);
        out[pl::all] = gpu::load(refs[1]);
    };
    std::vector<double> diagonal(64 * 64, 0.0), expected(64 * 64, 3.0);
    for (std::size_t i = 0; i < 64; ++i) {
        diagonal[i * 65] = static_cast<double>(i);
        expected[i * 65] += 2 * static_cast<double>(i * i);
    }
    const machine::RunResult run =
        mustRun(mustTrace(pl::kernel(
                    "products", {pl::in("x", DType::F16, {64, 64}), pl::out("out", kF32, {64, 64})},
                    [&](pl::Ref in, pl::Ref out) {
                        gpu::launch({}, [&] {
                            gpu::runScoped({gpu::smem("held", DType::F16, {64, 64}),
                                            gpu::accumulator("acc", {64, 64})},
                                           true, [&](const auto& refs) { body(in, out, refs); });
                        });
                    })),
                {arrayOf(DType::F16, {64, 64}, diagonal)}, machine::ValueMode::Full, h100());
    EXPECT_EQ(findingsText(run), "");
    EXPECT_EQ(elementsOf(run.outputs[0]), expected);
}

// Runs a kernel of one warpgroup that brings x to SMEM as `brings` does, and stores it from there.
void brought(const chip::Chip& chip,
             const std::function<void(pl::Ref x, const std::vector<pl::Ref>& refs)>& brings)
{
    const Array x = counting(kF32, {256});
    const machine::RunResult run = mustRun(
        mustTrace(pl::kernel("brought", {pl::in("x", kF32, {256}), pl::out("out", kF32, {256})},
                             [&](pl::Ref in, pl::Ref out) {
                                 const auto body = [&](const std::vector<pl::Ref>& refs) {
                                     brings(in, refs);
                                     out[pl::all] = refs[0][pl::all].load();
                                 };
                                 gpu::launch({}, [&] {
                                     gpu::runScoped(
                                         {gpu::smem("tile", kF32, {256}), gpu::barrier("ready")},
                                         true, body);
                                 });
                             })),
        {x}, machine::ValueMode::Full, chip);
    EXPECT_EQ(findingsText(run), "");
    EXPECT_EQ(elementsOf(run.outputs[0]), elementsOf(x));
}

void byAWarpgroup()
{
    brought(a100(), [](pl::Ref x, const std::vector<pl::Ref>& refs) {
        gpu::copyGmemToSmem(x, refs[0]);
        gpu::waitGmemToSmem(0);
    });
}

// The first look comes before the copy has landed.
void looks()
{
    brought(h100(), [](pl::Ref x, const std::vector<pl::Ref>& refs) {
        gpu::copyGmemToSmem(x, refs[0], refs[1]);
        const pl::Value no = pl::full({}, 0, DType::Bool);
        (void)pl::whileLoop(
            {no}, [&](std::vector<pl::Value> done) { return done[0] == no; },
            [&](std::vector<pl::Value>) {
                return std::vector<pl::Value>{gpu::barrierTest(refs[1])};
            });
    });
}

// Both GPUs load what the second one has.
void ofAnotherGpu()
{
    const Array x = counting(kF32, {256});
    const machine::RunResult run =
        mustRun(mustTrace(pl::kernel("of_another_gpu",
                                     {pl::sharded(pl::in("x", kF32, {128}), {{"d"}}),
                                      pl::sharded(pl::out("out", kF32, {128}), {{"d"}})},
                                     [&](pl::Ref in, pl::Ref out) {
                                         pl::onMesh({{"d", 2}});
                                         gpu::launch({}, [&] {
                                             out[pl::all] = pl::remoteRef(in, 1)[pl::all].load();
                                         });
                                     })),
                {x}, machine::ValueMode::Full, h100());
    EXPECT_EQ(findingsText(run), "");
    std::vector<double> expected = elementsOf(x);
    std::copy(expected.begin() + 128, expected.end(), expected.begin());
    EXPECT_EQ(elementsOf(run.outputs[0]), expected);
}

} // namespace

std::vector<OperationCase> gpuCases()
{
    return {{"copy_gmem_to_smem", copies},
            {"copy_smem_to_gmem", copies},
            {"commit_group", copies},
            {"wait_smem_to_gmem", copies},
            {"commit_smem", copies},
            {"barrier_arrive", copies},
            {"barrier_wait", copies},
            {"barrier_test", looks},
            {"wait_gmem_to_smem", byAWarpgroup},
            {"remote_ref", ofAnotherGpu},
            {"set_max_registers", copies},
            {"wgmma", products},
            {"wgmma_wait", products},
            {"wgmma_accumulator_deref", products},
            {"wgmma_accumulator_store", products}};
}

} // namespace pallascope::machine_test
