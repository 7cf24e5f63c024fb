// A program that is prepared once runs like one that is prepared for each run, whatever has run
// before.
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace pallascope::machine_test {

namespace {

// A pipeline that is entered with 1, 2, ... rows, up to `n`. If there are three, a copy follows for
// which nobody waits.
ir::Program growingPipeline()
{
    return mustTrace(
        pl::kernel("growing",
                   {pl::scalarPrefetch("n", kInt, {1}), pl::in("x", kF32, {32, 128}),
                    pl::out("out", kF32, {32, 128})},
                   [](pl::Ref n, pl::Ref x, pl::Ref out) {
                       pl::foriLoop(4, {}, [&](pl::Value i, const std::vector<pl::Value>&) {
                           pl::when(i < n[0].load(), [&] {
                               pl::emitPipeline({.grid = {ir::kDynamicExtent},
                                                 .in = {pl::block({8, 128}, kRow)},
                                                 .out = {pl::block({8, 128}, kRow)},
                                                 .bounds = {i + 1}},
                                                [](pl::Ref from, pl::Ref to) {
                                                    to[pl::all] = from[pl::all] + 1.0;
                                                })(x, out);
                           });
                           return std::vector<pl::Value>();
                       });
                       pl::when(n[0].load() == 3, [&] {
                           pl::runScoped({{"near", kF32, {32, 128}}, pl::dmaSemaphores("sem")},
                                         [&](const std::vector<pl::Ref>& refs) {
                                             pl::dmaStart(x, refs[0], refs[1]);
                                             return std::vector<pl::Value>();
                                         });
                       });
                   }));
}

} // namespace

TEST(PreparedPrograms, runLikeThoseThatAreNot)
{
    const ir::Program program = growingPipeline();
    for (const machine::ValueMode values : {machine::ValueMode::Full, machine::ValueMode::Needed}) {
        const machine::Options options{.values = values};
        const auto prepared = machine::prepare(program, v5e(), values, options.rows);
        ASSERT_TRUE(prepared) << prepared.error().message;
        for (const double rows : {3.0, 1.0, 4.0, 0.0, 3.0}) {
            const std::vector<Array> inputs{arrayOf(kInt, {1}, {rows}), counting(kF32, {32, 128})};
            const machine::RunResult alone = mustRun(program, inputs, values);
            const Result<machine::RunResult> run = machine::run(**prepared, inputs, options);
            ASSERT_TRUE(run) << run.error().message;
            EXPECT_EQ(*run->trace, *alone.trace) << rows;
            EXPECT_EQ(findingsOf(*run, "copy_never_awaited").size(), rows == 3 ? 1U : 0U);
            ASSERT_EQ(run->outputs.size(), alone.outputs.size());
            for (std::size_t i = 0; i < run->outputs.size(); ++i) {
                const std::vector<double> got = elementsOf(run->outputs[i]);
                const std::vector<double> wanted = elementsOf(alone.outputs[i]);
                EXPECT_TRUE(std::equal(
                    got.begin(), got.end(), wanted.begin(), wanted.end(),
                    [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }))
                    << rows;
            }
        }
    }
}

TEST(PreparedPrograms, sayBeforeAnythingRunsWhatIsWrong)
{
    const ir::Program program =
        mustTrace(pl::kernel("large", {pl::in("x", kF32, {65536, 1024})}, [](pl::Ref) {
            pl::runScoped({{"near", kF32, {65536, 1024}}}, [&](const std::vector<pl::Ref>& refs) {
                refs[0][pl::all] = 1.0;
                return std::vector<pl::Value>();
            });
        }));
    const auto prepared = machine::prepare(program, v5e(), machine::ValueMode::Full, true);
    ASSERT_FALSE(prepared);
    EXPECT_NE(prepared.error().message.find("VMEM"), std::string::npos) << prepared.error().message;
}

} // namespace pallascope::machine_test
