// The roofline: its points, its labels and what must not move while playing.
#include "tests/support/run_view_fixture.h"
#include "views/layout/roofline/roofline.h"
#include "views/layout/scene/canvas.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace pallascope;
using namespace pallascope::layout;

namespace {

Scene roofline(const RunView& run, double share, Size size = {365, 216})
{
    ViewState state;
    state.now = Picoseconds(std::llround(share * static_cast<double>(run.trace->end().value())));
    return layoutRoofline(run, state, size);
}

// The texts of the ticks and the solid roof. These must not move while playing.
std::pair<std::set<std::string>, std::vector<Point>> frameOf(const Scene& scene)
{
    std::pair<std::set<std::string>, std::vector<Point>> frame;
    for (const Item& item : scene.items) {
        const auto* text = std::get_if<TextItem>(&item);
        if (text != nullptr && text->size == 10 && text->angle == 0 && text->align != Align::Left) {
            frame.first.insert(text->text + "@" + std::to_string(text->rect.x) + ","
                               + std::to_string(text->rect.y));
        }
        const auto* line = std::get_if<PolylineItem>(&item);
        if (line != nullptr && line->width == 1.6) {
            frame.second.insert(frame.second.end(), line->points.begin(), line->points.end());
        }
    }
    return frame;
}

std::vector<DiscItem> discsOf(const Scene& scene)
{
    std::vector<DiscItem> discs;
    for (const Item& item : scene.items) {
        if (const auto* disc = std::get_if<DiscItem>(&item)) {
            discs.push_back(*disc);
        }
    }
    return discs;
}

} // namespace

// The axes are those of the whole run, and its first product is far below them.
TEST(Roofline, aRunThatHasHardlyBegunIsARingAtTheEdge)
{
    const RunView& run = test::sharedMainJob();
    const double whole = static_cast<double>(run.trace->end().value());
    const auto first = [&] {
        for (double now = 1; now < whole; now *= 1.01) {
            const auto point = analysis::runPoint(*run.index, Picoseconds(std::llround(now)));
            if (point && point->flopsPerSecond > 0) {
                return now;
            }
        }
        return whole;
    }();
    for (const Size size : {Size{365, 216}, Size{900, 600}}) {
        const auto discs = discsOf(roofline(run, first / whole, size));
        ASSERT_EQ(discs.size(), 1U);
        const Scene atEnd = roofline(run, 1, size);
        const double lowest = discsOf(atEnd).front().center.y;
        EXPECT_GT(discs[0].center.y, lowest);
        EXPECT_GT(discs[0].center.y, 0.75 * size.height) << "at the edge below";
        EXPECT_LT(discs[0].center.y + discs[0].radius, size.height);
    }
    const Scene wide = roofline(run, first / whole, {900, 600});
    EXPECT_TRUE(std::ranges::any_of(wide.items, [](const Item& item) {
        const auto* text = std::get_if<TextItem>(&item);
        return text != nullptr && text->text.ends_with("beyond the axes");
    }));
}

TEST(Roofline, doesNotRescaleWhilePlaying)
{
    const auto first = frameOf(roofline(test::sharedMainJob(), 0.3));
    EXPECT_FALSE(first.first.empty());
    EXPECT_FALSE(first.second.empty());
    for (const double share : {0.001, 0.01, 0.1, 0.6, 1.0}) {
        EXPECT_EQ(frameOf(roofline(test::sharedMainJob(), share)), first) << share;
    }
}

TEST(Roofline, thePointNeverLiesOverItsRoof)
{
    for (double share = 0.005; share <= 1; share += 0.0173) {
        const Scene scene = roofline(test::sharedMainJob(), share, {1000, 600});
        const std::vector<Point> roof = frameOf(scene).second; // first the slope, then the roof
        ASSERT_EQ(roof.size(), 4U);
        const std::vector<DiscItem> discs = discsOf(scene);
        ASSERT_FALSE(discs.empty());
        for (const DiscItem& disc : discs) {
            const double slope =
                roof[0].y
                + (disc.center.x - roof[0].x) / (roof[1].x - roof[0].x) * (roof[1].y - roof[0].y);
            EXPECT_GE(disc.center.y, std::max(slope, roof[2].y) - 1e-6);
        }
    }
}

TEST(Roofline, theWindowPointShowsOnlyAfterAWholePeriod)
{
    const RunView& run = test::sharedMainJob();
    const double period = ratio(run.periodTime, run.trace->end());
    // The run point consists of two discs, its edge and itself.
    EXPECT_EQ(discsOf(roofline(run, period * 0.9)).size(), 2U);
    EXPECT_EQ(discsOf(roofline(run, period * 1.1)).size(), 3U);
}

TEST(Roofline, noTextLiesOverItsPointOrRing)
{
    const RunView& run = test::sharedMainJob();
    for (const double width : {365.0, 669.0, 1000.0}) {
        for (double share = 0.02; share <= 1; share += 0.0173) {
            SCOPED_TRACE(std::to_string(share) + " " + std::to_string(width));
            const Scene scene = roofline(run, share, {width, width / 1.8});
            for (const Item& item : scene.items) {
                const auto* text = std::get_if<TextItem>(&item);
                if (text == nullptr || text->align != Align::Left || text->angle != 0) {
                    continue;
                }
                const double right = text->rect.x + textWidth(text->text, text->size, text->weight);
                for (const DiscItem& disc : discsOf(scene)) {
                    const double r = disc.radius;
                    EXPECT_FALSE(text->rect.x < disc.center.x + r && disc.center.x - r < right
                                 && text->rect.y < disc.center.y + r
                                 && disc.center.y - r < text->rect.bottom())
                        << text->text;
                }
            }
        }
    }
}

TEST(Roofline, beforeAnythingIsComputedItSaysWhereTheRunWillBe)
{
    const Scene scene = roofline(test::sharedMainJob(), 0);
    EXPECT_EQ(analysis::plain(scene.caption),
              "nothing computed yet · whole run will sit at 227.8 FLOP/B");
    EXPECT_TRUE(discsOf(scene).empty());
}

TEST(Roofline, atTheEndThePointIsTheReports)
{
    const Scene scene = roofline(test::sharedMainJob(), 1);
    const std::string caption = analysis::plain(scene.caption);
    EXPECT_EQ(caption.rfind("whole run 142.4 TFLOP/s at 227.8 FLOP/B · ", 0), 0U) << caption;
}

TEST(Roofline, theTrailLeadsBackToItsTimes)
{
    const RunView& run = test::sharedMainJob();
    const Scene scene = roofline(run, 0.6, {669, 318});
    Picoseconds last;
    int places = 0;
    for (const Hit& hit : scene.hits) {
        if (const auto* at = std::get_if<target::Time>(&hit.target)) {
            ASSERT_TRUE(at->time);
            EXPECT_GE(*at->time, last);
            last = *at->time;
            ++places;
        }
    }
    EXPECT_GT(places, 20);
    EXPECT_EQ(last.value(), std::llround(0.6 * static_cast<double>(run.trace->end().value())));
}

TEST(Roofline, otherRunsAndCeilingsAppearFrom700Pixels)
{
    const auto alternatives = [](const Scene& scene) {
        std::set<std::int64_t> rows;
        for (const Hit& hit : scene.hits) {
            if (const auto* other = std::get_if<target::Alternative>(&hit.target)) {
                rows.insert(other->index);
            }
        }
        return rows.size();
    };
    EXPECT_EQ(alternatives(roofline(test::sharedMainJob(), 0.5, {699, 400})), 0U);
    EXPECT_GE(alternatives(roofline(test::sharedMainJob(), 0.5, {1000, 600})), 2U);
}

TEST(Roofline, theRunsPointStaysAboveARunThatComesOutTheSame)
{
    RunView run = test::sharedMainJob();
    analysis::Alternative same;
    same.name = "the same";
    same.arithmeticIntensity = run.report.arithmeticIntensity;
    same.flopsPerSecond = run.report.flopsPerSecond;
    run.alternatives = {same};
    const Scene scene = roofline(run, 1, {1000, 600});
    const DiscItem point = discsOf(scene).back();
    EXPECT_TRUE(is<target::Time>(hitTest(scene, point.center.x, point.center.y)));
}

TEST(Roofline, textsStayInsideThePicture)
{
    for (const Size size : {Size{365, 216}, Size{669, 318}, Size{1000, 614}, Size{300, 160}}) {
        for (const double share : {0.0, 0.004, 0.1, 0.6, 1.0}) {
            for (const Item& item : roofline(test::sharedMainJob(), share, size).items) {
                const auto* text = std::get_if<TextItem>(&item);
                if (text == nullptr || text->angle != 0) {
                    continue;
                }
                EXPECT_GE(text->rect.x, 0) << text->text;
                EXPECT_LE(text->rect.x + textWidth(text->text, text->size, text->weight),
                          size.width + 1)
                    << text->text << " in " << size.width << " at " << share;
                EXPECT_LE(text->rect.y + text->rect.h, size.height) << text->text;
            }
        }
    }
}

// The dot of the only link stands where the bytes so far over the time so far put it.
TEST(Roofline, aKernelWithoutFlopsShowsBytesPerSecondAgainstItsLink)
{
    RunView run = test::sharedMainJob();
    run.report.flops = Flops(0);
    run.report.roofline.peak.reset();
    run.report.arithmeticIntensity = 0;
    const double datasheet = run.trace->info().links[0].datasheet.value();
    for (const Size size : {Size{365, 216}, Size{365, 206}, Size{669, 318}}) {
        for (const double share : {0.01, 0.3, 0.77, 1.0}) {
            const Scene scene = roofline(run, share, size);
            EXPECT_EQ(analysis::plain(scene.caption).rfind("no FLOPs · ", 0), 0U) << scene.caption;
            ASSERT_EQ(discsOf(scene).size(), 1U);
            const Picoseconds now(
                std::llround(share * static_cast<double>(run.trace->end().value())));
            double moved = 0;
            for (std::size_t copy = 0; copy < run.trace->copies().size(); ++copy) {
                moved += static_cast<double>(run.trace->copies().bytes[copy])
                         * trace::copyFraction(*run.trace, trace::CopyRow::at(copy), now);
            }
            const double rate = moved / toSeconds(now).value();
            const double x = 12 + (size.width - 24) * std::min(1.0, rate / datasheet);
            EXPECT_NEAR(discsOf(scene)[0].center.x, x, 1.5) << share;
        }
    }
}

TEST(Roofline, tinyIntensitiesAreInSight)
{
    // As for add_vectors: 1 FLOP for 12 bytes, which is far left of a VPU's ridge.
    RunView run = test::sharedMainJob();
    const double scale = 1.0 / 12 / run.report.arithmeticIntensity;
    run.report.roofline.peak->flopsPerSecond *= 0.02;
    run.report.roofline.ridge *= 0.02;
    run.report.arithmeticIntensity *= scale;
    run.report.flopsPerSecond *= scale;
    const Scene scene = roofline(run, 0);
    EXPECT_EQ(analysis::plain(scene.caption),
              "nothing computed yet · whole run will sit at 0.0833 FLOP/B");
    const std::set<std::string> ticks = frameOf(scene).first;
    EXPECT_TRUE(std::any_of(ticks.begin(), ticks.end(),
                            [](const std::string& tick) { return tick.rfind("0.1@", 0) == 0; }));
}

// Wherever the run's point lies, its label stays beside the line of the ridge.
TEST(Roofline, theRunsLabelDoesNotCrossTheRidge)
{
    for (double factor = 0.02; factor < 40; factor *= 1.3) {
        RunView run = test::sharedMainJob();
        run.report.roofline.peak->flopsPerSecond *= factor;
        run.report.roofline.ridge *= factor;
        for (double width = 330; width < 700; width += 35) {
            SCOPED_TRACE(std::to_string(factor) + " " + std::to_string(width));
            const Scene scene = roofline(run, 0.6, {width, 216});
            double ridge = 0;
            Rect label;
            for (const Item& item : scene.items) {
                const auto* text = std::get_if<TextItem>(&item);
                if (text != nullptr && text->text.starts_with("ridge ")) {
                    ridge = text->rect.x - 5;
                } else if (text != nullptr && text->text.starts_with("run ")) {
                    label = text->rect;
                }
            }
            EXPECT_TRUE(ridge == 0 || ridge <= label.x || label.right() <= ridge);
        }
    }
}

namespace {

std::vector<Rect> placesOf(const Scene& scene, std::int64_t ceiling)
{
    std::vector<Rect> places;
    for (const Hit& hit : scene.hits) {
        if (hit.target == Target(target::Ceiling{ceiling})) {
            places.push_back(hit.rect);
        }
    }
    return places;
}

// The main job with the ceilings of three other levels: one far above what is in sight, and two
// with nearly the bandwidth of HBM, of which the trace knows the bytes of the second.
RunView withCeilings()
{
    RunView run = test::sharedMainJob();
    run.report.roofline.ceilings = {{"VMEM loads", BytesPerSecond(18.4e12), "load"},
                                    {"VMEM stores", BytesPerSecond(1.6e12), "store"},
                                    {"ICI", BytesPerSecond(360e9), "HBM"}};
    return run;
}

} // namespace

TEST(Roofline, ceilingsOfOtherLevelsAreThinLinesBelowThePeak)
{
    const RunView run = withCeilings();
    for (const Size size : {Size{365, 216}, Size{669, 318}, Size{1000, 614}}) {
        const Scene scene = roofline(run, 0.6, size);
        EXPECT_TRUE(placesOf(scene, 0).empty()) << "it lies above the picture";
        EXPECT_FALSE(placesOf(scene, 1).empty());
        EXPECT_FALSE(placesOf(scene, 2).empty());
        const auto thin = std::ranges::count_if(scene.items, [](const Item& item) {
            const auto* line = std::get_if<PolylineItem>(&item);
            return line != nullptr && line->width == 1 && line->dash.empty()
                   && line->points.size() == 2;
        });
        EXPECT_EQ(thin, 2);
        std::set<double> rates;
        for (const Fact& fact : scene.facts) {
            if (fact.kind == FactKind::CeilingRate) {
                rates.insert(fact.value);
            }
        }
        EXPECT_EQ(rates, (std::set<double>{1.6e12, 360e9}));
    }
}

// Where the trace knows its bytes, a level has a point, as high as that of the run.
TEST(Roofline, aLevelHasAPointWhereItsBytesAreKnown)
{
    const RunView run = withCeilings();
    const Scene scene = roofline(run, 0.6, {1000, 614});
    const auto intensity = [&](FactKind kind) {
        const auto fact =
            std::ranges::find_if(scene.facts, [&](const Fact& one) { return one.kind == kind; });
        return fact == scene.facts.end() ? 0 : fact->value;
    };
    EXPECT_GT(intensity(FactKind::Intensity), 0);
    EXPECT_DOUBLE_EQ(intensity(FactKind::CeilingIntensity), intensity(FactKind::Intensity));
    const std::vector<DiscItem> with = discsOf(scene);
    const std::vector<DiscItem> without =
        discsOf(roofline(test::sharedMainJob(), 0.6, {1000, 614}));
    EXPECT_EQ(with.size(), without.size() + 1);
}

// A slow run is in GFLOP/s, of which the chip's peak has many.
TEST(Roofline, figuresOfItsAxesAreWhole)
{
    RunView run = test::sharedMainJob();
    run.report.flopsPerSecond = 1e9;
    bool isThere = false;
    for (const Item& item : roofline(run, 0.6, {365, 216}).items) {
        if (const auto* text = std::get_if<TextItem>(&item)) {
            EXPECT_EQ(text->text.find("\u2026"), std::string::npos) << text->text;
            isThere = isThere || text->text == "10\u2009000" || text->text == "10 000";
        }
    }
    EXPECT_TRUE(isThere);
}

TEST(Roofline, isTheSameWithoutCeilingsInSight)
{
    RunView run = withCeilings();
    run.report.roofline.ceilings.resize(1);
    EXPECT_EQ(roofline(run, 0.6).caption, roofline(test::sharedMainJob(), 0.6).caption);
    EXPECT_EQ(roofline(run, 0.6).items.size(), roofline(test::sharedMainJob(), 0.6).items.size());
}
