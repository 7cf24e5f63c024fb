// The storage of a value is reused after its last use. That use may be deeply nested: in what a
// branch of a loop returns, or in an index map.
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

using Values = std::vector<pl::Value>;

std::vector<double> filled(std::int64_t count, double number)
{
    return std::vector<double>(static_cast<std::size_t>(count), number);
}

TEST(LastUse, isWhereABranchInALoopYieldsTheValue)
{
    const Shape shape{8, 128};
    const machine::RunResult run = runOneStep(
        {.inputs = {arrayOf(kF32, shape, filled(shape.elements(), 3))}, .shape = shape},
        [&](const std::vector<pl::Ref>& refs) {
            const pl::Value twice = refs[0][pl::all].load() * 2.0;
            const pl::Value more = twice + 1.0; // the last use in the region
            refs[1][pl::all] =
                pl::foriLoop(3, {pl::full(shape, 0, kF32)}, [&](pl::Value i, Values sum) {
                    const Values chosen = pl::cond(
                        i > 0, [&] { return Values{twice}; }, [&] { return Values{more}; });
                    return Values{sum[0] + chosen[0]};
                })[0];
        });
    EXPECT_EQ(elementsOf(run.outputs[0]), filled(shape.elements(), 7 + 6 + 6));
}

TEST(LastUse, isWhereTheMapOfAPipelineInALoopYieldsTheNumber)
{
    const Shape shape{32, 128};
    const ir::Program program = mustTrace(pl::kernel(
        "fourth",
        {pl::scalarPrefetch("n", kInt, {1}), pl::in("x", kF32, shape),
         pl::out("out", kF32, {8, 128})},
        [](pl::Ref n, pl::Ref x, pl::Ref out) {
            const pl::Value block = n[0].load() * 3;
            const pl::Value rounds = block + 1; // the last use outside of the index map
            pl::foriLoop(2, {}, [&](pl::Value i, const Values&) {
                pl::when(i + 3 < rounds, [&] {
                    pl::emitPipeline(
                        {.grid = {1},
                         .in = {pl::block({8, 128}, [&](auto) { return pl::at(block, 0); })},
                         .out = {pl::block({8, 128}, kRow)}},
                        [](pl::Ref from, pl::Ref to) { to[pl::all] = from[pl::all] + 0.0; })(x,
                                                                                             out);
                });
                return Values();
            });
        }));
    const Array x = normalArray(kF32, shape, 3);
    const std::vector<double> all = elementsOf(x);
    EXPECT_EQ(elementsOf(mustRun(program, {arrayOf(kInt, {1}, {1}), x}).outputs[0]),
              std::vector<double>(all.begin() + 24 * 128, all.end()));
}

} // namespace

} // namespace pallascope::machine_test
