// Sums of wgmma that do not fit in the 255 registers of a thread of an H100.
#include "core/cost/segment.h"
#include "core/cost/spilled_sums.h"
#include "core/ir/builder_gpu.h"
#include "tests/cost/v5e.h"

#include <gtest/gtest.h>

namespace pallascope::cost_test {

namespace {

namespace gpu = pl::gpu;

struct Parts
{
    Extent columns = 256;       // of each of two sums of 64 rows
    std::int32_t registers = 0; // that the kernel asks for
    bool increases = true;      // whether in place of fewer
    bool inLoop = true;         // whether products are added round by round
};

// Each round adds a product to both sums, one of them through a view, and has a sum of its own.
ir::Program twoSums(const Parts& parts)
{
    Result<ir::Program> program =
        pl::kernel("sums", {pl::out("out", kF32, {64, parts.columns})}, [&](const pl::Ref& out) {
            gpu::launch({}, [&] {
                if (parts.registers > 0) {
                    gpu::setMaxRegisters(parts.registers, parts.increases);
                }
                gpu::runScoped(
                    {gpu::smem("a", DType::F16, {64, 64}),
                     gpu::smem("b", DType::F16, {64, parts.columns}),
                     gpu::accumulator("first", {64, parts.columns}),
                     gpu::accumulator("second", {64, parts.columns})},
                    true, [&](const std::vector<pl::Ref>& refs) {
                        const auto round = [&] {
                            gpu::runScoped(
                                {gpu::accumulator("own", {64, parts.columns / 8})}, true,
                                [&](const std::vector<pl::Ref>& inner) {
                                    gpu::wgmma(inner[0], refs[0],
                                               refs[1].at({pl::all, pl::ds(0, parts.columns / 8)}));
                                    gpu::wgmmaWait(0);
                                });
                            gpu::wgmma(refs[2], refs[0], refs[1]);
                            gpu::wgmma(refs[3].at({pl::all, pl::all}), refs[0], refs[1]);
                        };
                        if (parts.inLoop) {
                            pl::foriLoop(4, {}, [&](pl::Value, const std::vector<pl::Value>&) {
                                round();
                                return std::vector<pl::Value>{};
                            });
                        } else {
                            round();
                        }
                        gpu::wgmmaWait(0);
                        out[{pl::all, pl::all}] = gpu::load(refs[2]) + gpu::load(refs[3]);
                    });
            });
        });
    EXPECT_TRUE(program) << (program ? "" : program.error().message);
    return std::move(*program);
}

const ir::Operation& coreMapOf(const ir::Program& program)
{
    const ir::Operation* found = nullptr;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        found = operation.code == ir::OpCode::CoreMap ? &operation : found;
    });
    return *found;
}

std::size_t spilledOf(const Parts& parts)
{
    const ir::Program program = twoSums(parts);
    return cost::spilledSums(program, coreMapOf(program), h100()).size();
}

} // namespace

TEST(SpilledSums, areThoseThatOutliveARoundWhereAllTogetherNeedTooManyRegisters)
{
    EXPECT_EQ(spilledOf({.columns = 256}), 2U) << "2 x 128 + 16 + 24 registers";
    EXPECT_EQ(spilledOf({.columns = 192}), 0U) << "2 x 96 + 12 + 24 registers";
}

TEST(SpilledSums, dependOnWhatTheKernelAsksFor)
{
    EXPECT_EQ(spilledOf({.columns = 192, .registers = 232}), 0U);
    EXPECT_EQ(spilledOf({.columns = 192, .registers = 224}), 2U);
    EXPECT_EQ(spilledOf({.columns = 192, .registers = 40, .increases = false}), 0U)
        << "those of an agent that only copies";
}

TEST(SpilledSums, stayWhereNoLoopAddsToThem)
{
    EXPECT_EQ(spilledOf({.columns = 256, .inLoop = false}), 0U);
}

TEST(SpilledSums, areStoredAndLoadedAroundEachProduct)
{
    const ir::Program program = twoSums({.columns = 256});
    const std::set<ir::ValueId> spilled = cost::spilledSums(program, coreMapOf(program), h100());
    std::vector<std::int64_t> awaited;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        if (operation.code == ir::OpCode::Wgmma) {
            const auto cost = cost::operationCost(
                program, operation, h100(), {.awaitsEachProduct = true, .spilledSums = &spilled});
            ASSERT_TRUE(cost) << cost.error().message;
            awaited.push_back(cost->awaited.value());
        }
    });
    // Four instructions are waited for, 67 cycles each; 64 x 256 sums of 4 bytes go and come by 15
    // bytes per cycle. The sum of the round itself stays.
    EXPECT_EQ(awaited, (std::vector<std::int64_t>{268, 4638, 4638}));
}

} // namespace pallascope::cost_test
