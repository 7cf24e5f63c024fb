// The tags of breakpoints: below the strip of the whole run and on the ruler of the time line.
#include "core/base/format.h"
#include "tests/layout_views/scene_probe.h"
#include "tests/support/run_view_fixture.h"
#include "views/layout/overview/overview.h"
#include "views/layout/run/break_marks.h"
#include "views/layout/timeline/timeline.h"
#include "views/layout/tooltip/tooltip.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::test {

namespace {

using layout::BreakStops;
using layout::Hit;
using layout::RunView;
using layout::Scene;
namespace target = layout::target;

std::int64_t bodyOf(std::size_t step)
{
    return sharedMainJob().trace->steps().bodyBegin[step];
}

layout::ViewState looking(std::vector<BreakStops> breaks)
{
    layout::ViewState state = at(Picoseconds(bodyOf(301)));
    state.visible = {Picoseconds(bodyOf(298)), Picoseconds(bodyOf(302))};
    state.breaks = std::make_shared<const std::vector<BreakStops>>(std::move(breaks));
    return state;
}

// The tags, which lead to their own times; the places of a strip or a ruler lead to none.
std::vector<Hit> tagsIn(const Scene& scene)
{
    std::vector<Hit> tags;
    std::ranges::copy_if(scene.hits, std::back_inserter(tags), [](const Hit& hit) {
        const auto* time = std::get_if<target::Time>(&hit.target);
        return time != nullptr && time->time && hit.rect.w == layout::kBreakWide + 2;
    });
    return tags;
}

const layout::PolygonItem* polygonIn(const Scene& scene, const layout::Rect& rect)
{
    for (const layout::Item& item : scene.items) {
        const auto* polygon = std::get_if<layout::PolygonItem>(&item);
        if (polygon != nullptr && polygon->points.size() == 5
            && rect.contains(polygon->points[3].x, polygon->points[3].y)) {
            return polygon;
        }
    }
    return nullptr;
}

} // namespace

TEST(BreakMarks, standBelowTheStripAndPointAtTheirMoments)
{
    const RunView& run = sharedMainJob();
    const Scene strip =
        layoutOverview(run, looking({{"grid:3,0,0", {bodyOf(192)}, true}}), {900, 32});
    const std::vector<Hit> tags = tagsIn(strip);
    ASSERT_EQ(tags.size(), 1U);
    EXPECT_EQ(tags[0].target, layout::Target(target::Time{Picoseconds(bodyOf(192))}));
    const double share =
        static_cast<double>(bodyOf(192)) / static_cast<double>(run.trace->end().value());
    const layout::PolygonItem* tag = polygonIn(strip, tags[0].rect);
    ASSERT_NE(tag, nullptr);
    EXPECT_NEAR(tag->points[3].x, 900 * share, 1);
    EXPECT_LT(tag->points[3].y, tag->points[0].y); // it points up
    EXPECT_LE(tag->points[0].y, 32);
}

TEST(BreakMarks, standOnTheRulerWhereTheirMomentsAreInSight)
{
    const RunView& run = sharedMainJob();
    const Scene scene = layoutTimeline(
        run, looking({{"line:matmul.cpp:12", {bodyOf(100), bodyOf(299), bodyOf(300)}, true}}),
        {1280, 260});
    const std::vector<Hit> tags = tagsIn(scene);
    ASSERT_EQ(tags.size(), 2U);
    for (const Hit& hit : tags) {
        EXPECT_LE(hit.rect.bottom(), layout::timeline::kRuler + 1);
        for (const layout::TextItem& text : textsOf(scene)) {
            const layout::Rect ink = inkOf(text);
            EXPECT_TRUE(ink.right() <= hit.rect.x || ink.x >= hit.rect.right()
                        || ink.y >= hit.rect.bottom())
                << text.text;
        }
    }
}

TEST(BreakMarks, ofOneThatIsOffAreOutlinesAndGiveWay)
{
    const std::vector<BreakStops> both{{"grid:0,0,0", {bodyOf(300), bodyOf(299)}, false},
                                       {"grid:0,0,1", {bodyOf(300)}, true}};
    std::vector<BreakStops> sorted = both;
    std::ranges::sort(sorted[0].times);
    const auto toX = [](Picoseconds t) { return t.value() == bodyOf(300) ? 60.0 : 20.0; };
    const auto marks =
        layout::breakMarks(looking(sorted), {Picoseconds(0), Picoseconds(1L << 40)}, toX);
    ASSERT_EQ(marks.size(), 2U);
    EXPECT_TRUE(marks[0].isOn);
    EXPECT_EQ(marks[0].time, Picoseconds(bodyOf(300)));
    EXPECT_FALSE(marks[1].isOn);
}

// A line that runs in every step would be a solid band.
TEST(BreakMarks, areNeverCloserThanTheyAreWide)
{
    std::vector<std::int64_t> all;
    for (std::size_t step = 0; step < sharedMainJob().trace->steps().size(); ++step) {
        all.push_back(bodyOf(step));
    }
    const Scene strip =
        layoutOverview(sharedMainJob(), looking({{"line:1", all, true}}), {900, 32});
    const std::vector<Hit> tags = tagsIn(strip);
    EXPECT_GT(tags.size(), 60U);
    for (std::size_t i = 1; i < tags.size(); ++i) {
        EXPECT_GE(tags[i].rect.x - tags[i - 1].rect.x, layout::kBreakWide);
    }
}

// The times stay where a line stops everywhere.
TEST(BreakMarks, giveWayToTheTimesOfTheRulerIfTheyAreMany)
{
    std::vector<std::int64_t> all;
    for (std::size_t step = 0; step < sharedMainJob().trace->steps().size(); ++step) {
        all.push_back(bodyOf(step));
    }
    const auto timesOf = [](const layout::ViewState& state) {
        const Scene scene = layoutTimeline(sharedMainJob(), state, {1280, 260});
        std::size_t times = 0;
        for (const layout::TextItem& text : textsOf(scene)) {
            const layout::Rect ink = inkOf(text);
            if (text.text == timeText(state.now)) { // which lies over the tags
                continue;
            }
            times +=
                ink.y < layout::timeline::kRuler / 2 && ink.x > layout::timeline::kHead ? 1 : 0;
            for (const Hit& tag : tagsIn(scene)) {
                EXPECT_TRUE(ink.right() <= tag.rect.x || ink.x >= tag.rect.right()
                            || ink.y >= tag.rect.bottom())
                    << text.text;
            }
        }
        EXPECT_EQ(tagsIn(scene).size() > 20, state.breaks != nullptr);
        return times;
    };
    layout::ViewState state = looking({{"line:1", all, true}});
    state.visible = {Picoseconds(0), sharedMainJob().trace->end()};
    const std::size_t times = timesOf(state);
    EXPECT_GT(times, 4U);
    state.breaks = nullptr;
    EXPECT_EQ(times, timesOf(state));
}

TEST(BreakMarks, areNamedInTheTooltip)
{
    const auto lines =
        layout::tooltip(sharedMainJob(), looking({{"grid:4,5,0", {bodyOf(300)}, false}}),
                        target::Time{Picoseconds(bodyOf(300))});
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.front(), "breakpoint grid:4,5,0, off");
}

TEST(BreakMarks, areNotThereWithoutBreakpoints)
{
    layout::ViewState state = looking({});
    EXPECT_TRUE(tagsIn(layoutOverview(sharedMainJob(), state, {900, 32})).empty());
    state.breaks = nullptr;
    EXPECT_TRUE(tagsIn(layoutTimeline(sharedMainJob(), state, {1280, 260})).empty());
}

} // namespace pallascope::test
