// SMEM of a GPU between loads and stores on the one hand and copies and products on the other: what
// lacks a commit_smem, and operands that change before a wait covers their product.
#include "core/ir/builder_gpu.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;
using Refs = std::vector<pl::Ref>;

constexpr Extent kElements = 256, kRefills = 4;

// Findings are structural, so both modes have the same.
machine::RunResult runBoth(const ir::Program& program, const std::vector<Array>& inputs)
{
    machine::RunResult full = mustRun(program, inputs, machine::ValueMode::Full, h100());
    EXPECT_EQ(findingsText(full),
              findingsText(mustRun(program, inputs, machine::ValueMode::Needed, h100())));
    return full;
}

void expectNotCommitted(const machine::RunResult& run)
{
    EXPECT_EQ(findingsOf(run, "not_committed").size(), 1U) << findingsText(run);
    EXPECT_EQ(run.trace->info().findings.size(), 1U) << findingsText(run);
}

// Stores to SMEM, and copies that out.
ir::Program storeProgram(bool commits)
{
    return mustTrace(
        pl::kernel("store", {pl::in("x", kF32, {kElements}), pl::out("y", kF32, {kElements})},
                   [&](pl::Ref x, pl::Ref y) {
                       gpu::launch({}, [&] {
                           const auto body = [&](const Refs& refs) {
                               refs[0][pl::all] = x[pl::all].load();
                               if (commits) {
                                   gpu::commitSmem();
                               }
                               gpu::copySmemToGmem(refs[0], y);
                               gpu::waitSmemToGmem(0);
                           };
                           gpu::runScoped({gpu::smem("tile", kF32, {kElements})}, true, body);
                       });
                   }));
}

enum class Commits
{
    Nobody,
    TheReader,
    TheOneWhoRefills
};

// Warpgroup 1 fills one slot again and again; warpgroup 0 loads from it.
ir::Program refillProgram(Commits commits)
{
    return mustTrace(pl::kernel(
        "refill",
        {pl::in("x", kF32, {kRefills, kElements}), pl::out("y", kF32, {kRefills, kElements})},
        [&](pl::Ref x, pl::Ref y) {
            gpu::launch({{}, 2, "wg"}, [&] {
                const auto body = [&](const Refs& refs) {
                    pl::when(pl::axisIndex("wg") == 1, [&] {
                        for (int row = 0; row < kRefills; ++row) {
                            if (row > 0) {
                                gpu::barrierWait(refs[2]);
                            }
                            if (commits == Commits::TheOneWhoRefills) {
                                gpu::commitSmem();
                            }
                            gpu::copyGmemToSmem(x.at({row, pl::all}), refs[0], refs[1]);
                        }
                    });
                    pl::when(pl::axisIndex("wg") == 0, [&] {
                        for (int row = 0; row < kRefills; ++row) {
                            gpu::barrierWait(refs[1]);
                            y[{row, pl::all}] = refs[0][pl::all].load();
                            if (commits == Commits::TheReader) {
                                gpu::commitSmem();
                            }
                            gpu::barrierArrive(refs[2]);
                        }
                        // so that no phase of `free` is left unseen
                        gpu::barrierWait(refs[3]);
                    });
                    pl::when(pl::axisIndex("wg") == 1, [&] {
                        gpu::barrierWait(refs[2]);
                        gpu::barrierArrive(refs[3]);
                    });
                };
                gpu::runScoped({gpu::smem("slot", kF32, {kElements}), gpu::barrier("full"),
                                gpu::barrier("free"), gpu::barrier("done")},
                               true, body);
            });
        }));
}

enum class Change
{
    None,
    StoreBefore,
    StoreDuring,
    StoreAfter,
    CopyDuring,
    CopyAfter
};

// A product whose left operand changes.
ir::Program changingProduct(Change change)
{
    constexpr Extent kSide = 64;
    return mustTrace(pl::kernel(
        "product",
        {pl::in("a", DType::F16, {kSide, kSide}), pl::in("b", DType::F16, {kSide, kSide}),
         pl::out("c", kF32, {kSide, kSide})},
        [&](pl::Ref a, pl::Ref b, pl::Ref c) {
            gpu::launch({}, [&] {
                const auto body = [&](const Refs& refs) {
                    const auto refill = [&] {
                        gpu::copyGmemToSmem(b, refs[0], refs[3]);
                        gpu::barrierWait(refs[3]);
                    };
                    const auto double_ = [&] {
                        refs[0][{pl::all, pl::all}] = refs[0][{pl::all, pl::all}].load() * 2.0F;
                    };
                    gpu::copyGmemToSmem(a, refs[0], refs[2]);
                    gpu::copyGmemToSmem(b, refs[1], refs[2]);
                    gpu::barrierWait(refs[2]);
                    if (change == Change::StoreBefore) {
                        double_();
                    }
                    gpu::wgmma(refs[4], refs[0], refs[1]);
                    change == Change::CopyDuring    ? refill()
                    : change == Change::StoreDuring ? double_()
                                                    : void();
                    gpu::wgmmaWait(0);
                    change == Change::CopyAfter    ? refill()
                    : change == Change::StoreAfter ? double_()
                                                   : void();
                    c[{pl::all, pl::all}] = gpu::load(refs[4]);
                };
                gpu::runScoped({gpu::smem("a_smem", DType::F16, {kSide, kSide}),
                                gpu::smem("b_smem", DType::F16, {kSide, kSide}),
                                gpu::barrier("ready", 2), gpu::barrier("again"),
                                gpu::accumulator("acc", {kSide, kSide})},
                               true, body);
            });
        }));
}

machine::RunResult runProduct(Change change)
{
    return runBoth(changingProduct(change),
                   {normalArray(DType::F16, {64, 64}, 0), normalArray(DType::F16, {64, 64}, 1)});
}

} // namespace

TEST(Proxies, aCopyOutNeedsACommitAfterTheStore)
{
    const Array x = counting(kF32, {kElements});
    expectNotCommitted(runBoth(storeProgram(false), {x}));
    EXPECT_EQ(findingsText(runBoth(storeProgram(true), {x})), "");
}

TEST(Proxies, aRefillNeedsACommitAfterTheLoadsOnEitherSide)
{
    const Array x = counting(kF32, {kRefills, kElements});
    expectNotCommitted(runBoth(refillProgram(Commits::Nobody), {x}));
    for (const Commits commits : {Commits::TheReader, Commits::TheOneWhoRefills}) {
        EXPECT_EQ(findingsText(runBoth(refillProgram(commits), {x})), "");
    }
}

TEST(Proxies, aProductNeedsACommitAfterTheStore)
{
    EXPECT_EQ(findingsText(runProduct(Change::None)), "");
    expectNotCommitted(runProduct(Change::StoreBefore));
}

TEST(Proxies, operandsStayUntilAWaitCoversTheirProduct)
{
    for (const Change change : {Change::StoreDuring, Change::CopyDuring}) {
        const machine::RunResult run = runProduct(change);
        EXPECT_EQ(findingsOf(run, "overwritten_in_flight").size(), 1U) << findingsText(run);
        EXPECT_EQ(run.trace->info().findings.size(), 1U) << findingsText(run);
    }
    for (const Change change : {Change::StoreAfter, Change::CopyAfter}) {
        EXPECT_EQ(findingsText(runProduct(change)), "");
    }
}

// A kernel that waits only until its stores have read SMEM: at its end they are done.
TEST(Proxies, storesAreDoneWhenTheirKernelEnds)
{
    const ir::Program program = mustTrace(pl::kernel(
        "two",
        {pl::in("x", kF32, {kElements}), pl::out("y", kF32, {kElements}),
         pl::out("z", kF32, {kElements})},
        [&](pl::Ref x, pl::Ref y, pl::Ref z) {
            const auto move = [](const pl::Ref& from, const pl::Ref& to) {
                gpu::launch({}, [&] {
                    gpu::runScoped({gpu::smem("tile", kF32, {kElements}), gpu::barrier("ready")},
                                   true, [&](const Refs& refs) {
                                       gpu::copyGmemToSmem(from, refs[0], refs[1]);
                                       gpu::barrierWait(refs[1]);
                                       gpu::copySmemToGmem(refs[0], to);
                                       gpu::waitSmemToGmem(0, true);
                                   });
                });
            };
            move(x, y);
            move(y, z);
        }));
    const Array x = counting(kF32, {kElements});
    const machine::RunResult run = runBoth(program, {x});
    EXPECT_EQ(findingsText(run), "");
    EXPECT_EQ(elementsOf(run.outputs[1]), elementsOf(x));
}

} // namespace pallascope::machine_test
