// Kernels and fusions in one program.
#include "tests/ir/wholes.h"
#include "tests/machine/ops/operation_cases.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

using ir_test::fusion;

const Shape kWholeShape{10, 100};

// out = body(in), as one pipeline of whole arrays.
void wholeStep(const pl::Ref& in, const pl::Ref& out,
               const std::function<pl::Value(pl::Value)>& body)
{
    pl::emitPipeline({.in = {pl::wholeArray()}, .out = {pl::wholeArray()}},
                     [&](pl::Ref x, pl::Ref y) { y[pl::all] = body(x[pl::all].load()); })(in, out);
}

void expectRows(const Array& got, const std::function<double(double)>& want)
{
    ASSERT_EQ(got.shape, kWholeShape);
    for (std::int64_t i = 0; i < got.shape.elements(); ++i) {
        ASSERT_EQ(got.at(i), want(static_cast<double>(i))) << i;
    }
}

// The second kernel reads what the first has written.
void kernel()
{
    const ir::Program program = mustTrace(
        pl::kernel("two",
                   {pl::in("x", kF32, kWholeShape), pl::out("mid", kF32, kWholeShape),
                    pl::out("out", kF32, kWholeShape)},
                   [](pl::Ref x, pl::Ref mid, pl::Ref out) {
                       ir_test::kernel("first", [&] {
                           wholeStep(x, mid, [](const pl::Value& value) { return value * 2.0; });
                       });
                       ir_test::kernel("second", [&] {
                           wholeStep(mid, out, [](const pl::Value& value) { return value + 5.0; });
                       });
                   }));
    const machine::RunResult run = mustRun(program, {counting(kF32, kWholeShape)});
    EXPECT_EQ(findingsText(run), "");
    expectRows(run.outputs.at(0), [](double x) { return 2 * x; });
    expectRows(run.outputs.at(1), [](double x) { return 2 * x + 5; });
}

// Reads two arrays in HBM whole and a part of one again, and writes a part of the output.
void fusionOfArrays()
{
    const ir::Program program = mustTrace(pl::kernel(
        "fused",
        {pl::in("x", kF32, kWholeShape), pl::in("y", kF32, kWholeShape),
         pl::out("out", kF32, kWholeShape)},
        [](pl::Ref x, pl::Ref y, pl::Ref out) {
            const pl::Value most = fusion({"most"}, [&] {
                return std::vector{pl::reduce(ir::OpCode::ReduceMax, x[pl::all], {0, 1})};
            })[0];
            fusion({"sum"}, [&] {
                out[pl::all] = x[pl::all] + y[pl::all] * 3.0 + most;
                out[{pl::ds(8, 2), pl::all}] = x[{pl::ds(2, 2), pl::all}];
            });
        }));
    const machine::RunResult run =
        mustRun(program, {counting(kF32, kWholeShape), counting(kF32, kWholeShape)});
    EXPECT_EQ(findingsText(run), "");
    expectRows(run.outputs.at(0), [](double i) { return i < 800 ? 4 * i + 999 : i - 600; });
}

// What a fusion computes in a branch and in loops, and what it leaves to a kernel.
void fusionOfLoops()
{
    const ir::Program program = mustTrace(
        pl::kernel("looped",
                   {pl::in("x", kF32, kWholeShape), pl::out("mid", kF32, kWholeShape),
                    pl::out("out", kF32, kWholeShape)},
                   [](pl::Ref x, pl::Ref mid, pl::Ref out) {
                       fusion({"loops"}, [&] {
                           mid[pl::all] = x[pl::all];
                           pl::foriLoop(3, {}, [&](pl::Value i, const auto&) {
                               pl::when(i != 1, [&] { mid[pl::all] = mid[pl::all] * 2.0; });
                               return std::vector<pl::Value>{};
                           });
                       });
                       ir_test::kernel("after", [&] {
                           wholeStep(mid, out, [](const pl::Value& value) { return value - 1.0; });
                       });
                   }));
    const machine::RunResult run = mustRun(program, {counting(kF32, kWholeShape)});
    EXPECT_EQ(findingsText(run), "");
    expectRows(run.outputs.at(1), [](double x) { return 4 * x - 1; });
}

void fusions()
{
    fusionOfArrays();
    fusionOfLoops();
}

} // namespace

std::vector<OperationCase> wholeCases()
{
    return {{"kernel", kernel}, {"fusion", fusions}};
}

} // namespace pallascope::machine_test
