// Index maps that load from memory which is filled before the pipeline, and what changes if a copy
// to it is still under way.
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

using Blocks = std::vector<std::int64_t>;

constexpr Extent kFilledSteps = 8;

enum class Fill
{
    Awaited, // before the pipeline
    OnItsWay,
    AlsoByTheBody // the body stores what is there already
};

// Copies x[table[i]] to out[i]. `first` is in the table before a large copy, and `second` is copied
// there behind it.
ir::Program gathering(Fill fill)
{
    return mustTrace(pl::kernel(
        "gathering",
        {pl::in("first", kInt, {kFilledSteps}), pl::in("second", kInt, {kFilledSteps}),
         pl::in("large", kF32, {512, 512}), pl::in("x", kF32, {64, 128}),
         pl::out("out", kF32, {64, 128})},
        [fill](pl::Ref first, pl::Ref second, pl::Ref large, pl::Ref x, pl::Ref out) {
            pl::runScoped(
                {{"table", kInt, {kFilledSteps}, ir::MemorySpace::Smem},
                 {"near", kF32, {512, 512}},
                 pl::dmaSemaphores("sem"),
                 pl::dmaSemaphores("other")},
                [&](const std::vector<pl::Ref>& refs) {
                    const pl::Ref& table = refs[0];
                    pl::dmaStart(first, table, refs[2]);
                    pl::dmaWait(table, refs[2]);
                    pl::dmaStart(large, refs[1], refs[3]);
                    pl::dmaStart(second, table, refs[2]);
                    const auto wait = [&] {
                        pl::dmaWait(refs[1], refs[3]);
                        pl::dmaWait(table, refs[2]);
                    };
                    if (fill != Fill::OnItsWay) {
                        wait();
                    }
                    pl::emitPipeline(
                        {.grid = {kFilledSteps},
                         .in = {pl::block({8, 128}, [&](auto i) { return pl::at(table[i], 0); })},
                         .out = {pl::block({8, 128}, [](auto i) { return pl::at(i, 0); })}},
                        [&](pl::Ref from, pl::Ref to) {
                            to[pl::all] = from[pl::all];
                            if (fill == Fill::AlsoByTheBody) {
                                table[0] = table[0].load();
                            }
                        })(x, out);
                    if (fill == Fill::OnItsWay) {
                        wait();
                    }
                    return std::vector<pl::Value>();
                });
        }));
}

// The blocks of x that were copied in.
Blocks copied(Fill fill, const std::vector<double>& first, const std::vector<double>& second,
              machine::ValueMode values = machine::ValueMode::Full)
{
    const std::vector<Array> inputs{
        arrayOf(kInt, {kFilledSteps}, first), arrayOf(kInt, {kFilledSteps}, second),
        normalArray(kF32, Shape{512, 512}, 0), normalArray(kF32, Shape{64, 128}, 1)};
    const auto run =
        machine::run(gathering(fill), inputs, v5e(),
                     {.values = values, .settings = {.detectRaces = machine::DetectRaces::No}});
    EXPECT_TRUE(run) << run.error().message;
    Blocks blocks;
    if (run) {
        const trace::Copies& copies = run->trace->copies();
        for (std::size_t i = 0; i < copies.size(); ++i) {
            if (copies.operand[i] == 0) { // x
                blocks.push_back(copies.block[i]);
            }
        }
    }
    return blocks;
}

} // namespace

TEST(FilledMap, givesWhatWasThereWhenThePipelineBegan)
{
    const std::vector<double> before(kFilledSteps, 7), table{3, 3, 1, 1, 1, 6, 0, 0};
    for (const Fill fill : {Fill::Awaited, Fill::AlsoByTheBody}) {
        for (const auto values : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
            EXPECT_EQ(copied(fill, before, table, values), (Blocks{3, 1, 6, 0}));
        }
    }
}

// At the step where the new table lands, the map is asked for the previous block as well, so that
// no change is seen. JAX does the same, since it evaluates the map anew at each step.
TEST(FilledMap, seesACopyThatLandsMeanwhile)
{
    const std::vector<double> zeros(kFilledSteps, 0), ones(kFilledSteps, 1);
    EXPECT_EQ(copied(Fill::OnItsWay, zeros, ones), Blocks{0});
    const std::vector<double> other{0, 0, 0, 0, 0, 0, 0, 5};
    EXPECT_EQ(copied(Fill::OnItsWay, zeros, other), (Blocks{0, 5}));
}

} // namespace pallascope::machine_test
