// Tests a pipeline from its first copy to its last. The test takes the place of the engine and runs
// the bodies.
#include "core/machine/parts/arguments.h"
#include "core/machine/parts/limits.h"
#include "core/machine/parts/pipelines.h"
#include "core/machine/parts/segments.h"
#include "tests/machine/parts/bare_run.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace pallascope::machine_test {

namespace {

// out = x, in blocks of 8 of 16 rows.
ir::Program copyingProgram()
{
    const pl::BlockSpec rows = pl::block({8, 128}, [](auto i) { return pl::at(i, 0); });
    Result<ir::Program> program = pl::kernel(
        "copying", {pl::in("x", DType::F32, {16, 128}), pl::out("out", DType::F32, {16, 128})},
        [&](pl::Ref x, pl::Ref out) {
            pl::emitPipeline({.grid = {2}, .in = {rows}, .out = {rows}},
                             [](pl::Ref a, pl::Ref b) { b[pl::all] = a[pl::all]; })(x, out);
        });
    if (!program) {
        throw std::runtime_error(program.error().message);
    }
    return *std::move(program);
}

struct PipelineRun
{
    BareRun run{{}, copyingProgram()};
    machine::Options options;
    std::int64_t turns = 0;
    std::set<std::int32_t> aliased;
    machine::Limits limits{"copying", options, run.recorder(), run.ending};
    machine::Arguments arguments{run.context(), aliased, run.agents, run.findings};
    machine::ReductionScratches scratches;
    machine::Reductions reductions{run.context(), scratches, run.findings};
    machine::Segments segments{run.context(),  options,      turns,      run.agents, run.copies,
                               run.semaphores, run.accesses, reductions, limits,     run.findings};
    machine::Pipelines pipelines{run.context(), aliased, run.copies,  run.accesses,
                                 run.scopes,    limits,  run.findings};

    PipelineRun()
    {
        Array x = makeArray(DType::F32, {16, 128});
        for (std::int64_t i = 0; i < x.shape.elements(); ++i) {
            machine::writeElement(DType::F32, x.data.get(), i, static_cast<double>(i));
        }
        if (!arguments.bind({x})) {
            throw std::runtime_error("x can be bound");
        }
        run.turn().endAt(machine::kLongestRun);
        pipelines.enter(run.itemOf(ir::OpCode::Pipeline));
    }

    // Goes on until the pipeline has ended or the run pauses. Returns how many bodies it has run.
    int go()
    {
        int bodies = 0;
        std::vector<machine::Frame>& frames = run.agent().frames;
        while (!frames.empty() && !run.turn().isAtPause()) {
            if (auto* pipeline = std::get_if<machine::PipelineFrame>(&frames.back())) {
                pipelines.run(*pipeline);
                continue;
            }
            auto& body = std::get<machine::BlockFrame>(frames.back());
            if (segments.run(body.plan->items.at(0), body.done)) {
                ++bodies;
                frames.pop_back();
            }
        }
        return bodies;
    }
};

} // namespace

TEST(Pipelines, bringTheirBlocksRunTheirBodiesAndTakeTheBlocksBack)
{
    PipelineRun of;
    EXPECT_EQ(of.go(), 2);
    EXPECT_TRUE(of.run.agent().isDone());
    const Array out = of.arguments.outputs().at(0);
    EXPECT_EQ(readElement(DType::F32, out.data.get(), 16 * 128 - 1), 16 * 128 - 1);
    EXPECT_EQ(of.run.recorder().position().steps, 2);
    EXPECT_EQ(of.run.recorder().position().copies, 4);
    EXPECT_TRUE(of.run.found().empty());
    EXPECT_GT(of.run.agent().time, Picoseconds(0));
}

TEST(Pipelines, goOnWhereTheyPaused)
{
    PipelineRun whole;
    whole.go();
    PipelineRun paused;
    int bodies = 0, pauses = 0;
    while (!paused.run.agent().isDone()) {
        paused.run.turn().runUntil({.events = paused.run.recorder().position().events + 1});
        bodies += paused.go();
        ++pauses;
    }
    EXPECT_EQ(bodies, 2);
    EXPECT_GT(pauses, 4);
    EXPECT_EQ(paused.run.agent().time, whole.run.agent().time);
    EXPECT_EQ(paused.run.recorder().position(), whole.run.recorder().position());
}

TEST(Pipelines, whoseBodyStoresNothingAreFound)
{
    PipelineRun of;
    std::vector<machine::Frame>& frames = of.run.agent().frames;
    while (!frames.empty()) { // no body is run here
        if (auto* pipeline = std::get_if<machine::PipelineFrame>(&frames.back())) {
            of.pipelines.run(*pipeline);
        } else {
            frames.pop_back();
        }
    }
    ASSERT_FALSE(of.run.found().empty());
    EXPECT_EQ(of.run.found()[0].kind, "output_not_written");
    EXPECT_EQ(of.run.found()[0].count, 2);
}

} // namespace pallascope::machine_test
