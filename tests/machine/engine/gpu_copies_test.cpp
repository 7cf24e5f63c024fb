// Copies of a GPU that reduce, copies of cp.async that warpgroups make themselves, and several
// copies that arrive together.
#include "core/ir/builder_gpu.h"
#include "core/ir/tracer.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::machine_test {

namespace {

namespace gpu = pl::gpu;
using Refs = std::vector<pl::Ref>;
using Body = std::function<void(pl::Ref x, pl::Ref y, const Refs& refs)>;

constexpr Extent kElements = 128;

// One warpgroup with SMEM of x's size and a barrier for two arrivals.
ir::Program withSmem(DType dtype, Extent rows, const Body& body)
{
    return mustTrace(pl::kernel(
        "copies", {pl::in("x", dtype, {rows, kElements}), pl::out("y", dtype, {rows, kElements})},
        [&](pl::Ref x, pl::Ref y) {
            gpu::launch({}, [&] {
                gpu::runScoped(
                    {gpu::smem("tile", dtype, {rows, kElements}), gpu::barrier("ready", 2)}, true,
                    [&](const Refs& refs) { body(x, y, refs); });
            });
        }));
}

machine::RunResult runOn(const chip::Chip& chip, const ir::Program& program, const Array& x)
{
    return mustRun(program, {x}, machine::ValueMode::Full, chip);
}

// x is stored, and reduced into once more with each of its elements plus one.
std::vector<double> reduced(ir::AtomicType type, DType dtype)
{
    const ir::Program program = withSmem(dtype, 1, [&](pl::Ref x, pl::Ref y, const Refs& refs) {
        y[pl::all] = x[pl::all].load();
        refs[0][pl::all] = x[pl::all].load() + pl::full({1, kElements}, 1, dtype);
        gpu::commitSmem();
        gpu::copySmemToGmem(refs[0], y, ir::StoreCopyParams{.reduction = type});
        gpu::waitSmemToGmem(0);
    });
    const machine::RunResult run = runOn(h100(), program, counting(dtype, {1, kElements}));
    EXPECT_EQ(findingsText(run), "");
    return elementsOf(run.outputs[0]);
}

// A copy of cp.async into each of two rows.
ir::Program ownCopies(std::int32_t leaves)
{
    return withSmem(kF32, 2, [=](pl::Ref x, pl::Ref y, const Refs& refs) {
        for (const int row : {0, 1}) {
            gpu::copyGmemToSmem(x.at({row, pl::all}), refs[0].at({row, pl::all}));
        }
        gpu::waitGmemToSmem(leaves);
        y.at({0, pl::all})[pl::all] = refs[0].at({0, pl::all})[pl::all].load();
        y.at({1, pl::all})[pl::all] = refs[0].at({1, pl::all})[pl::all].load();
        gpu::waitGmemToSmem(0);
    });
}

// A copy of rows from `first` on, of which there are two, for which nobody waits.
ir::Program prefetched(std::int64_t first)
{
    return withSmem(kF32, 2, [=](pl::Ref x, pl::Ref y, const Refs& refs) {
        y[pl::all] = x[pl::all].load();
        pl::foriLoop(1, {}, [&](pl::Value i, std::vector<pl::Value>) {
            gpu::copyGmemToSmem(x.at({pl::ds(i + static_cast<int>(first), 2), pl::all}), refs[0],
                                refs[1]);
            return std::vector<pl::Value>();
        });
    });
}

// Two copies that arrive on one barrier, of which nobody waits for both.
ir::Program readEarly(std::int32_t arrivals, bool waits)
{
    const Shape shape{kElements};
    return mustTrace(pl::kernel(
        "early", {pl::in("x", kF32, shape), pl::in("y", kF32, shape), pl::out("z", kF32, shape)},
        [&](pl::Ref x, pl::Ref y, pl::Ref z) {
            gpu::launch({}, [&] {
                gpu::runScoped({gpu::smem("one", kF32, shape), gpu::smem("two", kF32, shape),
                                gpu::barrier("both", arrivals)},
                               true, [&](const Refs& refs) {
                                   gpu::copyGmemToSmem(x, refs[0], refs[2]);
                                   gpu::copyGmemToSmem(y, refs[1], refs[2]);
                                   if (waits) {
                                       gpu::barrierWait(refs[2]);
                                   }
                                   const pl::Value one = refs[0][pl::all].load();
                                   z[pl::all] = one + refs[1][pl::all].load();
                               });
            });
        }));
}

} // namespace

// One missing wait is one finding, whatever was copied, and names the barrier.
TEST(GpuCopies, ofOneBarrierHaveOneFindingThatNamesIt)
{
    const auto foundIn = [](const ir::Program& program) {
        const auto x = counting(kF32, {kElements});
        const machine::RunResult run = mustRun(program, {x, x}, machine::ValueMode::Full, h100());
        std::vector<std::string> messages;
        for (const trace::Finding& one : run.trace->info().findings) {
            messages.push_back(one.kind + ": " + one.message);
        }
        return messages;
    };
    EXPECT_TRUE(foundIn(readEarly(2, true)).empty());
    const auto none = foundIn(readEarly(2, false));
    ASSERT_FALSE(none.empty());
    EXPECT_EQ(none.size(), 1U) << none.back();
    EXPECT_TRUE(none[0].starts_with("read_before_wait: one is read")) << none[0];
    EXPECT_TRUE(none[0].ends_with("Wait first at the barrier both, on which that copy arrives."))
        << none[0];
    EXPECT_FALSE(foundIn(readEarly(1, true)).empty()) << "it arrives once for each copy";
}

// Barriers of two kernels are two, whatever they are called.
TEST(GpuCopies, ofBarriersOfOneNameHaveAFindingEach)
{
    const Shape shape{kElements};
    const ir::Program program = mustTrace(pl::kernel(
        "two", {pl::in("x", kF32, shape), pl::out("y", kF32, shape), pl::out("z", kF32, shape)},
        [&](pl::Ref x, pl::Ref y, pl::Ref z) {
            for (const bool isFirst : {true, false}) {
                gpu::launch({}, [&] {
                    gpu::runScoped({gpu::smem("tile", kF32, {kElements}), gpu::barrier("full")},
                                   true, [&](const Refs& refs) {
                                       if (isFirst) {
                                           gpu::copyGmemToSmem(x, refs[0], refs[1]);
                                           y[pl::all] = refs[0][pl::all].load();
                                       } else {
                                           gpu::copyGmemToSmem(x, refs[0], refs[1]);
                                           z[pl::all] = refs[0][pl::all].load();
                                       }
                                   });
                });
            }
        }));
    const machine::RunResult run =
        mustRun(program, {counting(kF32, shape)}, machine::ValueMode::Full, h100());
    EXPECT_EQ(findingsOf(run, "read_before_wait").size(), 2U) << findingsText(run);
}

// What is beyond the array arrives as zeros, and writes like any other copy.
TEST(GpuCopies, fillWhatIsBeyondTheirArrayInFlight)
{
    for (const std::int64_t first : {0, 1, 2, 64}) {
        SCOPED_TRACE(first);
        for (const auto mode : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
            const machine::RunResult run =
                mustRun(prefetched(first), {counting(kF32, {2, kElements})}, mode, h100());
            EXPECT_NE(findingsText(run).find("tile ends with its scope"), std::string::npos)
                << findingsText(run);
        }
    }
}

TEST(GpuCopies, reduceIntoWhatIsThere)
{
    using ir::AtomicType;
    for (std::size_t i = 0; i < 4; ++i) {
        const auto x = static_cast<double>(i);
        const auto whole = static_cast<int>(i);
        EXPECT_EQ(reduced(AtomicType::Xchg, kF32)[i], x + 1);
        EXPECT_EQ(reduced(AtomicType::Add, kF32)[i], 2 * x + 1);
        EXPECT_EQ(reduced(AtomicType::Max, DType::F16)[i], x + 1);
        EXPECT_EQ(reduced(AtomicType::Min, kInt)[i], x);
        EXPECT_EQ(reduced(AtomicType::And, kInt)[i], whole & (whole + 1));
        EXPECT_EQ(reduced(AtomicType::Or, kInt)[i], whole | (whole + 1));
        EXPECT_EQ(reduced(AtomicType::Xor, kInt)[i], whole ^ (whole + 1));
    }
}

TEST(GpuCopies, ofAWarpgroupAreReadAfterAWaitThatCoversThem)
{
    const machine::RunResult run = runOn(a100(), ownCopies(1), counting(kF32, {2, kElements}));
    EXPECT_EQ(findingsOf(run, "read_before_wait").size(), 1U) << findingsText(run);
    EXPECT_EQ(run.trace->info().findings.size(), 1U) << findingsText(run);
}

TEST(GpuCopies, ofAWarpgroupExistOnlyWithoutATma)
{
    const auto run = machine::run(ownCopies(0), {counting(kF32, {2, kElements})}, h100(), {});
    ASSERT_FALSE(run);
    EXPECT_NE(run.error().message.find("copy_gmem_to_smem"), std::string::npos);
    EXPECT_NE(run.error().message.find("compute capability 8.x"), std::string::npos);
}

// Two copies that arrive together, and one on its own between them, on one barrier.
TEST(GpuCopies, thatArriveTogetherDoNotCountOthers)
{
    const ir::Program program = withSmem(kF32, 3, [](pl::Ref x, pl::Ref y, const Refs& refs) {
        for (const int row : {0, 1, 2}) {
            gpu::copyGmemToSmem(x.at({row, pl::all}), refs[0].at({row, pl::all}), refs[1],
                                {.parts = row == 1 ? 1 : 2});
        }
        gpu::barrierWait(refs[1]);
        y[{pl::all, pl::all}] = refs[0][{pl::all, pl::all}].load();
    });
    const Array x = counting(kF32, {3, kElements});
    const machine::RunResult run = runOn(h100(), program, x);
    EXPECT_EQ(findingsText(run), "");
    EXPECT_EQ(elementsOf(run.outputs[0]), elementsOf(x));
}

// x has 3 rows of kElements, and the copy reaches from one row before it to one behind it.
machine::RunResult maskedCopy(int first, int last)
{
    const ir::Program program = mustTrace(pl::kernel(
        "copies", {pl::in("x", kF32, {3, kElements}), pl::out("y", kF32, {5, kElements})},
        [&](pl::Ref x, pl::Ref y) {
            gpu::launch({}, [&] {
                gpu::runScoped(
                    {gpu::smem("tile", kF32, {5, kElements}), gpu::barrier("ready", 1)}, true,
                    [&](const Refs& refs) {
                        const pl::Value row = pl::iota(kInt, {5, kElements}, 0);
                        const pl::Value mask =
                            pl::elementwise(ir::OpCode::And, {row >= first, row <= last});
                        const pl::Value start = pl::reduce(ir::OpCode::ReduceMin, row, {0, 1}) - 1;
                        const pl::Ref window = x.at({pl::ds(start, 5), pl::all});
                        pl::detail::Tracer::current().append(
                            ir::OpCode::CopyGmemToSmem,
                            {window.id(), refs[0].id(), refs[1].id(), mask.id()},
                            ir::LoadCopyParams{.predicate = true}, {});
                        gpu::barrierWait(refs[1]);
                        y[pl::all] = pl::select(mask, refs[0][pl::all].load(),
                                                pl::full({5, kElements}, -1, kF32));
                    });
            });
        }));
    return runOn(h100(), program, counting(kF32, {3, kElements}));
}

TEST(GpuCopies, withAMaskReachOnlyTheElementsThatItTakes)
{
    const machine::RunResult inside = maskedCopy(1, 2);
    EXPECT_EQ(findingsText(inside), "");
    for (std::size_t row = 0; row < 5; ++row) {
        EXPECT_EQ(elementsOf(inside.outputs[0])[row * kElements],
                  row == 1 || row == 2 ? static_cast<double>((row - 1) * kElements) : -1.0);
    }
    EXPECT_EQ(findingsOf(maskedCopy(0, 2), "out_of_bounds").size(), 1U);
    EXPECT_EQ(findingsOf(maskedCopy(1, 4), "out_of_bounds").size(), 1U);
}

// The second tile of 8 rows has one that exists. Only that one moves, from x as well as to y.
TEST(GpuCopies, byTheTmaMoveOnlyWhatExistsOfATile)
{
    const Array input = counting(kF32, {9, kElements});
    const ir::Program program = mustTrace(pl::kernel(
        "overhangs", {pl::in("x", kF32, {9, kElements}), pl::out("y", kF32, {9, kElements})},
        [&](pl::Ref x, pl::Ref y) {
            gpu::launch({{{"block", 2}}}, [&] {
                gpu::runScoped(
                    {gpu::smem("tile", kF32, {8, kElements}), gpu::barrier("ready")}, true,
                    [&](const Refs& refs) {
                        const pl::Value row = pl::axisIndex("block") * 8;
                        gpu::copyGmemToSmem(x.at({pl::ds(row, 8), pl::all}), refs[0], refs[1]);
                        gpu::barrierWait(refs[1]);
                        gpu::copySmemToGmem(refs[0], y.at({pl::ds(row, 8), pl::all}));
                        gpu::waitSmemToGmem(0);
                    });
            });
        }));
    for (const machine::ValueMode values : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
        const machine::RunResult run = mustRun(program, {input}, values, h100());
        EXPECT_EQ(findingsText(run), "");
        std::vector<std::int64_t> bytes = run.trace->copies().bytes;
        std::sort(bytes.begin(), bytes.end());
        EXPECT_EQ(bytes, (std::vector<std::int64_t>{512, 512, 4096, 4096}));
        if (values == machine::ValueMode::Full) {
            EXPECT_EQ(elementsOf(run.outputs[0]), elementsOf(input));
        }
    }
}

} // namespace pallascope::machine_test
