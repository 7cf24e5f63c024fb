// One bug in each program, and a twin without it. The bug is found once, with its operand, step and
// line; the twin has no finding.
#include "tests/ir/wholes.h"
#include "tests/machine/engine/planted.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace pallascope::machine_test {

namespace {

machine::RunResult runOf(const ir::Program& program, const std::vector<Array>& inputs,
                         const machine::Settings& settings = {})
{
    Result<machine::RunResult> run = machine::run(program, inputs, v5e(), {.settings = settings});
    if (!run) {
        throw std::runtime_error(run.error().message);
    }
    return std::move(*run);
}

void expectOnly(const machine::RunResult& run, const Found& wanted, std::int64_t line)
{
    const auto found = findingsOf(run, wanted.kind);
    ASSERT_EQ(found.size(), 1U) << findingsText(run);
    EXPECT_EQ(found[0].operand, wanted.operand);
    EXPECT_EQ(found[0].step, wanted.step);
    EXPECT_EQ(found[0].count, wanted.count);
    EXPECT_EQ(found[0].source.line, line);
    ASSERT_GE(found[0].source.file, 0);
    const auto& sources = run.trace->info().sources;
    const std::string& file = sources[static_cast<std::size_t>(found[0].source.file)].path;
    EXPECT_TRUE(file.ends_with("planted_bugs_test.cpp")) << file;
    for (const trace::Finding& other : run.trace->info().findings) {
        EXPECT_TRUE(
            other.kind == wanted.kind
            || std::count(wanted.consequences.begin(), wanted.consequences.end(), other.kind) == 1)
            << findingsText(run);
    }
}

Array numbers(const Shape& shape, double number)
{
    return arrayOf(kF32, shape,
                   std::vector<double>(static_cast<std::size_t>(shape.elements()), number));
}

pl::Value logarithm(const pl::Operand& value, pl::Here here = pl::Here::current())
{
    return pl::elementwise(ir::OpCode::Log, {value}, here);
}

// out[i] = body(x[i]) in blocks of (8, 128).
template<class F>
Planted mapped(Extent rows, const F& body)
{
    const pl::Here here = pl::Here::current();
    const pl::BlockSpec spec = pl::block({8, 128}, kRow, 2, here);
    return {
        mustTrace(pl::kernel(
            "mapped", {pl::in("x", kF32, Shape{rows, 128}), pl::out("out", kF32, Shape{rows, 128})},
            [&](pl::Ref xHbm, pl::Ref outHbm) {
                pl::emitPipeline({.grid = {ceilDiv(rows, 8)}, .in = {spec}, .out = {spec}},
                                 body)(xHbm, outHbm);
            })),
        static_cast<std::int64_t>(here.line())};
}

// ---- what overhangs, is not written, is left too early ------------------------------------------

// Each row of a block becomes the sum of all of its rows. Of 20 rows, the last block has 4.
Planted sumsOfBlocks(bool masked)
{
    std::int64_t line = 0;
    Planted planted = mapped(20, [&](pl::Ref x, pl::Ref out) {
        pl::Value rows = x[pl::all].load();
        if (masked) {
            const pl::Value row = pl::iota(kInt, Shape{8, 128}, 0);
            rows = pl::select(pl::programId(0) * 8 + row < 20, rows, pl::zerosLike(x));
        }
        const pl::Value sum = pl::reduce(ir::OpCode::ReduceSum, rows, {0, 1});
        line = pl::Here::current().line() + 1;
        out[pl::all] = pl::broadcastTo(sum, Shape{8, 128});
    });
    planted.line = line; // the line of the store
    return planted;
}

// A fusion behind the kernel, which has no place in the source, passes on an array that the kernel
// fills with what nobody wrote, or does not fill.
Planted passesOn(bool fills)
{
    std::int64_t line = 0;
    const pl::BlockSpec rows = pl::block({8, 128}, kRow);
    ir::Program program =
        mustTrace(pl::kernel("passed", {pl::out("out", kF32, {8, 128})}, [&](pl::Ref out) {
            pl::runScoped(
                {{"between", kF32, {8, 128}, ir::MemorySpace::Hbm}, {"never", kF32, {8, 128}}},
                [&](const std::vector<pl::Ref>& refs) {
                    if (fills) {
                        pl::emitPipeline({.grid = {1}, .out = {rows}}, [&](pl::Ref block) {
                            const pl::Here here = pl::Here::current();
                            block[{pl::all, here}] = refs[1][pl::all].load();
                            line = here.line();
                        })(refs[0]);
                    }
                    ir_test::fusion({"copy"}, [&] { out[pl::all] = refs[0][pl::all].load(); });
                    return std::vector<pl::Value>{};
                });
        }));
    ir::Operation& fusion = program.body.operations[0].regions[0].operations.back();
    for (ir::Operation& operation : fusion.regions[0].operations) {
        operation.location = {};
    }
    return {std::move(program), line};
}

// The body stores in every step except the fourth, or in all.
Planted stores(bool always)
{
    return mapped(48, [&](pl::Ref x, pl::Ref out) {
        const auto store = [&] { out[pl::all] = x[pl::all]; };
        if (always) {
            store();
        } else {
            pl::when(pl::programId(0) != 3, store);
        }
    });
}

// A grid of `steps` blocks over an output of 6 blocks.
Planted covers(Extent steps)
{
    const pl::Here here = pl::Here::current();
    const pl::BlockSpec spec = pl::block({8, 128}, kRow, 2, here);
    std::int64_t line = 0;
    Planted planted{
        mustTrace(pl::kernel(
            "covers", {pl::in("x", kF32, Shape{48, 128}), pl::out("out", kF32, Shape{48, 128})},
            [&](pl::Ref xHbm, pl::Ref outHbm) {
                line = pl::Here::current().line() + 1;
                pl::emitPipeline({.grid = {steps}, .in = {spec}, .out = {spec}},
                                 [](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all]; })(xHbm,
                                                                                            outHbm);
            })),
        0};
    planted.line = line; // the line of the pipeline
    return planted;
}

// Visits output block j for k = 0, 1, 2: all k for one j first, or all j for one k first.
Planted visits(const std::string& order)
{
    const pl::Here here = pl::Here::current();
    const auto in = pl::block({8, 128}, [](auto j, auto k) { return pl::at(j, k); });
    const auto out = pl::block(
        {8, 128}, [](auto j, auto /*k*/) { return pl::at(j, 0); }, 2, here);
    return {mustTrace(pl::kernel(
                "visits", {pl::in("x", kF32, Shape{16, 384}), pl::out("out", kF32, Shape{16, 128})},
                [&](pl::Ref xHbm, pl::Ref outHbm) {
                    pl::emitPipeline(
                        {.grid = {2, 3}, .in = {in}, .out = {out}, .axes = "jk", .order = order},
                        [](pl::Ref x, pl::Ref block) { block[pl::all] = x[pl::all]; })(xHbm,
                                                                                       outHbm);
                })),
            static_cast<std::int64_t>(here.line())};
}

// ---- where and what is computed -----------------------------------------------------------------

// Step s stores to the rows from stride * s on, in a scratch of 32 rows.
Planted scatters(std::int32_t stride)
{
    const pl::Here here = pl::Here::current();
    const pl::BlockSpec spec = pl::block({8, 128}, kRow);
    return {
        mustTrace(pl::kernel(
            "scatters", {pl::in("x", kF32, Shape{32, 128}), pl::out("out", kF32, Shape{32, 128})},
            [&](pl::Ref xHbm, pl::Ref outHbm) {
                pl::emitPipeline(
                    {.grid = {4},
                     .in = {spec},
                     .out = {spec},
                     .scratch = {{"all", kF32, {32, 128}}}},
                    [&](pl::Ref x, pl::Ref out, pl::Ref all) {
                        const pl::Value start = pl::programId(0) * stride;
                        all[pl::Indexer({pl::ds(start, 8), pl::all}, here)] = x[pl::all];
                        out[pl::all] = x[pl::all];
                    })(xHbm, outHbm);
            })),
        static_cast<std::int64_t>(here.line())};
}

Planted logarithms()
{
    const pl::Here here = pl::Here::current();
    Planted planted =
        mapped(80, [&](pl::Ref x, pl::Ref out) { out[pl::all] = logarithm(x[pl::all], here) + 1; });
    planted.line = static_cast<std::int64_t>(here.line());
    return planted;
}

Array withOne(double number, Extent row)
{
    Array array = numbers({80, 128}, 2);
    writeElement(kF32, array.data.get(), row * 128 + 5, number);
    return array;
}

// ---- what does not fit --------------------------------------------------------------------------

Planted large(Extent rows, ir::PipelineOrigin origin, Extent lanes = 128)
{
    const pl::Here here = pl::Here::current();
    const pl::BlockSpec spec = pl::block({rows, lanes}, kRow, 2, here);
    const pl::Grid grid{.grid = {2}, .in = {spec}, .out = {spec}, .here = here};
    const auto body = [](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all]; };
    const Shape array{2 * rows, 128};
    return {mustTrace(pl::kernel("large", {pl::in("x", kF32, array), pl::out("out", kF32, array)},
                                 [&](pl::Ref xHbm, pl::Ref outHbm) {
                                     pl::Pipeline(grid, origin, body)(xHbm, outHbm);
                                 })),
            static_cast<std::int64_t>(here.line())};
}

} // namespace

TEST(PlantedBugs, anOverhangThatIsReadUnmaskedReachesTheOutput)
{
    const Array x = numbers({20, 128}, 1);
    const Planted bug = sumsOfBlocks(false), twin = sumsOfBlocks(true);
    const machine::RunResult found = runOf(bug.program, {x});
    expectOnly(found, {"undefined_written_back", "out", 2}, bug.line);
    const trace::Finding& finding = found.trace->info().findings.front();
    EXPECT_NE(
        finding.message.find("depends on x, which is read behind the edge of its array (engine/"),
        std::string::npos)
        << finding.message;
    const machine::RunResult clean = runOf(twin.program, {x});
    EXPECT_EQ(findingsText(clean), "");
    EXPECT_EQ(clean.outputs[0].at(0), 8 * 128);
    EXPECT_EQ(clean.outputs[0].at(19 * 128), 4 * 128);
}

TEST(PlantedBugs, whatIsWrittenBackUndefinedIsNoFurtherFindingWhereItIsPassedOn)
{
    const Planted fills = passesOn(true), none = passesOn(false);
    expectOnly(runOf(fills.program, {}), {"undefined_written_back", "between"}, fills.line);
    const machine::RunResult run = runOf(none.program, {});
    ASSERT_EQ(findingsOf(run, "undefined_result").size(), 1U) << findingsText(run);
    EXPECT_NE(
        findingsText(run).find("elements undefined: a store writes something undefined there."),
        std::string::npos)
        << findingsText(run);
}

TEST(PlantedBugs, anOutputBlockIsNotWrittenInOneStep)
{
    const Array x = numbers({48, 128}, 1);
    const Planted bug = stores(false), twin = stores(true);
    expectOnly(runOf(bug.program, {x}), {"output_not_written", "out", 3, 1}, bug.line);
    EXPECT_EQ(findingsText(runOf(twin.program, {x})), "");
}

TEST(PlantedBugs, someOutputBlocksAreNeverVisited)
{
    const Array x = numbers({48, 128}, 1);
    const Planted bug = covers(4), twin = covers(6);
    expectOnly(runOf(bug.program, {x}), {"output_never_written", "out", -1, 2}, bug.line);
    EXPECT_EQ(findingsText(runOf(twin.program, {x})), "");
}

TEST(PlantedBugs, anOutputBlockIsRevisited)
{
    const Array x = numbers({16, 384}, 1);
    const Planted bug = visits("kj"), twin = visits("jk");
    // The blocks are 0 1 0 1 0 1: four revisits, the first at step 2, of a block that was left
    // after step 0.
    const machine::RunResult run = runOf(bug.program, {x});
    expectOnly(run, {"output_revisited", "out", 2, 4}, bug.line);
    EXPECT_EQ(findingsOf(run, "output_revisited")[0].relatedStep, 0);
    EXPECT_EQ(findingsText(runOf(twin.program, {x})), "");
}

// The body reads the 6 blocks from number `first` on.
Planted shifted(std::int32_t first)
{
    const pl::Here here = pl::Here::current();
    const auto map = [&](auto i) { return pl::at(i + first, 0); };
    return {
        mustTrace(pl::kernel(
            "shifted", {pl::in("x", kF32, Shape{48, 128}), pl::out("out", kF32, Shape{32, 128})},
            [&](pl::Ref xHbm, pl::Ref outHbm) {
                pl::emitPipeline({.grid = {4},
                                  .in = {pl::block({8, 128}, map, 2, here)},
                                  .out = {pl::block({8, 128}, kRow)}},
                                 [](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all]; })(xHbm,
                                                                                            outHbm);
            })),
        static_cast<std::int64_t>(here.line())};
}

// The run ends there and keeps what it has recorded. Nothing that follows from the bug is reported.
TEST(PlantedBugs, anIndexMapLeavesItsArray)
{
    const Array x = numbers({48, 128}, 1);
    const Planted bug = shifted(3), twin = shifted(2);
    const machine::RunResult run = runOf(bug.program, {x});
    // Step 3 is looked up during step 2, in order to fetch its block.
    expectOnly(run, {"out_of_bounds", "x", 2}, bug.line);
    EXPECT_NE(run.trace->info().findings[0].message.find("The index map of x yields (6, 0) at "
                                                         "step 3, but its array has 6 \u00d7 1"),
              std::string::npos)
        << findingsText(run);
    EXPECT_EQ(run.trace->steps().size(), 3U);
    EXPECT_EQ(findingsText(runOf(twin.program, {x})), "");
}

TEST(PlantedBugs, aSliceLeavesItsRef)
{
    const Array x = numbers({32, 128}, 1);
    const Planted bug = scatters(9), twin = scatters(8);
    const machine::Settings goOn{.outOfBoundsReads = machine::OutOfBoundsReads::Uninitialized};
    expectOnly(runOf(bug.program, {x}, goOn), {"out_of_bounds", "all", 3}, bug.line);
    EXPECT_EQ(findingsText(runOf(twin.program, {x}, goOn)), "");
}

// Gathers rows of x by a list of two for each of four steps.
Planted gathers()
{
    const pl::Here here = pl::Here::current();
    return {mustTrace(pl::kernel(
                "gathers",
                {pl::scalarPrefetch("list", kInt, Shape{8}), pl::in("x", kF32, Shape{16, 128}),
                 pl::out("out", kF32, Shape{8, 128})},
                [&](pl::Ref list, pl::Ref xHbm, pl::Ref outHbm) {
                    const auto map = [&](auto i) { return pl::at(list[pl::ds(i * 2, 2)], 0); };
                    pl::emitPipeline({.grid = {4},
                                      .in = {pl::block({pl::indirect(2), 128}, map, 2, here)},
                                      .out = {pl::block({2, 128}, kRow)}},
                                     [](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all]; })(
                        xHbm, outHbm);
                })),
            static_cast<std::int64_t>(here.line())};
}

TEST(PlantedBugs, aGatheredRowLiesOutside)
{
    const Planted kernel = gathers();
    const auto inputs = [](double index) {
        return std::vector<Array>{arrayOf(kInt, {8}, {3, 3, 15, 0, index, 1, 2, 4}),
                                  numbers({16, 128}, 1)};
    };
    const machine::Settings goOn{.outOfBoundsReads = machine::OutOfBoundsReads::Uninitialized};
    for (const double outside : {16.0, -1.0}) { // its copy is issued one step ahead
        expectOnly(runOf(kernel.program, inputs(outside), goOn),
                   {"out_of_bounds", "x", 1, 1, {"undefined_written_back"}}, kernel.line);
        const machine::RunResult stopped = runOf(kernel.program, inputs(outside));
        expectOnly(stopped, {"out_of_bounds", "x", 1}, kernel.line);
        EXPECT_EQ(stopped.trace->steps().size(), 2U);
    }
    EXPECT_EQ(findingsText(runOf(kernel.program, inputs(14))), "");
}

// Uses a number in SMEM to decide something. The number was stored there, or nobody wrote it.
using Use = std::function<void(const pl::Value& number, pl::Ref x, pl::Ref out)>;

ir::Program decides(bool stored, const Use& use)
{
    return mustTrace(pl::kernel(
        "decides", {pl::in("x", kF32, Shape{8, 128}), pl::out("out", kF32, Shape{8, 128})},
        [&](pl::Ref x, pl::Ref out) {
            pl::runScoped({{"table", kInt, {1}, ir::MemorySpace::Smem}},
                          [&](const std::vector<pl::Ref>& refs) {
                              if (stored) {
                                  refs[0][0] = pl::full({}, 1, kInt);
                              }
                              use(refs[0][0].load(), x, out);
                              return std::vector<pl::Value>{};
                          });
        }));
}

TEST(PlantedBugs, aNumberThatNobodyWroteDecidesABranch)
{
    const Array x = numbers({8, 128}, 1);
    std::int64_t line = 0;
    const Use branches = [&](const pl::Value& number, pl::Ref xHbm, pl::Ref outHbm) {
        const pl::BlockSpec spec = pl::block({8, 128}, kRow);
        pl::emitPipeline({.grid = {1}, .in = {spec}, .out = {spec}}, [&](pl::Ref in, pl::Ref out) {
            out[pl::all] = in[pl::all];
            line = pl::Here::current().line() + 1;
            pl::when(number == 1, [&] { out[pl::all] = in[pl::all]; });
        })(xHbm, outHbm);
    };
    const ir::Program bug = decides(false, branches);
    expectOnly(runOf(bug, {x}), {"undefined_branch", "", 0}, line);
    EXPECT_EQ(findingsText(runOf(decides(true, branches), {x})), "");
}

TEST(PlantedBugs, aNumberThatNobodyWroteDecidesAGrid)
{
    const Array x = numbers({8, 128}, 1);
    const machine::Settings zeros{.uninitializedMemory = Fill::Zero};
    std::int64_t line = 0;
    const Use counts = [&](const pl::Value& number, pl::Ref xHbm, pl::Ref outHbm) {
        const pl::BlockSpec spec = pl::block({8, 128}, kRow);
        const pl::Here here = pl::Here::current();
        line = static_cast<std::int64_t>(here.line());
        const pl::Grid grid{.grid = {ir::kDynamicExtent},
                            .in = {spec},
                            .out = {spec},
                            .here = here,
                            .bounds = {number}};
        pl::emitPipeline(grid, [](pl::Ref in, pl::Ref out) { out[pl::all] = in[pl::all]; })(xHbm,
                                                                                            outHbm);
    };
    const ir::Program bug = decides(false, counts);
    const machine::RunResult run = runOf(bug, {x}, zeros);
    expectOnly(run, {"undefined_bound", "", -1, 1, {"undefined_result"}}, line);
    EXPECT_EQ(findingsText(runOf(decides(true, counts), {x}, zeros)), "");
}

TEST(PlantedBugs, aNaNIsBornInStep7)
{
    const Planted kernel = logarithms();
    expectOnly(runOf(kernel.program, {withOne(-1, 7 * 8 + 3)}), {"nan_born", "out", 7},
               kernel.line);
    EXPECT_EQ(findingsText(runOf(kernel.program, {withOne(3, 7 * 8 + 3)})), "");
}

TEST(PlantedBugs, anInfIsBornInStep4)
{
    const Planted kernel = logarithms();
    expectOnly(runOf(kernel.program, {withOne(0, 4 * 8)}), {"inf_born", "out", 4}, kernel.line);
}

TEST(PlantedBugs, twoNaNsOfOneLineAreOneFinding)
{
    const Planted kernel = logarithms();
    Array x = withOne(-1, 7 * 8 + 3);
    writeElement(kF32, x.data.get(), 2 * 8 * 128, -1);
    expectOnly(runOf(kernel.program, {x}), {"nan_born", "out", 2, 2}, kernel.line);
}

TEST(PlantedBugs, aNaNOrInfThatIsInTheInputIsNotBorn)
{
    const Planted kernel = logarithms();
    for (const double number :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        const machine::RunResult run = runOf(kernel.program, {withOne(number, 60)});
        EXPECT_EQ(findingsText(run), "");
        EXPECT_FALSE(std::isfinite(run.outputs[0].at(60 * 128 + 5)));
    }
}

TEST(PlantedBugs, aNaNThatNoOutputHoldsIsNotBorn)
{
    // The logarithm of a negative number is not used in the end.
    const Planted kernel = mapped(80, [](pl::Ref x, pl::Ref out) {
        const pl::Value numbers = x[pl::all].load();
        out[pl::all] = pl::select(numbers > 0, logarithm(numbers), pl::zerosLike(x));
    });
    EXPECT_EQ(findingsText(runOf(kernel.program, {withOne(-1, 60)})), "");
}

TEST(PlantedBugs, undefinedElementsAreNoNaN)
{
    // Logarithms of overhanging elements stay outside of the output. Sums that include them are
    // undefined, not NaN.
    const Planted kernel =
        mapped(20, [](pl::Ref x, pl::Ref out) { out[pl::all] = logarithm(x[pl::all]); });
    EXPECT_EQ(findingsText(runOf(kernel.program, {numbers({20, 128}, 1)})), "");
    const machine::RunResult run = runOf(sumsOfBlocks(false).program, {numbers({20, 128}, 1)});
    EXPECT_TRUE(std::isnan(run.outputs[0].at(19 * 128)));
    EXPECT_TRUE(findingsOf(run, "nan_born").empty());
}

TEST(PlantedBugs, integersMakeNoNaN)
{
    // The integer 2147483647 has the bits of a NaN.
    const ir::Program program = mustTrace(pl::kernel(
        "integers", {pl::in("x", kInt, Shape{8, 128}), pl::out("out", kInt, Shape{8, 128})},
        [](pl::Ref xHbm, pl::Ref outHbm) {
            pl::emitPipeline({.grid = {1},
                              .in = {pl::block({8, 128}, kRow)},
                              .out = {pl::block({8, 128}, kRow)}},
                             [](pl::Ref x, pl::Ref out) { out[pl::all] = x[pl::all] + 1; })(xHbm,
                                                                                            outHbm);
        }));
    const Array x = arrayOf(kInt, {8, 128}, std::vector<double>(1024, 2147483646));
    EXPECT_EQ(findingsText(runOf(program, {x})), "");
}

TEST(PlantedBugs, narrowFloatsAreBornTooLarge)
{
    // 300 squared fits f32 but not f16. 8-bit floats without infinities turn it into NaN.
    for (const auto& [dtype, kind] :
         std::vector<std::pair<DType, std::string>>{{DType::F16, "inf_born"},
                                                    {DType::F8E5M2, "inf_born"},
                                                    {DType::F8E4M3FN, "nan_born"},
                                                    {DType::F8E4M3B11FNUZ, "nan_born"},
                                                    {DType::BF16, ""}}) {
        SCOPED_TRACE(dtypeName(dtype));
        const pl::Here here = pl::Here::current();
        const auto map = [](auto i) { return pl::at(i, 0); };
        const ir::Program program = mustTrace(pl::kernel(
            "squares", {pl::in("x", kF32, Shape{64, 128}), pl::out("out", dtype, Shape{64, 128})},
            [&](pl::Ref xHbm, pl::Ref outHbm) {
                pl::emitPipeline({.grid = {2},
                                  .in = {pl::block({32, 128}, map)},
                                  .out = {pl::block({32, 128}, map)}},
                                 [&](pl::Ref x, pl::Ref out) {
                                     out[pl::all] =
                                         pl::convert(x[pl::all] * x[pl::all], dtype, here);
                                 })(xHbm, outHbm);
            }));
        Array x = numbers({64, 128}, 0.5);
        EXPECT_EQ(findingsText(runOf(program, {x})), "");
        writeElement(kF32, x.data.get(), 40 * 128, 300);
        const machine::RunResult run = runOf(program, {x});
        if (kind.empty()) {
            EXPECT_EQ(findingsText(run), "");
        } else {
            expectOnly(run, {kind, "out", 1}, here.line());
        }
    }
}

TEST(PlantedBugs, blocksNeedMoreThanTheScopedLimit)
{
    // Four slots of 10 240 rows of 512 bytes: 20 MiB of VMEM, whose scoped limit is 16 MiB. x and
    // out take the same amount, so the first of them is named.
    const auto origin = ir::PipelineOrigin::EmitPipeline;
    const Planted bug = large(10'240, origin), twin = large(8'192, origin);
    const auto x = [](Extent rows) { return numbers({2 * rows, 128}, 1); };
    const machine::RunResult run = runOf(bug.program, {x(10'240)});
    expectOnly(run, {"over_scoped_limit", "x", -1}, bug.line);
    EXPECT_NE(findingsOf(run, "over_scoped_limit")[0].message.find("vmem_limit_bytes=20971520"),
              std::string::npos);
    EXPECT_EQ(findingsText(runOf(twin.program, {x(8'192)})), "");
}

TEST(PlantedBugs, theScopedLimitIsWhatTheKernelAsksFor)
{
    Planted bug = large(10'240, ir::PipelineOrigin::EmitPipeline);
    bug.program.kernels = {{.kernel = "a", .vmemLimitBytes = 20 << 20}, {.kernel = "b"}};
    const Array x = numbers({20'480, 128}, 1);
    const machine::RunResult run = runOf(bug.program, {x});
    EXPECT_EQ(findingsText(run), "");
    EXPECT_EQ(run.trace->info().memories[1].scopedLimit, Bytes(20 << 20));
    bug.program.kernels.front().vmemLimitBytes -= 1;
    expectOnly(runOf(bug.program, {x}), {"over_scoped_limit", "x", -1}, bug.line);
}

TEST(PlantedBugs, blocksNeedMoreThanThereIs)
{
    // Four slots of 36 MiB each, of 128 MiB.
    const Planted bug = large(73'728, ir::PipelineOrigin::EmitPipeline);
    const auto run = machine::run(bug.program, {{kF32, Shape{147'456, 128}, nullptr}}, v5e(),
                                  {.values = machine::ValueMode::Needed});
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().kind, ErrorKind::Limit);
    EXPECT_NE(run.error().message.find("VMEM"), std::string::npos) << run.error().message;
}

TEST(PlantedBugs, aBlockIsRefusedByTheLowering)
{
    const auto origin = ir::PipelineOrigin::PallasCall;
    const Planted bug = large(16, origin, 64), twin = large(16, origin);
    const machine::RunResult run = runOf(bug.program, {numbers({32, 128}, 1)});
    const auto found = findingsOf(run, "illegal_block");
    ASSERT_EQ(found.size(), 2U) << "x's and out's";
    EXPECT_EQ(found[0].operand, "x");
    EXPECT_EQ(found[1].operand, "out");
    for (const trace::Finding& finding : found) {
        EXPECT_EQ(finding.step, -1);
        EXPECT_EQ(finding.source.line, bug.line);
        EXPECT_NE(finding.message.find("legal block is (16, 128)"), std::string::npos);
    }
    EXPECT_EQ(findingsText(runOf(twin.program, {numbers({32, 128}, 1)})), "");
}

} // namespace pallascope::machine_test
