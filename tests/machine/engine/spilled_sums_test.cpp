// A warpgroup whose sums do not fit in registers waits for each product.
#include "core/ir/builder_gpu.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;

constexpr int kSpillingRounds = 4;

// Each round adds products to two sums and waits for them at its end only.
trace::Trace traceOfTwoSums(Extent columns)
{
    const ir::Program program = mustTrace(
        pl::kernel("sums", {pl::out("out", kF32, {64, columns})}, [&](const pl::Ref& out) {
            gpu::launch({}, [&] {
                gpu::runScoped(
                    {gpu::smem("a", DType::F16, {64, 64}),
                     gpu::smem("b", DType::F16, {64, columns}),
                     gpu::accumulator("first", {64, columns}),
                     gpu::accumulator("second", {64, columns})},
                    true, [&](const std::vector<pl::Ref>& refs) {
                        pl::foriLoop(kSpillingRounds, {},
                                     [&](pl::Value, const std::vector<pl::Value>&) {
                                         gpu::wgmma(refs[2], refs[0], refs[1]);
                                         gpu::wgmma(refs[3], refs[0], refs[1]);
                                         gpu::wgmmaWait(0);
                                         return std::vector<pl::Value>{};
                                     });
                        out[{pl::all, pl::all}] = gpu::load(refs[2]) + gpu::load(refs[3]);
                    });
            });
        }));
    return *mustRun(program, {}, machine::ValueMode::Needed, h100()).trace;
}

std::int64_t waitsFor(const trace::Trace& trace, std::string_view operation)
{
    std::int64_t count = 0;
    for (const std::int32_t of : trace.waits().operation) {
        count += of != trace::kNone
                         && trace.info().operations[static_cast<std::size_t>(of)].name == operation
                     ? 1
                     : 0;
    }
    return count;
}

} // namespace

TEST(SpilledSums, areWaitedForProductByProduct)
{
    const trace::Trace fitting = traceOfTwoSums(192), spilling = traceOfTwoSums(256);
    EXPECT_EQ(waitsFor(fitting, "wgmma"), 0);
    EXPECT_EQ(waitsFor(spilling, "wgmma"), 2 * kSpillingRounds);
    // 4638 cycles at 1.755 GHz after each product.
    EXPECT_GT(spilling.end() - fitting.end(), Picoseconds(2 * kSpillingRounds * 2'642'000));
    EXPECT_LT(spilling.end() - fitting.end(), Picoseconds(2 * kSpillingRounds * 2'800'000));
}

} // namespace pallascope::machine_test
