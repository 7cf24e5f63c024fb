// Tooltips: what they say about each kind of target.
#include "core/analysis/band.h"
#include "core/base/format.h"
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"
#include "views/layout/tooltip/tooltip.h"
#include "views/layout/views.h"

#include <gtest/gtest.h>

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
    const auto lines = tip(target::Copy{0});
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
    // The first wait after the prologue is for a copy that is queued behind a write-back.
    std::size_t wait = 2;
    while (waits.end[wait] == waits.begin[wait]) {
        ++wait;
    }
    const auto lines = tip(target::Copy{waits.copy[wait]});
    EXPECT_NE(lines[2].find("queued "), std::string::npos) << lines[2];
    EXPECT_NE(lines[3].find("it queued behind out(0,0)"), std::string::npos) << lines[3];
    const auto why = tip(target::Wait{static_cast<std::int64_t>(wait)});
    EXPECT_EQ(why[0].rfind("step 9 waits for x(", 0), 0U) << why[0];
    EXPECT_NE(why[2].find("queued behind out(0,0)"), std::string::npos) << why[2];
}

TEST(Tooltip, ofACopyThatHidesSaysSo)
{
    const auto lines = tip(target::Copy{4});
    EXPECT_EQ(lines[3], "no step waits for it: it hides behind the steps before");
}

TEST(Tooltip, ofStepsGivesTheirTimeAndWhatWasBusy)
{
    const auto one = tip(target::Steps{9, 9});
    EXPECT_EQ(one[0], "step 9 (0,1,1)");
    EXPECT_NE(one[2].find("MXU 1.37 µs"), std::string::npos) << one[2];
    const auto two = tip(target::Steps{304, 305});
    EXPECT_EQ(two[0], "steps 304–305");
    EXPECT_NE(two[2].find("MXU 2.73 µs"), std::string::npos) << two[2];
}

TEST(Tooltip, everyTargetOfEveryViewHasAName)
{
    const RunView& run = test::sharedMainJob();
    ViewState state;
    state.visible = firstFrame(*run.trace);
    state.now = Picoseconds(5'320'000);
    for (const View& each : allViews()) {
        const auto scene = picture(each.name, run, state, {1000, 600});
        ASSERT_TRUE(scene.has_value());
        for (const Hit& hit : scene->hits) {
            if (hit.target == Target(target::Time{})) {
                continue;
            }
            const auto lines = tooltip(run, state, hit.target);
            if (const auto* line = std::get_if<target::ListingLine>(&hit.target);
                line != nullptr
                && run.trace->info().listing[static_cast<std::size_t>(line->line)].operation < 0) {
                EXPECT_TRUE(lines.empty()); // a line with only a brace says nothing
                continue;
            }
            ASSERT_FALSE(lines.empty()) << each.name << " kind " << hit.target.index();
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
    const auto lines = tooltip(run, {}, target::Print{0});
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
    const auto linesOf = [&] { return tooltip(run, {}, target::Alternative{0}); };
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
    for (const std::int64_t a : {-2LL, 1LL << 40, -(1LL << 40)}) {
        for (const std::int64_t b : {-500, -1, 0, 17, 499}) {
            const auto unit = static_cast<std::int32_t>(a < 0 ? -5 : 1 << 20);
            const std::vector<Target> missing = {
                {},
                target::Copy{a},
                target::Steps{a, b},
                target::Segment{a},
                target::Operation{a, b},
                target::Operation{a, {}},
                target::Block{a, b},
                target::Buffer{a},
                target::Wait{a},
                target::SourceLine{a, b},
                target::ListingLine{a},
                target::Alternative{a},
                target::Finding{a},
                target::Finding{},
                target::Print{a},
                target::Lane{lane::Unit{unit}},
                target::Lane{lane::AgentWaits{unit}},
                target::Lane{lane::KindWaits{unit}},
                target::Lane{lane::Device{unit}},
                target::Lane{lane::DeviceCopies{unit, unit}},
                target::Lane{lane::DeviceUnit{unit, unit}},
                target::Piece{unit, 0, {}},
                target::Piece{0, a, {}},
                target::Device{unit},
                target::Cached{unit, a},
                target::Ceiling{a},
                target::SweepRow{a},
                target::Lane{lane::DeviceWaits{unit}},
                target::Moment{lane::Unit{unit}, Picoseconds(b)},
                target::Time{},
            };
            for (const Target& target : missing) {
                EXPECT_TRUE(tip(target).empty()) << "kind " << target.index();
            }
        }
    }
    // A time after the end counts as the end.
    EXPECT_FALSE(tip(target::Time{Picoseconds(std::int64_t{1} << 40)}).empty());
}
