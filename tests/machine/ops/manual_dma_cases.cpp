// Operations on refs, manual DMA, semaphores and several cores.
#include "core/analysis/report.h"
#include "core/ir/builder_gpu.h"
#include "tests/machine/ops/operation_cases.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

using Numbers = std::vector<double>;
using Refs = std::vector<pl::Ref>;

// What a kernel without a grid leaves in its output. x and out are in HBM.
Numbers manualDma(const Array& x, const Shape& shape, const std::vector<pl::Scratch>& scratch,
                  const std::function<void(pl::Ref x, pl::Ref out, const Refs& scratch)>& body,
                  const chip::Chip& chip = v5e())
{
    const ir::Program program = mustTrace(
        pl::kernel("manual_dma", {pl::in("x", x.dtype, x.shape), pl::out("out", kInt, shape)},
                   [&](pl::Ref in, pl::Ref out) {
                       pl::runScoped(scratch, [&](const Refs& refs) {
                           body(in, out, refs);
                           return std::vector<pl::Value>{};
                       });
                   }));
    const machine::RunResult run = mustRun(program, {x}, machine::ValueMode::Full, chip);
    EXPECT_EQ(findingsText(run), "");
    return elementsOf(run.outputs[0]);
}

// Copies a row in, adds one, and copies it out.
void dma()
{
    const Numbers out =
        manualDma(counting(kInt, {4, 8}), {1, 8}, {{"row", kInt, {8}}, pl::dmaSemaphores("sem")},
                  [](pl::Ref x, pl::Ref result, const Refs& scratch) {
                      copyAndWait(x.at({2, pl::all}), scratch[0], scratch[1]);
                      scratch[0][pl::all] = scratch[0][pl::all] + 1;
                      copyAndWait(scratch[0], result.at({0, pl::all}), scratch[1]);
                  });
    EXPECT_EQ(out, (Numbers{17, 18, 19, 20, 21, 22, 23, 24}));
}

// Slices of slices with strides and a dynamic size: rows 1 and 3 of columns 2 to 5.
void refAt()
{
    const Numbers out = manualDma(
        counting(kInt, {4, 8}), {2, 4}, {{"two", kInt, {2, 4}}, pl::dmaSemaphores("sem", {3})},
        [](pl::Ref x, pl::Ref result, const Refs& scratch) {
            const pl::Ref semaphore = scratch[1].at({1});
            copyAndWait(x.at({pl::ds(1, 2, 2), pl::all}).at({pl::all, pl::ds(2, 4)}), scratch[0],
                        semaphore);
            pl::foriLoop(2, {}, [&](pl::Value i, const auto&) {
                const pl::Value one = i - i + 1; // not known before the run
                copyAndWait(scratch[0].at({pl::ds(i, one, 2), pl::all}),
                            result.at({pl::ds(i, one, 2), pl::all}), semaphore);
                return std::vector<pl::Value>{};
            });
        });
    EXPECT_EQ(out, (Numbers{10, 11, 12, 13, 26, 27, 28, 29}));
}

// Stores through views change the memory: a column of the transposed view is a row, a row of the
// reshaped view is two half rows.
void refTranspose()
{
    const Numbers out = manualDma(counting(kInt, {2, 3}), {2, 3},
                                  {{"held", kInt, {2, 3}}, pl::dmaSemaphores("sem")},
                                  [](pl::Ref x, pl::Ref result, const Refs& scratch) {
                                      copyAndWait(x, scratch[0], scratch[1]);
                                      const pl::Ref turned = scratch[0].transpose({1, 0});
                                      turned[{pl::all, 1}] = turned[{pl::all, 0}] * 10;
                                      copyAndWait(scratch[0], result, scratch[1]);
                                  });
    EXPECT_EQ(out, (Numbers{0, 1, 2, 0, 10, 20}));
}

void refReshape()
{
    const Numbers out = manualDma(
        counting(kInt, {4, 4}), {4, 4}, {{"held", kInt, {4, 4}}, pl::dmaSemaphores("sem")},
        [](pl::Ref x, pl::Ref result, const Refs& scratch) {
            copyAndWait(x, scratch[0], scratch[1]);
            const pl::Ref flat = scratch[0].reshape({16});
            flat[{pl::ds(6, 4)}] = flat[{pl::ds(6, 4)}] + 100;
            const pl::Ref left = scratch[0].at({pl::all, pl::ds(0, 2)}).reshape({2, 4});
            left[{1, pl::all}] = left[{1, pl::all}] + 1000; // rows 2 and 3 of the left half
            copyAndWait(scratch[0], result, scratch[1]);
        });
    EXPECT_EQ(out, (Numbers{0, 1, 2, 3, 4, 5, 106, 107, 1108, 1109, 10, 11, 1012, 1013, 14, 15}));
}

// Two rows of int16 in one row of int32, the first in the low bits.
void refBitcast()
{
    const Numbers out = manualDma(
        arrayOf(DType::Int16, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), {2, 2},
        {{"held", DType::Int16, {4, 2}}, {"wide", kInt, {2, 2}}, pl::dmaSemaphores("sem")},
        [](pl::Ref x, pl::Ref result, const Refs& scratch) {
            copyAndWait(x, scratch[0], scratch[2]);
            const pl::Ref wide = scratch[0].bitcast(kInt);
            wide[{1, pl::all}] = wide[{1, pl::all}] + 65536;
            scratch[1][pl::all] = wide[pl::all];
            copyAndWait(scratch[1], result, scratch[2]);
        });
    const auto packed = [](int low, int high) { return static_cast<double>(low + 65536 * high); };
    EXPECT_EQ(out, (Numbers{packed(1, 3), packed(2, 4), packed(5, 8), packed(6, 9)}));
}

Numbers onOneStep(const Array& x, const Shape& shape,
                  const std::function<void(pl::Ref x, pl::Ref out)>& body)
{
    const machine::RunResult run =
        runOneStep({.inputs = {x}, .dtype = kInt, .shape = shape, .grid = {1}},
                   [&](const Refs& refs) { body(refs[0], refs[1]); });
    EXPECT_EQ(findingsText(run), "");
    return elementsOf(run.outputs[0]);
}

void maskedLoad()
{
    EXPECT_EQ(onOneStep(counting(kInt, {4}), {4},
                        [](pl::Ref x, pl::Ref out) {
                            out[pl::all] = pl::maskedLoad(x, x[pl::all] > 1, -1);
                        }),
              (Numbers{-1, -1, 2, 3}));
}

void maskedSwap()
{
    EXPECT_EQ(onOneStep(counting(kInt, {4}), {4},
                        [](pl::Ref x, pl::Ref out) {
                            out[pl::all] = pl::full({4}, 9, kInt);
                            pl::maskedStore(out, x[pl::all] * 10, x[pl::all] > 1);
                        }),
              (Numbers{9, 9, 20, 30}));
}

// On 0 to 3: the mask leaves the first out.
void atomicRmw()
{
    using enum ir::AtomicType;
    const std::vector<std::pair<ir::AtomicType, Numbers>> kinds{
        {Xchg, {0, 2, 2, 2}}, {Add, {0, 3, 4, 5}}, {Max, {0, 2, 2, 3}}, {Min, {0, 1, 2, 2}},
        {And, {0, 0, 2, 2}},  {Or, {0, 3, 2, 3}},  {Xor, {0, 3, 0, 1}}};
    for (const auto& [type, expected] : kinds) {
        EXPECT_EQ(onOneStep(counting(kInt, {4}), {4},
                            [kind = type](pl::Ref x, pl::Ref out) {
                                out[pl::all] = x[pl::all].load();
                                pl::gpu::atomicRmw(kind, out, pl::full({4}, 2, kInt),
                                                   x[pl::all] > 0);
                            }),
                  expected);
    }
    // Both first lanes add to element 1, and each yields what was there before it.
    EXPECT_EQ(onOneStep(counting(kInt, {4}), {2, 4},
                        [](pl::Ref x, pl::Ref out) {
                            out[{0, pl::all}] = x[pl::all].load();
                            const pl::Value lane = pl::iota(kInt, {4}, 0);
                            out[{1, pl::all}] = pl::gpu::atomicRmwListed(
                                Add, out.at({0, pl::all}), {pl::select(lane < 2, 1, lane)},
                                pl::full({4}, 10, kInt));
                        }),
              (Numbers{0, 21, 12, 13, 1, 11, 2, 3}));
}

void atomicCas()
{
    EXPECT_EQ(onOneStep(counting(kInt, {2}), {4},
                        [](pl::Ref x, pl::Ref out) {
                            out[pl::all] = pl::full({4}, 5, kInt);
                            const pl::Value one = x[{1}].load();
                            out[{2}] = pl::gpu::atomicCas(out.at({0}), one * 5, one * 7);
                            out[{3}] = pl::gpu::atomicCas(out.at({1}), one * 6, one * 7);
                        }),
              (Numbers{7, 5, 5, 5}));
}

// Gathers from 0 to 7 by a list of rows, which repeats one, and a list of columns. Where the mask
// is false nothing is loaded.
void loadGather()
{
    EXPECT_EQ(
        onOneStep(counting(kInt, {2, 4}), {4},
                  [](pl::Ref x, pl::Ref out) {
                      const pl::Value i = pl::iota(kInt, {4}, 0);
                      const pl::Value row = pl::convert(i > 0, kInt), column = 3 - i;
                      out[pl::all] = pl::select(i < 3, pl::loadGather(x, {row, column}, i < 3), -1);
                  }),
        (Numbers{3, 6, 5, -1}));
}

// For repeated elements the last lane counts. Where the mask is false nothing is stored.
void storeScatter()
{
    EXPECT_EQ(onOneStep(counting(kInt, {4}), {4},
                        [](pl::Ref x, pl::Ref out) {
                            const pl::Value i = x[pl::all].load();
                            out[pl::all] = pl::full({4}, 9, kInt);
                            pl::storeScatter(out, {pl::maximum(i - 1, 0)}, i * 10, i < 3);
                        }),
              (Numbers{10, 20, 9, 9}));
}

void addupdateScatter()
{
    EXPECT_EQ(onOneStep(counting(kInt, {4}), {4},
                        [](pl::Ref x, pl::Ref out) {
                            const pl::Value i = x[pl::all].load();
                            out[pl::all] = pl::full({4}, 9, kInt);
                            pl::addupdateScatter(out, {pl::maximum(i - 1, 0)}, i + 1);
                        }),
              (Numbers{12, 12, 13, 9}));
}

// Reads the count of a semaphore. A wait without decrement leaves the count.
void semaphore()
{
    const Numbers out = manualDma(
        counting(kInt, {1}), {3},
        {{"held", kInt, {3}}, pl::semaphores("sem"), pl::dmaSemaphores("done")},
        [](pl::Ref, pl::Ref result, const Refs& scratch) {
            const auto keep = [&](int at) { scratch[0][{at}] = pl::semaphoreRead(scratch[1]); };
            pl::semaphoreSignal(scratch[1], 5);
            keep(0);
            pl::semaphoreWait(scratch[1], 2, false);
            keep(1);
            pl::semaphoreWait(scratch[1], 5);
            keep(2);
            copyAndWait(scratch[0], result, scratch[2]);
        });
    EXPECT_EQ(out, (Numbers{5, 5, 0}));
}

// Every core writes its number to the next core's place, and all meet at a barrier.
void cores()
{
    const Numbers out = manualDma(
        counting(kInt, {1}), {2}, {},
        [](pl::Ref, pl::Ref result, const Refs&) {
            pl::coreMap("core", 2, [&] {
                pl::runScoped(
                    {{"mine", kInt, {1}}, pl::dmaSemaphores("sem")}, [&](const Refs& scratch) {
                        const pl::Value core = pl::axisIndex("core");
                        const pl::Ref barrier = pl::getBarrierSemaphore(3);
                        pl::delay(core * 1000);
                        pl::semaphoreSignal(barrier, 1, 1 - core);
                        pl::semaphoreWait(barrier, 1);
                        scratch[0][{0}] = core + 10;
                        copyAndWait(scratch[0], result.at({pl::ds(1 - core, 1)}), scratch[1]);
                        return std::vector<pl::Value>{};
                    });
            });
        },
        v5p());
    EXPECT_EQ(out, (Numbers{11, 10}));
}

// The delay lasts as long as it says: 3 us.
void delay()
{
    const ir::Program program =
        mustTrace(pl::kernel("waits", {pl::in("x", kInt, {1})}, [](pl::Ref) { pl::delay(3000); }));
    const machine::RunResult run = mustRun(program, {counting(kInt, {1})});
    EXPECT_EQ(run.trace->end(), Picoseconds(3'000'000));
    // The run waits for no copy, so no copy is exposed.
    const Result<analysis::Report> report = analysis::report(*run.trace);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->split.idle, Picoseconds(3'000'000));
    EXPECT_EQ(report->split.exposedCopies, Picoseconds(0));
}

// `body` gets 0, 1, 2, ... in 8x8, the identity matrix, and three refs of the matrix unit: an
// accumulator, the right operand and the staged one. The first and second result that it yields
// must be the numbers times these factors.
void onTheUnit(
    double firstFactor, double secondFactor,
    const std::function<void(const pl::Value& lhs, const pl::Value& one, const Refs& unit,
                             const std::function<void(const pl::Value&)>& yield)>& body)
{
    const Shape square{8, 8};
    const Numbers out = manualDma(
        counting(kInt, {8, 8}), {16, 8},
        {{"kept", kInt, {16, 8}},
         {"in", kInt, square},
         {"sums", kInt, square, kUnit},
         {"rhs", DType::Int8, square, kUnit},
         {"staged", DType::Int8, square, kUnit},
         pl::dmaSemaphores("sem")},
        [&](pl::Ref x, pl::Ref result, const Refs& scratch) {
            copyAndWait(x, scratch[1], scratch[5]);
            const pl::Value lhs = pl::convert(scratch[1][pl::all], DType::Int8);
            const pl::Value one =
                pl::convert(pl::iota(kInt, square, 0) == pl::iota(kInt, square, 1), DType::Int8);
            int row = 0;
            body(lhs, one, {scratch[2], scratch[3], scratch[4]}, [&](const pl::Value& value) {
                scratch[0].at({pl::ds(row, 8), pl::all})[pl::all] = value;
                row += 8;
            });
            copyAndWait(scratch[0], result, scratch[5]);
        });
    for (std::size_t i = 0; i < 64; ++i) {
        EXPECT_EQ(out[i], firstFactor * static_cast<double>(i));
        EXPECT_EQ(out[64 + i], secondFactor * static_cast<double>(i));
    }
}

// Adds two products in one accumulator, the second with the weights of the first. When taken, it
// becomes zero.
void matmul()
{
    onTheUnit(4, 0, [](const auto& lhs, const auto& one, const Refs& unit, const auto& yield) {
        pl::matmulPushRhs(unit[2], one * 2);
        pl::matmulAccLhs(unit[0], lhs, unit[1], unit[2]);
        pl::matmulPushRhs(unit[2], lhs); // only staged
        pl::matmulAccLhs(unit[0], lhs, unit[1]);
        yield(pl::matmulPop(unit[0]));
        yield(pl::matmulPop(unit[0]));
    });
}

// Products come out one by one, in the order of the requests.
void matmulFifo()
{
    onTheUnit(2, 3, [](const auto& lhs, const auto& one, const Refs& unit, const auto& yield) {
        for (const double factor : {2.0, 3.0}) {
            pl::matmulPushRhs(unit[2], one * factor);
            pl::matmulLhsFifo(unit[0], lhs, unit[1], unit[2]);
        }
        yield(pl::matmulPopFifo(unit[0]));
        pl::matmulLhsFifo(unit[0], lhs, unit[1]); // comes after the second
        yield(pl::matmulPopFifo(unit[0]));
    });
}

} // namespace

std::vector<OperationCase> manualDmaCases()
{
    return {{"dma_start", dma},
            {"dma_wait", dma},
            {"ref_at", refAt},
            {"ref_transpose", refTranspose},
            {"ref_reshape", refReshape},
            {"ref_bitcast", refBitcast},
            {"masked_load", maskedLoad},
            {"masked_swap", maskedSwap},
            {"load_gather", loadGather},
            {"store_scatter", storeScatter},
            {"addupdate_scatter", addupdateScatter},
            {"atomic_rmw", atomicRmw},
            {"atomic_cas", atomicCas},
            {"semaphore_signal", semaphore},
            {"semaphore_wait", semaphore},
            {"semaphore_read", semaphore},
            {"get_barrier_semaphore", cores},
            {"core_map", cores},
            {"axis_index", cores},
            {"matmul_push_rhs", matmul},
            {"matmul_acc_lhs", matmul},
            {"matmul_pop", matmul},
            {"matmul_lhs_fifo", matmulFifo},
            {"matmul_pop_fifo", matmulFifo},
            {"delay", delay}};
}

} // namespace pallascope::machine_test
