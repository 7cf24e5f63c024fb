// The strip of the whole run and the strip with the verdict.
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"
#include "views/layout/overview/overview.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/tooltip/tooltip.h"

#include <gtest/gtest.h>

using namespace pallascope;
using namespace pallascope::layout;

namespace {

int countFills(const Scene& scene, Color color)
{
    int count = 0;
    for (const Item& item : scene.items) {
        const auto* fill = std::get_if<FillItem>(&item);
        count += fill != nullptr && fill->color == color ? 1 : 0;
    }
    return count;
}

template<class Kind>
bool hasTarget(const Scene& scene)
{
    return std::any_of(scene.hits.begin(), scene.hits.end(),
                       [](const Hit& hit) { return is<Kind>(hit.target); });
}

} // namespace

TEST(Overview, hasAMarkForEveryWaitUpToOnePerTwoPixels)
{
    ViewState state;
    state.visible = firstFrame(*test::sharedMainJob().trace);
    // There are 63 stalled steps and the prologue, far apart. The waits for x and y of one step
    // touch, so they make one mark.
    EXPECT_EQ(countFills(layoutOverview(test::sharedMainJob(), state, {1900, 40}), Role::Wait), 65);
    EXPECT_LE(countFills(layoutOverview(test::sharedMainJob(), state, {60, 40}), Role::Wait), 30);
    EXPECT_GE(countFills(layoutOverview(test::sharedMainJob(), state, {60, 40}), Role::Wait), 15);
}

TEST(Overview, theStripIsCutAtThePlayhead)
{
    ViewState state;
    state.visible = firstFrame(*test::sharedMainJob().trace);
    state.now = Picoseconds(test::sharedMainJob().trace->end().value() / 2);
    const Scene scene = layoutOverview(test::sharedMainJob(), state, {1000, 40});
    const auto& whole = std::get<FillItem>(scene.items[0]);
    const auto& past = std::get<FillItem>(scene.items[1]);
    EXPECT_EQ(whole.rect.w, 1000);
    EXPECT_EQ(past.rect.w, 500);
}

// Without all values, NaN and undefined elements are not looked for.
TEST(VerdictStrip, itsTickIsGreenOnlyIfValuesWereChecked)
{
    const auto hasGreen = [](const RunView& run) {
        const Scene scene = layoutVerdictStrip(run, {}, {1280, 26});
        return std::any_of(scene.items.begin(), scene.items.end(), [](const Item& item) {
            const auto* disc = std::get_if<DiscItem>(&item);
            return disc != nullptr && disc->fill == Color(Role::Ok);
        });
    };
    EXPECT_TRUE(hasGreen(test::sharedMainJob()));
    trace::TraceBuilder builder = test::mainJobBuilder();
    builder.info.values = "needed";
    EXPECT_FALSE(hasGreen(test::runViewOf(std::move(builder).finish().value())));
}

TEST(VerdictStrip, keepsTheFindingsCountAtAnyWidth)
{
    for (const double width : {200.0, 400.0, 900.0, 1280.0, 1920.0}) {
        const Scene scene = layoutVerdictStrip(test::sharedMainJob(), {}, {width, 26});
        EXPECT_TRUE(hasTarget<target::Finding>(scene)) << width;
        bool counted = false;
        double rightOfText = 0;
        double leftOfCount = width;
        for (const Item& item : scene.items) {
            const auto* text = std::get_if<TextItem>(&item);
            if (text == nullptr) {
                continue;
            }
            if (text->text == "0 findings") {
                counted = true;
                leftOfCount = text->rect.x;
            } else if (text->size == 12) {
                rightOfText = std::max(
                    rightOfText, text->rect.x + textWidth(text->text, text->size, text->weight));
            }
        }
        EXPECT_TRUE(counted) << width;
        EXPECT_LE(rightOfText, leftOfCount) << width;
    }
}

TEST(VerdictStrip, saysBoundRateAndTimeAndSuggestsTheBestAlternative)
{
    const Scene scene = layoutVerdictStrip(test::sharedMainJob(), {}, {1920, 26});
    const std::string text = analysis::plain(scene.caption);
    EXPECT_EQ(text.rfind("Memory-bound. 142.4 TFLOP/s, 72.3 % of peak in 966.2 µs (927.6 µs to "
                         "1.00 ms); 227.8 FLOP/B is under the ridge of 240.5",
                         0),
              0U)
        << text;
    EXPECT_TRUE(hasTarget<target::Alternative>(scene));
    EXPECT_EQ(countFills(scene, Role::Hbm), 1);
}

// Of all words of the strip, only the time with its band has a tooltip, at every width that shows
// it.
TEST(VerdictStrip, theTimeAnswersWithWhatItsBandRestsOn)
{
    const RunView& run = test::sharedMainJob();
    for (const double width : {700.0, 900.0, 1280.0, 1920.0}) {
        const Scene scene = layoutVerdictStrip(run, {}, {width, 26});
        const auto at = [&](const std::string& words) {
            for (const Item& item : scene.items) {
                const auto* text = std::get_if<TextItem>(&item);
                if (text != nullptr && text->text.starts_with(words)) {
                    return hitTest(scene, text->rect.x + 1, 12, 0);
                }
            }
            ADD_FAILURE() << words << " at " << width;
            return Target{};
        };
        const Target time = at("966.2 µs");
        EXPECT_EQ(time, (Target(target::Time{run.trace->end()}))) << width;
        EXPECT_EQ(at(" (927.6 µs"), time) << width;
        EXPECT_EQ(at("Memory-bound."), Target{}) << width;
        const std::vector<std::string> lines = tooltip(run, {}, time);
        EXPECT_NE(std::find(lines.begin(), lines.end(),
                            "927.6 µs to 1.00 ms: all of 4 timings of products on TPU v5e lie "
                            "within"),
                  lines.end())
            << lines[lines.size() - 2];
    }
}

TEST(VerdictStrip, withoutABandSaysTheTimeAlone)
{
    RunView run = test::sharedMainJob();
    run.report.band.reset();
    const Scene scene = layoutVerdictStrip(run, {}, {1920, 26});
    EXPECT_NE(scene.caption.find("in |966.2 µs|; 227.8"), std::string::npos) << scene.caption;
    EXPECT_FALSE(hasTarget<target::Time>(scene));
}
