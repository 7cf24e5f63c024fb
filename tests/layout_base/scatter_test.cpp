// The picture of predicted times against measured ones.
#include "views/layout/run/run_view.h"
#include "views/layout/scatter/scatter.h"
#include "views/layout/scene/scene.h"
#include "views/layout/scene/svg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace pallascope;
using namespace pallascope::layout;

namespace {

std::vector<DiscItem> scatterDiscs(const Scene& scene)
{
    std::vector<DiscItem> discs;
    for (const Item& item : scene.items) {
        if (const auto* disc = std::get_if<DiscItem>(&item)) {
            discs.push_back(*disc);
        }
    }
    return discs;
}

bool says(const Scene& scene, const std::string& text)
{
    return std::any_of(scene.items.begin(), scene.items.end(), [&](const Item& item) {
        const auto* found = std::get_if<TextItem>(&item);
        return found != nullptr && found->text == text;
    });
}

// The solid line, where predicted and measured times are equal.
PolylineItem diagonalOf(const Scene& scene)
{
    for (const Item& item : scene.items) {
        const auto* line = std::get_if<PolylineItem>(&item);
        if (line != nullptr && line->dash.empty()) {
            return *line;
        }
    }
    ADD_FAILURE() << "there is no diagonal";
    return {};
}

} // namespace

TEST(Scatter, aRightPredictionLiesOnTheDiagonal)
{
    for (unsigned seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 draw(seed);
        std::uniform_real_distribution<double> decade(-7, 1);
        std::vector<ScatterPoint> points;
        for (int i = 0; i < 20; ++i) {
            const double seconds = std::pow(10, decade(draw));
            points.push_back({"a", seconds, seconds});
        }
        const Size size{static_cast<double>(300 + draw() % 900),
                        static_cast<double>(200 + draw() % 900)};
        const Scene scene = layoutScatter(points, size);
        const PolylineItem line = diagonalOf(scene);
        const Point from = line.points.front(), to = line.points.back();
        EXPECT_NEAR(to.x - from.x, from.y - to.y, 1e-6); // both axes have the same length
        const std::vector<DiscItem> discs = scatterDiscs(scene);
        ASSERT_GE(discs.size(), points.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
            EXPECT_NEAR(discs[i].center.x - from.x, from.y - discs[i].center.y, 1e-6);
            EXPECT_GT(discs[i].center.x, from.x + discs[i].radius);
            EXPECT_LT(discs[i].center.x, to.x - discs[i].radius);
        }
    }
}

TEST(Scatter, slowPredictionsLieAboveAndFarOnesAreHollow)
{
    const Scene scene = layoutScatter(
        {{"a", 1e-3, 1.14e-3}, {"a", 1e-3, 1.16e-3}, {"a", 1e-3, 0.8e-3}}, {800, 600});
    const std::vector<DiscItem> discs = scatterDiscs(scene);
    ASSERT_GE(discs.size(), 3U);
    EXPECT_LT(discs[1].center.y, discs[0].center.y);
    EXPECT_LT(discs[0].center.y, discs[2].center.y);
    EXPECT_EQ(discs[0].fill, Color(hueRole(0)));
    EXPECT_EQ(discs[1].fill, Color(Role::View));
    EXPECT_EQ(discs[2].fill, Color(Role::View));
    EXPECT_TRUE(says(scene, "farther off: hollow"));
    EXPECT_EQ(scene.caption, "|3 timings| · mean absolute error |16.7 %| · |1| within 15 %");
}

TEST(Scatter, familiesDifferInShapeAndColour)
{
    std::vector<ScatterPoint> points;
    for (const char* family : {"a", "b", "c", "d", "e", "f", "g"}) {
        points.push_back({family, 1e-3, 1e-3});
    }
    const Scene scene = layoutScatter(points, {800, 600});
    for (const ScatterPoint& point : points) {
        EXPECT_TRUE(says(scene, point.family));
    }
    std::vector<std::pair<std::size_t, Role>> marks; // the number of corners, 0 for a disc
    for (const Item& item : scene.items) {
        if (const auto* disc = std::get_if<DiscItem>(&item)) {
            marks.emplace_back(0, disc->fill.role);
        } else if (const auto* polygon = std::get_if<PolygonItem>(&item);
                   polygon != nullptr && polygon->hasEdge) {
            marks.emplace_back(polygon->points.size(), polygon->fill.role);
        }
    }
    ASSERT_EQ(marks.size(), 14U); // each mark is in the plot and in the legend
    for (std::size_t i = 0; i < 7; ++i) {
        EXPECT_EQ(marks[i], marks[i + 7]);
        EXPECT_EQ(std::count(marks.begin(), marks.begin() + 7, marks[i]), 1) << i;
    }
}

TEST(Scatter, whatHasNoPlaceOnLogAxesIsLeftOut)
{
    const double none = std::numeric_limits<double>::quiet_NaN();
    const double endless = std::numeric_limits<double>::infinity();
    const std::vector<ScatterPoint> odd = {{"a", 0, 1},    {"a", 1, 0},       {"a", -1, 1},
                                           {"a", none, 1}, {"a", 1, endless}, {"a", 5e-324, 1},
                                           {"a", 1, 1e300}};
    for (const Size size : {Size{800, 600}, Size{100, 58}, Size{1, 1}, Size{8192, 100}}) {
        const Scene scene = layoutScatter(odd, size);
        EXPECT_TRUE(scatterDiscs(scene).empty());
        EXPECT_EQ(scene.caption, "no timing has a prediction");
        const Scene one = layoutScatter({{"a", 1e-12, 1e7}}, size);
        EXPECT_FALSE(toSvg(one, Theme::Dark).empty());
        EXPECT_EQ(toSvg(one, Theme::Dark).find("nan"), std::string::npos);
    }
}
