// Branches that the program decides before it runs, because a grid axis has only one step. As a
// compiler does, the plan keeps only the branch that is taken, in the segment around it.
#include "core/machine/prepare/constants.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <functional>

namespace pallascope::machine_test {

namespace {

const Shape kRegisters{64, 128}; // 8 registers

using Taken = std::function<pl::Value()>;

// On a grid: out = x, and three exponentials of it if `taken`.
ir::Program branching(std::vector<Extent> grid, const Taken& taken)
{
    return oneStepProgram({{counting(kF32, kRegisters)}, kF32, kRegisters, {}, std::move(grid)},
                          [&](const std::vector<pl::Ref>& refs) {
                              refs[1][pl::all] = refs[0][pl::all] * 0.0001;
                              pl::when(taken(), [&] {
                                  refs[1][pl::all] = pl::exp(pl::exp(pl::exp(refs[1][pl::all])));
                              });
                          });
}

machine::RunResult run(const ir::Program& program,
                       machine::ValueMode values = machine::ValueMode::Full)
{
    return mustRun(program, {counting(kF32, kRegisters)}, values);
}

// The operations of each body segment that ran, by name; each segment is in brackets.
std::string segmentsOf(const machine::RunResult& result)
{
    const trace::Trace& trace = *result.trace;
    std::string text;
    for (const std::int32_t id : trace.segments().templateId) {
        const trace::SegmentTemplate& segment =
            trace.info().templates[static_cast<std::size_t>(id)];
        if (segment.kind != trace::SegmentKind::Body) {
            continue;
        }
        text += "[";
        for (const std::int32_t operation : segment.operations) {
            const auto& name = trace.info().operations[static_cast<std::size_t>(operation)].name;
            if (name == "exp" || name == "swap") {
                text += (text.back() == '[' ? "" : " ") + name;
            }
        }
        text += "]";
    }
    return text;
}

bool isGrown(const machine::RunResult& result)
{
    return result.outputs.at(0).at(0) > 1; // exp(exp(exp(0))) is more than 15
}

} // namespace

TEST(KnownBranches, thatAreTakenArePartsOfTheirSegment)
{
    const machine::RunResult first = run(branching({1}, [] { return pl::programId(0) == 0; }));
    EXPECT_EQ(segmentsOf(first), "[swap exp exp exp swap]");
    EXPECT_TRUE(isGrown(first));
    EXPECT_EQ(findingsText(first), "");
}

TEST(KnownBranches, thatAreNotTakenCostNothing)
{
    const machine::RunResult never = run(branching({1}, [] { return pl::programId(0) > 0; }));
    EXPECT_EQ(segmentsOf(never), "[swap]");
    EXPECT_FALSE(isGrown(never));
}

TEST(KnownBranches, areThoseOfAxesOfOnePlaceAlone)
{
    // With two steps the run decides, and what it computes for that is a segment of its own.
    EXPECT_EQ(segmentsOf(run(branching({2}, [] { return pl::programId(0) == 0; }))),
              "[swap][exp exp exp swap][swap]");
    EXPECT_EQ(segmentsOf(run(branching({1, 2}, [] { return pl::programId(1) == 0; }))),
              "[swap][exp exp exp swap][swap]");
    EXPECT_EQ(segmentsOf(run(branching({1, 2}, [] { return pl::programId(0) == 0; }))),
              "[swap exp exp exp swap][swap exp exp exp swap]");
    EXPECT_EQ(segmentsOf(run(
                  branching({2, 1}, [] { return pl::programId(1) == pl::numPrograms(1) - 1; }))),
              "[swap exp exp exp swap][swap exp exp exp swap]");
}

TEST(KnownBranches, areThoseOfTheInnerGrid)
{
    const ir::Program program = mustTrace(pl::kernel(
        "nested", {pl::in("x", kF32, kRegisters), pl::out("out", kF32, kRegisters)},
        [](pl::Ref x, pl::Ref out) {
            const auto whole = [] {
                pl::BlockSpec spec = pl::wholeArray();
                spec.space = ir::MemorySpace::Hbm;
                return spec;
            };
            pl::emitPipeline(
                {.grid = {1}, .in = {whole()}, .out = {whole()}}, [&](pl::Ref a, pl::Ref b) {
                    const auto halves = pl::block({32, 128}, kRow);
                    pl::emitPipeline({.grid = {2}, .in = {halves}, .out = {halves}}, [](pl::Ref c,
                                                                                        pl::Ref d) {
                        d[pl::all] = c[pl::all] * 0.0001;
                        pl::when(pl::programId(0) == 1, [&] { d[pl::all] = pl::exp(c[pl::all]); });
                    })(a, b);
                })(x, out);
        }));
    EXPECT_EQ(segmentsOf(run(program)), "[swap][swap][exp swap]");
}

// Several of them, one nested in another, with operations before, between and after them.
TEST(KnownBranches, mayBeNested)
{
    const ir::Program program = oneStepProgram(
        {{counting(kF32, kRegisters)}, kF32, kRegisters, {}, {1}},
        [&](const std::vector<pl::Ref>& refs) {
            pl::when(pl::programId(0) == 0, [&] {
                refs[1][pl::all] = 0.0;
                pl::when(pl::programId(0) == 1,
                         [&] { refs[1][pl::all] = pl::exp(refs[0][pl::all]); });
                pl::when(pl::numPrograms(0) == 1,
                         [&] { refs[1][pl::all] = refs[1][pl::all] + 2.0; });
            });
            pl::when(pl::programId(0) < 1, [&] { refs[1][pl::all] = refs[1][pl::all] * 3.0; });
        });
    const machine::RunResult result = run(program);
    EXPECT_EQ(segmentsOf(result), "[swap swap swap]");
    EXPECT_EQ(result.outputs.at(0).at(0), 6);
}

// A loop in the taken branch ends the segment at its place.
TEST(KnownBranches, mayHoldLoops)
{
    const ir::Program program =
        oneStepProgram({{counting(kF32, kRegisters)}, kF32, kRegisters, {}, {1}},
                       [&](const std::vector<pl::Ref>& refs) {
                           refs[1][pl::all] = 1.0;
                           pl::when(pl::programId(0) == 0, [&] {
                               pl::foriLoop(2, {}, [&](pl::Value, const auto&) {
                                   refs[1][pl::all] = refs[1][pl::all] * 2.0;
                                   return std::vector<pl::Value>{};
                               });
                           });
                           refs[1][pl::all] = refs[1][pl::all] + 1.0;
                       });
    const machine::RunResult result = run(program);
    EXPECT_EQ(segmentsOf(result), "[swap][swap][swap][swap]");
    EXPECT_EQ(result.outputs.at(0).at(0), 5);
}

// Branches that return values remain: their segments are separate, and their values correct.
TEST(KnownBranches, thatYieldValuesAreTakenInTheRun)
{
    const ir::Program program =
        oneStepProgram({{counting(kF32, kRegisters)}, kF32, kRegisters, {}, {1}},
                       [&](const std::vector<pl::Ref>& refs) {
                           const pl::Value x = refs[0][pl::all].load();
                           refs[1][pl::all] = pl::cond(
                               pl::programId(0) == 0, [&] { return std::vector{x + 1.0}; },
                               [&] { return std::vector{pl::exp(x)}; })[0];
                       });
    EXPECT_EQ(run(program).outputs.at(0).at(5), 6);
}

TEST(KnownBranches, areTheSameWithNeededValues)
{
    for (const std::vector<Extent>& grid : {std::vector<Extent>{1}, {2}, {1, 2}}) {
        const ir::Program program = branching(grid, [] { return pl::programId(0) == 0; });
        const machine::RunResult full = run(program),
                                 needed = run(program, machine::ValueMode::Needed);
        EXPECT_TRUE(full.trace->segments() == needed.trace->segments());
        EXPECT_EQ(full.trace->end(), needed.trace->end());
        EXPECT_EQ(full.trace->info().events, needed.trace->info().events);
    }
}

// The time must be that of the program without the branch.
TEST(KnownBranches, takeTheTimeOfAProgramWithoutThem)
{
    const OneStep step{{counting(kF32, kRegisters)}, kF32, kRegisters, {}, {1}};
    const auto grow = [](const std::vector<pl::Ref>& refs) {
        refs[1][pl::all] = pl::exp(pl::exp(refs[0][pl::all]));
    };
    const ir::Program plain = oneStepProgram(step, [&](const auto& refs) {
        (void)(pl::programId(0) == 0);
        grow(refs);
    });
    const ir::Program branch = oneStepProgram(
        step, [&](const auto& refs) { pl::when(pl::programId(0) == 0, [&] { grow(refs); }); });
    EXPECT_EQ(run(plain).trace->end(), run(branch).trace->end());
}

} // namespace pallascope::machine_test
