#include "core/analysis/band.h"
#include "core/base/format.h"
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"
#include "views/layout/layouts.h"

#include <gtest/gtest.h>

#include <random>

using namespace pallascope;
using namespace pallascope::layout;

namespace {

std::vector<std::string> tip(Target target)
{
    ViewState state;
    state.now = Picoseconds(5'320'000);
    state.visible = firstFrame(*test::sharedMainJob().trace);
    return tooltip(test::sharedMainJob(), state, target);
}

} // namespace

TEST(Tooltip, ofACopySaysWhatHowFastWhenAndWhy)
{
    const auto lines = tip({TargetKind::Copy, 0, -1});
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_EQ(lines[0], "copy x(0,0)  HBM → VMEM x·0");
    EXPECT_EQ(lines[1], "512 KiB in 0.80 µs, 655 GB/s");
    EXPECT_EQ(lines[2], "issued 0 µs, ran 0 µs – 0.80 µs");
    EXPECT_EQ(lines[3], "step 0 waits 0.80 µs for it");
    EXPECT_NE(lines[4].find("524\u2009288 bytes"), std::string::npos);
    EXPECT_NE(lines[4].find(" ps"), std::string::npos);
}

TEST(Tooltip, ofAQueuedCopyNamesTheOneInFront)
{
    const auto& trace = *test::sharedMainJob().trace;
    const auto& waits = trace.waits();
    // The first wait after the prologue is for a copy behind a write-back.
    std::size_t wait = 2;
    while (waits.end[wait] == waits.begin[wait]) {
        ++wait;
    }
    const auto lines = tip({TargetKind::Copy, waits.copy[wait], -1});
    EXPECT_NE(lines[2].find("queued "), std::string::npos) << lines[2];
    EXPECT_NE(lines[3].find("it queued behind out(0,0)"), std::string::npos) << lines[3];
    const auto why = tip({TargetKind::Wait, static_cast<std::int64_t>(wait), -1});
    EXPECT_EQ(why[0].rfind("step 9 waits for x(", 0), 0U) << why[0];
    EXPECT_NE(why[2].find("queued behind out(0,0)"), std::string::npos) << why[2];
}

TEST(Tooltip, ofACopyThatHidesSaysSo)
{
    const auto lines = tip({TargetKind::Copy, 4, -1});
    EXPECT_EQ(lines[3], "no step waits for it: it hides behind the steps before");
}

TEST(Tooltip, ofStepsGivesTheirTimeAndWhatWasBusy)
{
    const auto one = tip({TargetKind::Step, 9, -1});
    EXPECT_EQ(one[0], "step 9 (0,1,1)");
    EXPECT_NE(one[2].find("MXU 1.37 µs"), std::string::npos) << one[2];
    const auto two = tip({TargetKind::Step, 304, 305});
    EXPECT_EQ(two[0], "steps 304–305");
    EXPECT_NE(two[2].find("MXU 2.73 µs"), std::string::npos) << two[2];
}

TEST(Tooltip, everyTargetOfEveryViewHasAName)
{
    const RunView& run = test::sharedMainJob();
    ViewState state;
    state.visible = firstFrame(*run.trace);
    state.now = Picoseconds(5'320'000);
    for (const std::string& name : pictureNames()) {
        const auto scene = picture(name, run, state, {1000, 600});
        ASSERT_TRUE(scene.has_value());
        for (const Hit& hit : scene->hits) {
            if (hit.target.kind == TargetKind::Time && hit.target.a < 0) {
                continue;
            }
            const auto lines = tooltip(run, state, hit.target);
            if (hit.target.kind == TargetKind::ListingLine
                && run.trace->info().listing[static_cast<std::size_t>(hit.target.a)].operation
                       < 0) {
                EXPECT_TRUE(lines.empty()); // a brace says nothing
                continue;
            }
            ASSERT_FALSE(lines.empty()) << name << " kind " << static_cast<int>(hit.target.kind)
                                        << " a " << hit.target.a << " b " << hit.target.b;
            for (const std::string& line : lines) {
                EXPECT_FALSE(line.empty()) << lines[0];
            }
        }
    }
}

TEST(Tooltip, ofAPrintSaysTextTimeStepAndLine)
{
    trace::TraceBuilder builder = test::mainJobBuilder();
    const Picoseconds time(builder.steps.bodyEnd[2]);
    builder.info.prints = {{"x = 7", 2, 0, time, {0, 4}}};
    const RunView run = test::runViewOf(std::move(builder).finish().value());
    const auto lines = tooltip(run, {}, {TargetKind::Print, 0, -1});
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[0], "x = 7");
    EXPECT_EQ(lines[1], "printed at " + timeText(time) + " in step 2");
    EXPECT_NE(lines[2].find("line 4"), std::string::npos) << lines[2];
}

TEST(Tooltip, ofAnAlternativeSaysItsBandAndWhetherItIsSure)
{
    RunView run = test::sharedMainJob();
    run.alternatives.resize(1);
    analysis::Alternative& other = run.alternatives[0];
    other.name = "1024-blocks";
    other.time = Picoseconds(run.report.time.value() / 2);
    const auto linesOf = [&] { return tooltip(run, {}, {TargetKind::Alternative, 0, -1}); };
    const std::size_t without = linesOf().size();
    const chip::Residual support{
        .work = "products", .rows = 20, .low = -0.1, .high = 0.1, .ratio = {}, .source = "a test"};
    run.report.band = analysis::bandOf(run.report.time, "products", support);
    other.band = analysis::bandOf(other.time, "products", support);
    const auto lines = linesOf();
    ASSERT_EQ(lines.size(), without + 1);
    EXPECT_EQ(lines[2], analysis::bandText(*other.band) + ", surely faster");
}

TEST(Tooltip, targetsThatDoNotExistHaveNone)
{
    std::mt19937_64 random(11);
    for (int kind = 0; kind <= static_cast<int>(TargetKind::Time); ++kind) {
        for (const std::int64_t a : {-2LL, 1LL << 40, -(1LL << 40)}) {
            const auto b = static_cast<std::int64_t>(random() % 1000) - 500;
            const Target target = {static_cast<TargetKind>(kind), a, b};
            if (target.kind == TargetKind::Time && a > 0) {
                EXPECT_FALSE(tip(target).empty()); // clamped to the run
            } else {
                EXPECT_TRUE(tip(target).empty()) << kind;
            }
        }
    }
}
