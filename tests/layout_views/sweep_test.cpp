// The picture of a sweep: its marks lie where the times of its rows say, every row has a mark that
// can be pointed at, and no text lies over another at any size.
#include "tests/layout_views/scene_probe.h"
#include "views/layout/scene/header.h"
#include "views/layout/scene/svg.h"
#include "views/layout/sweep/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

using namespace pallascope;
using namespace pallascope::layout;

namespace {

// All combinations of these axes; every row took a time of its own.
SweepPicture sweepOver(std::vector<SweepAxis> axes, unsigned seed = 0)
{
    SweepPicture picture{"Sweep of matmul", std::move(axes), {}};
    std::mt19937 draw(seed);
    std::uniform_real_distribution<double> factor(1, 4);
    std::int64_t count = 1;
    for (const SweepAxis& axis : picture.axes) {
        count *= static_cast<std::int64_t>(axis.values.size());
    }
    for (std::int64_t row = 0; row < count; ++row) {
        SweepPoint point{.row = row, .at = std::vector<std::size_t>(picture.axes.size())};
        auto rest = static_cast<std::size_t>(row);
        for (std::size_t axis = picture.axes.size(); axis-- > 0;) {
            point.at[axis] = rest % picture.axes[axis].values.size();
            rest /= picture.axes[axis].values.size();
        }
        const auto ps = static_cast<std::int64_t>(factor(draw) * 3e8);
        point.time = Picoseconds(ps);
        point.band = TimeRange{Picoseconds(ps * 9 / 10), Picoseconds(ps * 12 / 10)};
        picture.points.push_back(point);
    }
    return picture;
}

SweepPicture blocksOnTwoChips()
{
    return sweepOver({{"bm", {"256", "512", "1024"}},
                      {"bk", {"512", "1024"}},
                      {"chip", {"tpu_v5e", "tpu_v6e"}}});
}

std::vector<std::string> numbersUpTo(int last)
{
    std::vector<std::string> values;
    for (int value = 1; value <= last; ++value) {
        values.push_back(std::to_string(value));
    }
    return values;
}

Point middleOf(const Scene& scene, std::int64_t row)
{
    const std::vector<Rect> rects = framesOf(scene, target::SweepRow{row});
    EXPECT_EQ(rects.size(), 1U) << row;
    return rects.empty() ? Point{}
                         : Point{rects[0].x + rects[0].w / 2, rects[0].y + rects[0].h / 2};
}

std::size_t marked(const Scene& scene)
{
    return scene.hits.size();
}

// A row with findings, one that does not fit, one that is wrong, and how the others rank.
SweepPicture withTroubles()
{
    SweepPicture picture = blocksOnTwoChips();
    const auto stop = [&](std::size_t row, const std::string& why) {
        picture.points[row].time.reset();
        picture.points[row].band.reset();
        picture.points[row].reason = why;
    };
    stop(3, "does not fit");
    stop(7, "The block bm=512 does not divide the array x, which has 768 rows; expected a block of "
            "256, 384 or 768 rows, or an array that is a multiple of it.");
    picture.points[5].findings = "race, undefined_written_back";
    picture.points[2].standing = SweepStanding::Fastest;
    picture.points[4].standing = SweepStanding::Perhaps;
    return picture;
}

const Size kSizes[] = {{500, 334}, {640, 400}, {800, 520}, {899, 600}, {1200, 774}};

} // namespace

TEST(SweepPicture, aSlowerRowLiesHigherByTheLogOfItsTime)
{
    const SweepPicture picture = blocksOnTwoChips();
    for (const Size size : kSizes) {
        const Scene scene = layoutSweep(picture, size);
        ASSERT_EQ(marked(scene), picture.points.size());
        const auto logOf = [&](std::size_t row) {
            return std::log(static_cast<double>(picture.points[row].time->value()));
        };
        const double perPx = (logOf(1) - logOf(0)) / (middleOf(scene, 0).y - middleOf(scene, 1).y);
        EXPECT_GT(perPx, 0);
        for (std::size_t row = 2; row < picture.points.size(); ++row) {
            const double rise = middleOf(scene, 0).y - middleOf(scene, static_cast<int>(row)).y;
            EXPECT_NEAR(rise * perPx, logOf(row) - logOf(0), 1e-9) << row;
        }
    }
}

TEST(SweepPicture, theColumnsAreTheValuesOfTheParameterWithTheMost)
{
    const SweepPicture picture = blocksOnTwoChips();
    const Scene scene = layoutSweep(picture, {800, 520});
    std::map<std::size_t, std::set<double>> columns; // the places across, by the value of bm
    for (const SweepPoint& point : picture.points) {
        columns[point.at[0]].insert(middleOf(scene, point.row).x);
    }
    ASSERT_EQ(columns.size(), 3U);
    EXPECT_LT(*columns[0].rbegin(), *columns[1].begin());
    EXPECT_LT(*columns[1].rbegin(), *columns[2].begin());
    EXPECT_EQ(columns[0].size(), 4U); // marks of one column stand beside each other
    for (const char* text : {"bm", "256", "512", "1024", "bk · chip", "512 · tpu_v5e",
                             "1024 · tpu_v6e", "predicted time"}) {
        EXPECT_TRUE(test::hasText(scene, text)) << text;
    }
}

TEST(SweepPicture, theChipsAreTheColumnsIfOnlyTheyVary)
{
    const SweepPicture picture =
        sweepOver({{"bm", {"256"}}, {"chip", {"tpu_v5e", "tpu_v6e", "tpu_v5p"}}});
    const Scene scene = layoutSweep(picture, {640, 400});
    EXPECT_LT(middleOf(scene, 0).x, middleOf(scene, 1).x);
    EXPECT_LT(middleOf(scene, 1).x, middleOf(scene, 2).x);
    EXPECT_TRUE(test::hasText(scene, "tpu_v5p"));
    EXPECT_FALSE(test::hasText(scene, "256"));
    EXPECT_EQ(sweepTip(picture, target::SweepRow{1}).front(), "tpu_v6e");
}

TEST(SweepPicture, whatDidNotRunStandsApartAndSaysWhy)
{
    const SweepPicture picture = withTroubles();
    for (const Size size : kSizes) {
        const Scene scene = layoutSweep(picture, size);
        EXPECT_EQ(middleOf(scene, 3).y, middleOf(scene, 7).y);
        for (const SweepPoint& point : picture.points) {
            if (point.time) {
                EXPECT_LT(middleOf(scene, point.row).y, middleOf(scene, 3).y);
            }
        }
        EXPECT_TRUE(test::hasText(scene, "not run"));
    }
    const std::vector<std::string> tip = sweepTip(picture, target::SweepRow{7});
    EXPECT_EQ(tip.front(), "bm=512 bk=1024 on tpu_v6e");
    ASSERT_GE(tip.size(), 3U); // a long sentence takes several lines
    std::string sentence;
    for (std::size_t i = 1; i < tip.size(); ++i) {
        EXPECT_LE(tip[i].size(), 90U);
        sentence += (i == 1 ? "" : " ") + tip[i];
    }
    EXPECT_EQ(sentence, picture.points[7].reason);
}

TEST(SweepPicture, findingsAndTheFastestAreMarked)
{
    const SweepPicture picture = withTroubles();
    const Scene scene = layoutSweep(picture, {800, 520});
    const Point fastest = middleOf(scene, 2), perhaps = middleOf(scene, 4);
    const auto ringWidth = [&](Point at) {
        for (const Item& item : scene.items) {
            const auto* disc = std::get_if<DiscItem>(&item);
            if (disc != nullptr && disc->center == at && disc->fill == Color(Role::View)
                && disc->radius > 6) {
                return disc->edgeWidth;
            }
        }
        return 0.0;
    };
    EXPECT_GT(ringWidth(fastest), ringWidth(perhaps));
    EXPECT_GT(ringWidth(perhaps), 0);
    EXPECT_EQ(ringWidth(middleOf(scene, 0)), 0);
    for (const char* key : {"fastest", "perhaps as fast", "error of the model", "has findings"}) {
        EXPECT_TRUE(test::hasText(scene, key)) << key;
    }
    EXPECT_NE(scene.caption.find("fastest |bm=256 bk=1024 on tpu_v5e|"), std::string::npos)
        << scene.caption;
    EXPECT_NE(scene.caption.find("12 runs, |2| of them not run"), std::string::npos)
        << scene.caption;
    EXPECT_EQ(sweepTip(picture, target::SweepRow{5})[2],
              "has findings, so it is not ranked: race, undefined_written_back");
    EXPECT_NE(sweepTip(picture, target::SweepRow{2})[1].find("· fastest"), std::string::npos);
    EXPECT_TRUE(sweepTip(picture, target::SweepRow{99}).empty());
    EXPECT_TRUE(sweepTip(picture, target::Copy{0}).empty());
}

TEST(SweepPicture, noTextLiesOverAnotherOrSticksOut)
{
    const std::vector<SweepPicture> pictures = {
        blocksOnTwoChips(),
        withTroubles(),
        sweepOver({{"chip", {"tpu_v5e", "tpu_v6e", "tpu_v5p", "tpu_v7x", "a100_sxm", "h100_sxm"}}}),
        sweepOver({{"bm", numbersUpTo(40)}, {"bk", numbersUpTo(6)}, {"chip", {"tpu_v5e"}}}),
        sweepOver({{"n", numbersUpTo(3)},
                   {"order", {"ijk", "ikj", "jik", "jki", "kij"}},
                   {"dtype", {"f32", "bf16"}},
                   {"chip", {"tpu_v5e", "tpu_v6e"}}}),
        sweepOver({{"file",
                    {"kernels/of/mine/attention_forward_two.kernel.json",
                     "kernels/of/mine/attention_forward_three.kernel.json"}},
                   {"chip", {"tpu_v5e", "tpu_v6e"}}}),
        SweepPicture{"Sweep of matmul", {{"bm", {"1", "2"}}, {"chip", {"tpu_v5e"}}}, {}}};
    for (const SweepPicture& picture : pictures) {
        for (const Size size : kSizes) {
            SCOPED_TRACE(picture.axes.front().name + " at " + std::to_string(size.width));
            const Scene scene = withHeader(layoutSweep(picture, size));
            EXPECT_EQ(test::overlaps(scene), std::vector<std::string>());
            EXPECT_EQ(test::textsOutside(scene), std::vector<std::string>());
        }
    }
}

TEST(SweepPicture, ofMoreSeriesThanCanBeToldApartTheFastestAreDrawn)
{
    SweepPicture picture = sweepOver(
        {{"bm", numbersUpTo(12)}, {"bk", numbersUpTo(9)}, {"chip", {"tpu_v5e", "tpu_v6e"}}}, 3);
    const auto best = std::min_element(
        picture.points.begin(), picture.points.end(),
        [](const SweepPoint& a, const SweepPoint& b) { return *a.time < *b.time; });
    best->standing = SweepStanding::Fastest;
    const Scene scene = layoutSweep(picture, {900, 600});
    EXPECT_EQ(marked(scene), 12U * 12U);
    EXPECT_TRUE(test::hasText(scene, "6 others left out"));
    EXPECT_EQ(framesOf(scene, target::SweepRow{best->row}).size(), 1U);
}

TEST(SweepPicture, ofMoreValuesThanThereIsRoomForThoseAroundTheFastestAreDrawn)
{
    SweepPicture picture = sweepOver({{"n", numbersUpTo(5000)}, {"chip", {"tpu_v5e"}}}, 5);
    const auto best = std::min_element(
        picture.points.begin(), picture.points.end(),
        [](const SweepPoint& a, const SweepPoint& b) { return *a.time < *b.time; });
    const Scene scene = layoutSweep(picture, {900, 600});
    EXPECT_LT(marked(scene), 200U);
    EXPECT_TRUE(test::hasText(scene, "of n left out"));
    EXPECT_EQ(framesOf(scene, target::SweepRow{best->row}).size(), 1U);
}

TEST(SweepPicture, rowsThatAreStillToComeChangeNoColour)
{
    SweepPicture picture = blocksOnTwoChips();
    const Scene all = layoutSweep(picture, {800, 520});
    picture.points = {picture.points[11]};
    const Scene first = layoutSweep(picture, {800, 520});
    EXPECT_TRUE(test::hasText(first, "512 · tpu_v5e"));
    EXPECT_EQ(middleOf(first, 11).x, middleOf(all, 11).x);
}

TEST(SweepPicture, oddTimesAndSizesDrawSomething)
{
    SweepPicture picture = sweepOver({{"bm", {"1", "2"}}, {"chip", {"tpu_v5e"}}});
    picture.points[0].time = Picoseconds(0);
    picture.points[1].time = Picoseconds(std::int64_t{9'000'000'000'000'000'000});
    picture.points[1].band.reset();
    SweepPicture equal = picture;
    equal.points[1].time = equal.points[0].time = Picoseconds(1'000'000);
    equal.points[0].band.reset();
    for (const Size size : {Size{500, 334}, Size{100, 58}, Size{1, 1}, Size{8192, 100}}) {
        for (const SweepPicture& odd : {picture, equal}) {
            const std::string svg = toSvg(layoutSweep(odd, size), Theme::Dark);
            EXPECT_EQ(svg.find("nan"), std::string::npos);
            EXPECT_EQ(svg.find("inf"), std::string::npos);
        }
    }
}
