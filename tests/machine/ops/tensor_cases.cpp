// Operations on a GPU's tensor memory, of the warps of a warpgroup and of further work, on small
// arrays.
#include "core/ir/builder_tensor.h"
#include "tests/machine/ops/operation_cases.h"
#include "tests/machine/support.h"
#include "tests/machine/tensor_product.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;

constexpr Extent kProductRows = 128;

// x times x, added to what a copy out of SMEM has brought, which is x.
void tensorProducts()
{
    const auto body = [](pl::Ref x, pl::Ref out, const std::vector<pl::Ref>& refs) {
        multiplyInTensorMemory(x, refs);
        const pl::Value sum = refs[1][pl::all].load();
        gpu::waitLoadTmem();
        refs[1][pl::all] = sum + 1.0F;
        gpu::commitTmem();
        out[pl::all] = refs[1][pl::all].load();
    };
    std::vector<double> diagonal(kProductRows * kProductRows, 0.0),
        expected(kProductRows * kProductRows, 1.0);
    for (std::size_t i = 0; i < kProductRows; ++i) {
        diagonal[i * (kProductRows + 1)] = static_cast<double>(i % 8);
        expected[i * (kProductRows + 1)] += static_cast<double>(i % 8 * (i % 8) + i % 8);
    }
    const Shape square{kProductRows, kProductRows};
    const machine::RunResult run = mustRun(
        mustTrace(pl::kernel("products", {pl::in("x", kF32, square), pl::out("out", kF32, square)},
                             [&](pl::Ref in, pl::Ref out) {
                                 gpu::launch({}, [&] {
                                     gpu::runScoped(
                                         {gpu::smem("held", kF32, square), gpu::tmem("sum", square),
                                          gpu::barrier("done")},
                                         true, [&](const auto& refs) { body(in, out, refs); });
                                 });
                             })),
        {arrayOf(kF32, square, diagonal)}, machine::ValueMode::Full, b200());
    EXPECT_EQ(findingsText(run), "");
    EXPECT_EQ(elementsOf(run.outputs[0]), expected);
}

// Of ones: the scales of a row are 1 and 2, each for half of k, those of a column 4.
void scaledProducts()
{
    constexpr Extent kScales = 2;
    constexpr double kOne = 127, kTwo = 128, kFour = 129; // exponents, as uint8
    const auto body = [](pl::Ref ofRows, pl::Ref ofColumns, pl::Ref out,
                         const std::vector<pl::Ref>& refs) {
        refs[0][pl::all] = pl::full(Shape{kProductRows, kProductRows}, 1, kF32);
        refs[1][pl::all] = ofRows[pl::all].load();
        refs[2][pl::all] = ofColumns[pl::all].load();
        gpu::commitTmem();
        gpu::commitSmem();
        gpu::tensorMultiply({refs[3], refs[0], refs[0]}, {refs[1], refs[2]},
                            pl::full(Shape{}, 0, DType::Bool));
        gpu::tensorCommitArrive(refs[4]);
        gpu::barrierWait(refs[4]);
        out[pl::all] = refs[3][pl::all].load();
    };
    const Shape square{kProductRows, kProductRows}, scales{kProductRows, kScales};
    std::vector<double> ofRows, ofColumns(kProductRows * kScales, kFour);
    for (Extent row = 0; row < kProductRows; ++row) {
        ofRows.insert(ofRows.end(), {kOne, kTwo});
    }
    const auto kernel = [&](pl::Ref rows, pl::Ref columns, pl::Ref out) {
        gpu::launch({}, [&] {
            gpu::runScoped({gpu::smem("ones", kF32, square),
                            gpu::tmem("of_rows", scales, DType::UInt8),
                            gpu::tmem("of_columns", scales, DType::UInt8), gpu::tmem("sum", square),
                            gpu::barrier("done")},
                           true, [&](const auto& refs) { body(rows, columns, out, refs); });
        });
    };
    const machine::RunResult run =
        mustRun(mustTrace(pl::kernel("scaled",
                                     {pl::in("rows", DType::UInt8, scales),
                                      pl::in("columns", DType::UInt8, scales),
                                      pl::out("out", kF32, square)},
                                     kernel)),
                {arrayOf(DType::UInt8, scales, ofRows), arrayOf(DType::UInt8, scales, ofColumns)},
                machine::ValueMode::Full, b200());
    EXPECT_EQ(findingsText(run), "");
    EXPECT_EQ(elementsOf(run.outputs[0]),
              std::vector<double>(kProductRows * kProductRows, kProductRows / 2 * (1 * 4 + 2 * 4)));
}

// One warp copies x in, another one waits for it and stores it.
void warps()
{
    const auto body = [](pl::Ref x, pl::Ref out, const std::vector<pl::Ref>& refs) {
        gpu::warpMap({0, 2}, {[&] { gpu::copyGmemToSmem(x, refs[0], refs[1]); },
                              [&] {
                                  gpu::barrierWait(refs[1]);
                                  gpu::copySmemToGmem(refs[0], out);
                                  gpu::waitSmemToGmem(0);
                              }});
    };
    const Array x = counting(kF32, {256});
    const machine::RunResult run = mustRun(
        mustTrace(pl::kernel("warps", {pl::in("x", kF32, {256}), pl::out("out", kF32, {256})},
                             [&](pl::Ref in, pl::Ref out) {
                                 gpu::launch({}, [&] {
                                     gpu::runScoped(
                                         {gpu::smem("tile", kF32, {256}), gpu::barrier("ready")},
                                         true, [&](const auto& refs) { body(in, out, refs); });
                                 });
                             })),
        {x}, machine::ValueMode::Full, b200());
    EXPECT_EQ(findingsText(run), "");
    EXPECT_EQ(elementsOf(run.outputs[0]), elementsOf(x));
}

// The first block claims the second one, which does not run by itself, and learns that there is no
// third one.
void claims()
{
    const auto body = [](pl::Ref out, const std::vector<pl::Ref>& refs) {
        for (int i = 0; i < 2; ++i) {
            gpu::tryClusterCancel(refs[0].at(pl::ds(i, 1)), refs[1]);
            gpu::barrierWait(refs[1]);
        }
        out[pl::all] = refs[0][pl::all].load();
    };
    chip::Chip one = b200();
    one.agents.front().slots = 1;
    const machine::RunResult run = mustRun(
        mustTrace(pl::kernel("claims", {pl::out("out", kInt, {2})},
                             [&](pl::Ref out) {
                                 gpu::launch({{{"block", 2}}}, [&] {
                                     gpu::runScoped(
                                         {gpu::smem("answers", kInt, {2}), gpu::barrier("asked"),
                                          gpu::smem("most", kF32, {50000})},
                                         true, [&](const auto& refs) { body(out, refs); });
                                 });
                             })),
        {}, machine::ValueMode::Full, one);
    EXPECT_EQ(findingsText(run), "");
    EXPECT_EQ(elementsOf(run.outputs[0]), (std::vector<double>{1, -1}));
}

} // namespace

std::vector<OperationCase> tensorCases()
{
    const auto products = [] {
        tensorProducts();
        scaledProducts();
    };
    return {{"tcgen05_mma", products},
            {"tcgen05_commit_arrive", tensorProducts},
            {"async_copy_smem_to_tmem", tensorProducts},
            {"wait_load_tmem", tensorProducts},
            {"commit_tmem", tensorProducts},
            {"try_cluster_cancel", claims},
            {"warp_map", warps}};
}

} // namespace pallascope::machine_test
