// What the views say about programs that run on many cores.
#include "tests/layout_views/generic_run.h"
#include "tests/layout_views/scene_probe.h"
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"
#include "views/layout/memory/memory.h"
#include "views/layout/timeline/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace pallascope;
using namespace pallascope::layout;
using namespace pallascope::test;

namespace {

constexpr Size kWide{1600, 320};
constexpr std::int64_t kStep = 1'000'000; // ps

// Each core has a pipeline of its own and begins its steps a little after the core before it.
RunView manyCores(std::int32_t cores, std::int64_t stepsOfEach, std::int64_t apart)
{
    trace::TraceBuilder builder = mainJobBuilder();
    trace::Info& info = builder.info;
    const trace::Pipeline pipeline = info.pipelines[0];
    info.agents.clear();
    info.pipelines.clear();
    info.operands.edit().clear();
    info.buffers.edit().clear();
    info.findings.clear();
    builder.copies = {};
    builder.segments = {};
    builder.waits = {};
    builder.visits = {};
    trace::Steps& steps = builder.steps;
    steps = {};
    for (std::int32_t core = 0; core < cores; ++core) {
        info.agents.push_back("core " + std::to_string(core));
        info.pipelines.push_back(pipeline);
        info.pipelines.back().grid = {stepsOfEach};
        info.pipelines.back().axisNames = {"i"};
        info.pipelines.back().steps = stepsOfEach;
        info.pipelines.back().agent = core;
        info.pipelines.back().firstOperand = info.pipelines.back().operandCount = 0;
    }
    for (std::int64_t step = 0; step < stepsOfEach; ++step) {
        for (std::int32_t core = 0; core < cores; ++core) {
            const std::int64_t begin = step * kStep + core * apart;
            steps.pipeline.push_back(core);
            steps.ordinal.push_back(step);
            steps.begin.push_back(begin);
            steps.bodyBegin.push_back(begin);
            steps.bodyEnd.push_back(begin + kStep);
            steps.end.push_back(begin + kStep);
        }
    }
    builder.end = Picoseconds(steps.end.back());
    Result<std::shared_ptr<const trace::Trace>> trace = std::move(builder).finish();
    EXPECT_TRUE(trace) << trace.error().message;
    return runViewOf(*trace);
}

} // namespace

TEST(ManyCores, haveNamesOfStepsThatDoNotLieOnEachOther)
{
    for (const std::int64_t apart : {0, 2'000, 15'000, 30'000}) {
        for (const std::int64_t count : {2, 16, 200}) {
            const RunView run = manyCores(32, count, apart);
            for (const std::int64_t shown : {1, 5, 40, 200}) { // steps in sight
                ViewState state = at(run, 0.5);
                const Picoseconds half(std::min(shown * kStep, run.trace->end().value()) / 2);
                state.visible = {state.now - half, state.now + half};
                const Scene scene = layoutTimeline(run, state, kWide);
                const std::vector<TextItem> texts = textsOf(scene);
                for (std::size_t i = 1; i < texts.size(); ++i) {
                    const Rect here = inkOf(texts[i]), before = inkOf(texts[i - 1]);
                    const bool isBeside =
                        here.x >= before.x + before.w || before.x >= here.x + here.w;
                    EXPECT_TRUE(isBeside || std::abs(here.y - before.y) >= 8)
                        << texts[i - 1].text << ", " << texts[i].text << " " << apart;
                }
            }
        }
    }
}

// Of the band from the start to the body of step 0; 0 without one.
double widthOfBand(const Scene& scene)
{
    for (const Item& item : scene.items) {
        const auto* fill = std::get_if<FillItem>(&item);
        if (fill != nullptr && fill->color == mix(Role::Prologue, 0.75)) {
            return fill->rect.w;
        }
    }
    return 0;
}

// The report does not count what the program computes there as prologue; the band covers all of it.
TEST(Cores, whatAProgramDoesBeforeItsKernelIsMarked)
{
    constexpr std::int64_t kBefore = 4 * kStep;
    trace::TraceBuilder builder = mainJobBuilder();
    const auto later = [](std::vector<std::int64_t>& times) {
        for (std::int64_t& time : times) {
            time += kBefore;
        }
    };
    for (auto* times :
         {&builder.steps.begin, &builder.steps.bodyBegin, &builder.steps.bodyEnd,
          &builder.steps.end, &builder.segments.begin, &builder.copies.issue, &builder.copies.start,
          &builder.copies.end, &builder.waits.begin, &builder.waits.end}) {
        later(*times);
    }
    builder.end += Picoseconds(kBefore);
    RunView run = viewOf(std::move(builder));
    ViewState state = at(Picoseconds(0));
    state.visible = {Picoseconds(0), Picoseconds(3 * kBefore)};
    const Scene all = layoutTimeline(run, state, kWide);
    EXPECT_TRUE(hasText(all, "prologue 5.60 µs"));
    run.report.split.prologue -= Picoseconds(kStep); // a launch
    const Scene launched = layoutTimeline(run, state, kWide);
    EXPECT_TRUE(hasText(launched, "prologue 4.60 µs"));
    run.report.split.prologue = Picoseconds(kStep);
    const Scene scene = layoutTimeline(run, state, kWide);
    EXPECT_TRUE(hasText(scene, "before step 0 4.00 µs"));
    EXPECT_FALSE(hasText(scene, "prologue"));
    EXPECT_GT(widthOfBand(all), 100);
    EXPECT_EQ(widthOfBand(launched), widthOfBand(all));
    EXPECT_EQ(widthOfBand(scene), widthOfBand(all));
}

TEST(ManyCores, theOneThatWaitsUntilOthersAreDoneIsSaidTo)
{
    trace::TraceBuilder builder = mainJobBuilder();
    trace::Waits& waits = builder.waits;
    std::size_t wait = 0; // the first long wait in a step
    while (waits.step[wait] < 4 || waits.end[wait] - waits.begin[wait] < 1000) {
        ASSERT_LT(++wait, waits.size());
    }
    const Picoseconds now((waits.begin[wait] + waits.end[wait]) / 2);
    const auto saysSo = [&](const RunView& run) {
        return layoutTimeline(run, at(now), kWide).caption.find("for the others")
               != std::string::npos;
    };
    const auto unitWaits = [&](const RunView& run) {
        const Scene scene = layoutMemory(run, at(now), {400, 600});
        const Rect name = textWith(scene, "MXU").rect;
        const std::vector<std::string> line = textsAt(scene, name.y + name.h / 2);
        return std::find(line.begin(), line.end(), "waits") != line.end();
    };
    const RunView forCopy = runViewOf(mainJobBuilder().finish().value());
    EXPECT_FALSE(saysSo(forCopy));
    EXPECT_TRUE(unitWaits(forCopy));
    waits.copy[wait] = trace::kNone;
    const RunView forOthers = runViewOf(std::move(builder).finish().value());
    EXPECT_TRUE(saysSo(forOthers));
    EXPECT_FALSE(unitWaits(forOthers));
}
