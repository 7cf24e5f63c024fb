// The marks of findings: above the strip of the whole run, on the ruler of the time line, and in
// the gutter of the source.
#include "core/base/format.h"
#include "tests/layout_views/scene_probe.h"
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"
#include "views/layout/overview/overview.h"
#include "views/layout/run/finding_marks.h"
#include "views/layout/source/source.h"
#include "views/layout/timeline/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::test {

namespace {

using layout::Hit;
using layout::Rect;
using layout::RunView;
using layout::Scene;
namespace target = layout::target;

constexpr std::int64_t kWarning = 0, kError = 1;

trace::Finding finding(const char* kind, std::int64_t step, std::int32_t line)
{
    return {kind, trace::FindingClass::Structural, "What it is about.", "out", step, {}, {0, line},
            1};
}

// A warning and an error at step 300, in lines 3 and 7, and two more warnings elsewhere.
RunView run()
{
    trace::TraceBuilder builder = mainJobBuilder();
    builder.info.findings = {finding("over_scoped_limit", 300, 3), finding("race", 300, 7),
                             finding("over_scoped_limit", 8, 3),
                             finding("over_scoped_limit", 9, 4)};
    return runViewOf(std::move(builder).finish().value());
}

Picoseconds beginOf(const RunView& run, std::size_t step)
{
    return Picoseconds(run.trace->steps().begin[step]);
}

std::vector<Hit> marksIn(const Scene& scene)
{
    std::vector<Hit> marks;
    std::copy_if(
        scene.hits.begin(), scene.hits.end(), std::back_inserter(marks),
        [](const Hit& hit) { return std::holds_alternative<target::Finding>(hit.target); });
    return marks;
}

double middleOf(const Rect& rect)
{
    return rect.x + rect.w / 2;
}

const Hit& hitOf(const Scene& scene, const layout::Target& wanted)
{
    const auto hit = std::find_if(scene.hits.begin(), scene.hits.end(),
                                  [&](const Hit& one) { return one.target == wanted; });
    EXPECT_NE(hit, scene.hits.end());
    return *hit;
}

} // namespace

TEST(FindingMarks, ofPlacesThatLieOnOneAnotherTheMostSevereStands)
{
    const RunView view = run();
    const auto all = layout::findingMarks(view, [](Picoseconds) { return std::optional(50.0); });
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].finding, kError);
    const auto none =
        layout::findingMarks(view, [](Picoseconds) { return std::optional<double>(); });
    EXPECT_TRUE(none.empty());
}

TEST(FindingMarks, standAboveTheStripOfTheWholeRun)
{
    const RunView view = run();
    const Scene strip = layout::layoutOverview(view, at(Picoseconds(0)), {900, 32});
    const std::vector<Hit> marks = marksIn(strip);
    ASSERT_EQ(marks.size(), 2U); // steps 8 and 9 are less than a mark apart
    const double share = static_cast<double>(beginOf(view, 300).value())
                         / static_cast<double>(view.trace->end().value());
    EXPECT_EQ(marks[0].target, layout::Target(target::Finding{kError}));
    EXPECT_NEAR(middleOf(marks[0].rect), 900 * share, 1);
    EXPECT_GE(marks[1].rect.x, -1);
}

TEST(FindingMarks, standOnTheRulerWhereTheirTimeIsInSight)
{
    const RunView view = run();
    layout::ViewState state = at(beginOf(view, 301)); // its flag lies elsewhere
    state.visible = {beginOf(view, 298), beginOf(view, 302)};
    const Scene scene = layout::layoutTimeline(view, state, {1280, 260});
    const std::vector<Hit> marks = marksIn(scene);
    ASSERT_EQ(marks.size(), 1U);
    const Rect ruler = hitOf(scene, target::Time{}).rect;
    const double share = toSeconds(beginOf(view, 300) - state.visible.begin).value()
                         / toSeconds(state.visible.end - state.visible.begin).value();
    EXPECT_NEAR(middleOf(marks[0].rect), ruler.x + ruler.w * share, 1);
    for (const layout::TextItem& text : textsOf(scene)) {
        const Rect ink = inkOf(text);
        const bool apart = ink.right() <= marks[0].rect.x || ink.x >= marks[0].rect.right()
                           || ink.y >= marks[0].rect.bottom();
        EXPECT_TRUE(apart) << text.text;
    }
    state.visible = {beginOf(view, 100), beginOf(view, 104)};
    EXPECT_TRUE(marksIn(layout::layoutTimeline(view, state, {1280, 260})).empty());
}

// One goes to a finding to see when it is: its frame must not lie over the time.
TEST(FindingMarks, standBesideTheTimeOfThePlayhead)
{
    const RunView view = run();
    for (const std::size_t from : {298U, 300U}) {
        layout::ViewState state = at(beginOf(view, 300));
        state.visible = {beginOf(view, from), beginOf(view, 302)};
        const Scene scene = layout::layoutTimeline(view, state, {1280, 260});
        const std::vector<Hit> marks = marksIn(scene);
        ASSERT_EQ(marks.size(), 1U);
        bool isFound = false;
        for (const layout::TextItem& text : textsOf(scene)) {
            if (text.text == timeText(state.now)) {
                isFound = true;
                EXPECT_TRUE(text.rect.right() <= marks[0].rect.x
                            || marks[0].rect.right() <= text.rect.x);
            }
        }
        EXPECT_TRUE(isFound);
    }
}

TEST(FindingMarks, standInTheGutterOfTheLine)
{
    const RunView view = run();
    const Scene scene =
        layout::layoutSource(view, at(Picoseconds(0)), {600, 324}, layout::SourceTab::Source);
    for (const auto& [index, line] : {std::pair(kWarning, 3), std::pair(kError, 7)}) {
        const Rect mark = hitOf(scene, target::Finding{index}).rect;
        const Rect row = hitOf(scene, target::SourceLine{0, line}).rect;
        EXPECT_GE(mark.y, row.y - 1);
        EXPECT_LE(mark.bottom(), row.bottom() + 1);
        EXPECT_LT(mark.right(), row.x + row.w / 4);
    }
}

} // namespace pallascope::test
