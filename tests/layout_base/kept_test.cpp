// A run beside a kept one: alignment by time and by step, the gaps between steps, what captions and
// the roofline say, and when nothing is comparable.
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"
#include "views/layout/overview/overview.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/timeline/painter.h"
#include "views/layout/tooltip/tooltip.h"
#include "views/layout/views.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace pallascope;
using namespace pallascope::layout;

namespace {

constexpr Size kKeptSize = {1280, 220};

std::shared_ptr<const RunView> shared(RunView run)
{
    return std::make_shared<const RunView>(std::move(run));
}

// 64 steps each, of other lengths.
const std::shared_ptr<const RunView>& slowRun()
{
    static const auto run = shared(test::runViewOf(test::mainJob(1024)));
    return run;
}

const std::shared_ptr<const RunView>& fastRun()
{
    static const auto run = shared(test::runViewOf(test::mainJob(512, 2048)));
    return run;
}

ViewState beside(const RunView& run, const std::shared_ptr<const RunView>& kept, bool bySteps,
                 double share = 0.6)
{
    ViewState state;
    state.kept = keptBeside(kept, run);
    state.isKeptBySteps = bySteps;
    state.now = Picoseconds(std::llround(share * static_cast<double>(run.trace->end().value())));
    state.visible = frameAround(*run.trace, state.now);
    return state;
}

bool hasText(const Scene& scene, const std::string& text)
{
    return std::any_of(scene.items.begin(), scene.items.end(), [&](const Item& item) {
        const auto* of = std::get_if<TextItem>(&item);
        return of != nullptr && of->text == text;
    });
}

} // namespace

TEST(Alignment, eachPartIsAsLongAsTheLongerOfTheTwo)
{
    const AlignedPair pair = align({0, 10, 30, 35}, {0, 20, 25, 45});
    EXPECT_EQ(pair.one.places, (std::vector<std::int64_t>{0, 20, 40, 60}));
    EXPECT_EQ(pair.other.places, pair.one.places);
    EXPECT_EQ(pair.one.place(15), 25);
    EXPECT_EQ(pair.one.time(25), 15);
    EXPECT_EQ(pair.one.time(15), 9) << "the last moment before the gap";
    EXPECT_EQ(pair.one.gapBehind(0), 10);
    EXPECT_EQ(pair.other.gapBehind(0), 0);
    EXPECT_EQ(pair.one.place(50), 75) << "time goes on behind the end";
    EXPECT_EQ(pair.one.time(75), 50);
}

TEST(KeptRun, byStepEachStepBeginsAtTheSamePlaceInBothTimeLines)
{
    for (const auto& [run, kept] :
         {std::pair(fastRun(), slowRun()), std::pair(slowRun(), fastRun())}) {
        const ViewState state = beside(*run, kept, true);
        ASSERT_TRUE(isBySteps(state)) << state.kept->notBySteps;
        const TimeAxis now = timelineAxis(state, kKeptSize), its = keptAxis(state, kKeptSize);
        int inSight = 0;
        for (std::size_t step = 0; step < run->trace->steps().size(); ++step) {
            const double x = now.toX(Picoseconds(run->trace->steps().begin[step]));
            EXPECT_DOUBLE_EQ(x, its.toX(Picoseconds(kept->trace->steps().begin[step]))) << step;
            inSight += x >= now.left && x <= now.left + now.width ? 1 : 0;
        }
        EXPECT_GE(inSight, 3);
        const ViewState other = keptState(state);
        EXPECT_NEAR(now.toX(state.now), its.toX(other.now), now.width)
            << "the playheads stand at the same place unless it lies in a gap";
        EXPECT_EQ(trace::stepAt(*run->trace, state.now)->number,
                  trace::stepAt(*kept->trace, other.now)->number);
    }
}

TEST(KeptRun, byTimeBothTimeLinesHaveOneAxisThatReachesToTheLaterEnd)
{
    const ViewState state = beside(*fastRun(), slowRun(), false);
    const TimeAxis now = timelineAxis(state, kKeptSize), its = keptAxis(state, kKeptSize);
    EXPECT_EQ(now.range, its.range);
    EXPECT_EQ(now.toX(Picoseconds(123'456)), its.toX(Picoseconds(123'456)));
    EXPECT_EQ(axisEnd(*fastRun(), state), slowRun()->trace->end());
    EXPECT_EQ(overviewEnd(*fastRun(), state), slowRun()->trace->end());
    EXPECT_EQ(keptState(state).now, state.now);
}

TEST(KeptRun, runsOfOtherStepsAreAlignedByTimeAndTheCaptionSaysWhy)
{
    const RunView& run = test::sharedMainJob();
    const ViewState state = beside(run, slowRun(), true);
    EXPECT_FALSE(isBySteps(state));
    const Scene scene = layoutTimeline(run, state, kKeptSize);
    EXPECT_NE(scene.caption.find("aligned by time: this run has 512 steps, the kept one 64 steps"),
              std::string::npos)
        << scene.caption;
}

TEST(KeptRun, aBarGoesOnBehindAGapAndIsNotStretched)
{
    ViewState state = beside(*fastRun(), slowRun(), true);
    state.visible = {Picoseconds(0), fastRun()->trace->end()};
    const TimeAxis axis = timelineAxis(state, {6000, 220});
    const std::vector<timeline::Gap> gaps = timeline::gapsOf(axis);
    ASSERT_GE(gaps.size(), 3U);
    const double pxPerPs =
        axis.width / static_cast<double>((axis.places.end - axis.places.begin).value());
    const timeline::Lane lane = {
        timeline::LaneKind::CopyIn, -1, "copy in", Role::CopyIn, -1, {}, {0}};
    int crossing = 0;
    for (const timeline::Bar& bar :
         timeline::copyBars(*fastRun(), lane, {0}, axis, timeline::Level::Steps)) {
        if (bar.x0 < axis.left || bar.x1 > axis.left + axis.width || bar.count > 1) {
            continue;
        }
        const std::vector<timeline::Bar> pieces = timeline::cutAtGaps({bar}, gaps);
        crossing += pieces.size() > 1 ? 1 : 0;
        double wide = 0;
        for (const timeline::Bar& piece : pieces) {
            wide += piece.x1 - piece.x0;
            for (const timeline::Gap& gap : gaps) {
                EXPECT_TRUE(piece.x1 <= gap.x0 || piece.x0 >= gap.x1);
            }
        }
        EXPECT_NEAR(wide, static_cast<double>(bar.end - bar.begin) * pxPerPs,
                    1 + static_cast<double>(pieces.size()));
    }
    EXPECT_GT(crossing, 0) << "copies for the next step run on into it";
}

TEST(KeptRun, bothTimeLinesAreThere)
{
    const ViewState state = beside(*fastRun(), slowRun(), false);
    const Scene scene = layoutTimeline(*fastRun(), state, kKeptSize);
    EXPECT_TRUE(hasText(scene, "now"));
    EXPECT_TRUE(hasText(scene, "kept"));
    ViewState alone = state;
    alone.kept = nullptr;
    EXPECT_FALSE(hasText(layoutTimeline(*fastRun(), alone, kKeptSize), "kept"));
}

TEST(KeptRun, everyCaptionSaysHowTheRunDiffers)
{
    const ViewState state = beside(*fastRun(), slowRun(), false);
    for (const View& view : allViews()) {
        if (view.name == "devices") { // there is one device
            continue;
        }
        const std::string caption =
            parts::plain(view.layout(*fastRun(), state, view.pictureSize).caption);
        const std::string said = caption.substr(0, caption.find(" · "));
        EXPECT_NE(said.find("kept"), std::string::npos) << view.name << ": " << caption;
    }
}

TEST(KeptRun, whatTheFiguresSayIsWhatTheReportsSay)
{
    const auto kept = keptBeside(slowRun(), *fastRun());
    const analysis::Figure& time = kept->figure("time_s");
    EXPECT_DOUBLE_EQ(time.a, toSeconds(slowRun()->report.time).value());
    EXPECT_DOUBLE_EQ(time.b, toSeconds(fastRun()->report.time).value());
    EXPECT_EQ(kept->figure("steps").a, 64);
    const auto same = keptBeside(fastRun(), *fastRun());
    EXPECT_EQ(same->name, "the run before");
    for (const analysis::Figure& figure : same->figures) {
        EXPECT_EQ(analysis::changeText(figure), "same") << figure.name;
    }
}

// As `compare` does. Only the roofs of another chip are others.
TEST(KeptRun, mayBeOfAnotherKernelOrChip)
{
    for (const bool isChip : {false, true}) {
        trace::TraceBuilder builder = test::mainJobBuilder(1024);
        (isChip ? builder.info.chipName : builder.info.kernel) = "other";
        const auto other = shared(test::runViewOf(std::move(builder).finish().value()));
        const ViewState state = beside(*fastRun(), other, false, 1);
        EXPECT_EQ(state.kept->isOfKernel, isChip);
        EXPECT_EQ(state.kept->isOnChip, !isChip);
        EXPECT_TRUE(state.kept->name.starts_with("other")) << state.kept->name;
        const Scene roofline = findView("roofline")->layout(*fastRun(), state, {800, 600});
        EXPECT_EQ(std::ranges::any_of(roofline.items,
                                      [](const Item& item) {
                                          const auto* disc = std::get_if<DiscItem>(&item);
                                          return disc != nullptr && disc->edge == Color(Role::Text);
                                      }),
                  !isChip);
        const Scene strip = layoutVerdictStrip(*fastRun(), state, {1600, 26});
        EXPECT_NE(strip.caption.find("than the kept run (other"), std::string::npos)
            << strip.caption;
    }
}

TEST(KeptRun, theRooflineHasAHollowPointWhereTheKeptRunIs)
{
    const auto discs = [](const ViewState& state) {
        std::vector<DiscItem> found;
        const Scene scene = findView("roofline")->layout(*fastRun(), state, {800, 600});
        for (const Item& item : scene.items) {
            const auto* disc = std::get_if<DiscItem>(&item);
            if (disc != nullptr && disc->edge == Color(Role::Text)) {
                found.push_back(*disc);
            }
        }
        return found;
    };
    ViewState state = beside(*fastRun(), slowRun(), false, 1);
    const std::vector<DiscItem> rings = discs(state);
    ASSERT_EQ(rings.size(), 1U);
    EXPECT_EQ(rings.front().fill, Color(Role::View));
    state.kept = nullptr;
    EXPECT_TRUE(discs(state).empty());
}

// A thing in the lanes of the kept run is told apart from one of the present run with the same row,
// and its tooltip is what that run says of it.
TEST(KeptRun, itsLanesHaveTargetsOfTheirOwnWithTheKeptRunsWords)
{
    const ViewState state = beside(*fastRun(), slowRun(), true);
    const Scene scene = layoutTimeline(*fastRun(), state, kKeptSize);
    int copies = 0, lanes = 0;
    for (const Hit& hit : scene.hits) {
        const auto* kept = std::get_if<target::Kept>(&hit.target);
        EXPECT_EQ(kept != nullptr, hit.rect.y >= kKeptSize.height / 2 - 1) << hit.rect.y;
        if (kept == nullptr) {
            continue;
        }
        EXPECT_EQ(asKept(ofKept(*kept)), hit.target);
        EXPECT_LE(hit.rect.bottom(), kKeptSize.height);
        copies += is<target::Copy>(ofKept(*kept)) ? 1 : 0;
        lanes += is<target::Lane>(ofKept(*kept)) ? 1 : 0;
        std::vector<std::string> its = tooltip(*slowRun(), keptState(state), ofKept(*kept));
        ASSERT_FALSE(its.empty());
        its.front() += " · kept run (" + state.kept->name + ")";
        EXPECT_EQ(tooltip(*fastRun(), state, hit.target), its);
    }
    EXPECT_GE(copies, 3);
    EXPECT_GE(lanes, 3);
    EXPECT_TRUE(tooltip(*fastRun(), ViewState{}, target::Kept{target::Copy{0}}).empty())
        << "nothing is kept";
    EXPECT_TRUE(isNothing(asKept(target::Time{}))) << "no lane has it";
}
