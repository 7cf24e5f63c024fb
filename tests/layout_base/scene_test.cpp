// Scenes, their hit tests, and the SVG that is written of them.
#include "tests/support/run_view_fixture.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/scene/header.h"
#include "views/layout/scene/svg.h"
#include "views/layout/views.h"

#include <gtest/gtest.h>

#include <set>
#include <stack>

using namespace pallascope;
using namespace pallascope::layout;

namespace {

constexpr Target kFirst = target::Copy{1};
constexpr Target kSecond = target::Copy{2};

Scene twoBars(double gap)
{
    Canvas canvas(100, 20);
    canvas.hit(10, 0, 20, 10, kFirst);
    canvas.hit(30 + gap, 0, 20, 10, kSecond);
    return std::move(canvas).finish("", "");
}

// Whether tags are balanced, attributes are quoted, and texts contain no raw markup.
bool isWellFormed(const std::string& svg)
{
    std::stack<std::string> open;
    std::size_t at = 0;
    while ((at = svg.find('<', at)) != std::string::npos) {
        const std::size_t end = svg.find('>', at);
        if (end == std::string::npos) {
            return false;
        }
        std::string tag = svg.substr(at + 1, end - at - 1);
        if (std::count(tag.begin(), tag.end(), '"') % 2 != 0
            || tag.find('<') != std::string::npos) {
            return false;
        }
        const std::string name =
            tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /", 1) - (tag[0] == '/' ? 1 : 0));
        if (tag[0] == '/') {
            if (open.empty() || open.top() != name) {
                return false;
            }
            open.pop();
        } else if (tag.back() != '/') {
            open.push(name);
        }
        at = end;
    }
    return open.empty();
}

} // namespace

TEST(HitTest, theTopmostOfTwoWins)
{
    Canvas canvas(100, 20);
    canvas.hit(0, 0, 50, 10, kFirst);
    canvas.hit(20, 0, 50, 10, kSecond);
    const Scene scene = std::move(canvas).finish("", "");
    EXPECT_EQ(hitTest(scene, 10, 5), kFirst);
    EXPECT_EQ(hitTest(scene, 30, 5), kSecond);
}

TEST(HitTest, anExactHitBeatsANearOne)
{
    const Scene scene = twoBars(1);
    EXPECT_EQ(hitTest(scene, 29.9, 5), kFirst);
    EXPECT_EQ(hitTest(scene, 31, 5), kSecond);
}

TEST(HitTest, nearMissesCountUpToTheTolerance)
{
    const Scene scene = twoBars(20);
    EXPECT_EQ(hitTest(scene, 32.9, 5), kFirst);
    EXPECT_TRUE(isNothing(hitTest(scene, 33.1, 5)));
    EXPECT_EQ(hitTest(scene, 47.5, 5), kSecond);
    EXPECT_TRUE(isNothing(hitTest(scene, 35, 5, 0)));
}

TEST(HitTest, betweenTwoTheNearerIsMeant)
{
    const Scene scene = twoBars(4);
    EXPECT_EQ(hitTest(scene, 31, 5), kFirst);
    EXPECT_EQ(hitTest(scene, 33.5, 5), kSecond);
}

TEST(Frames, areAllHitsOfATarget)
{
    Canvas canvas(100, 20);
    canvas.hit(0, 0, 5, 5, kFirst);
    canvas.hit(10, 0, 5, 5, kSecond);
    canvas.hit(20, 0, 5, 5, kFirst);
    const Scene scene = std::move(canvas).finish("", "");
    EXPECT_EQ(framesOf(scene, kFirst), (std::vector<Rect>{{0, 0, 5, 5}, {20, 0, 5, 5}}));
    EXPECT_TRUE(framesOf(scene, {}).empty());
}

TEST(Header, shiftsEverythingByItsHeight)
{
    Canvas canvas(500, 100);
    canvas.fill(3, 4, 5, 6, Role::Mxu);
    canvas.line({{1, 2}, {3, 4}}, Role::Text);
    canvas.disc(7, 8, 3, Role::View, Role::Text);
    canvas.hit(3, 4, 5, 6, kFirst);
    const Scene content = std::move(canvas).finish("Grid", "step |2|");
    const Scene scene = withHeader(content);
    const double head = headerHeight(500);
    EXPECT_EQ(scene.height, 100 + head);
    ASSERT_EQ(scene.hits.size(), 1U);
    EXPECT_EQ(scene.hits[0].rect.y, 4 + head);
    const std::size_t n = scene.items.size();
    EXPECT_EQ(std::get<FillItem>(scene.items[n - 3]).rect.y, 4 + head);
    EXPECT_EQ(std::get<PolylineItem>(scene.items[n - 2]).points[1].y, 4 + head);
    EXPECT_EQ(std::get<DiscItem>(scene.items[n - 1]).center.y, 8 + head);
    EXPECT_EQ(std::get<TextItem>(scene.items[0]).text, "Grid");
}

TEST(Header, isOneRowInWidePicturesAndTwoElsewhere)
{
    EXPECT_EQ(headerHeight(901), 26);
    EXPECT_EQ(headerHeight(900), 42);
}

TEST(Picture, everyViewIsDrawnInBothThemesAsWellFormedSvg)
{
    const RunView run = test::mainJobView();
    ViewState state;
    state.visible = firstFrame(*run.trace);
    for (const double share : {0.0, 0.1, 0.6, 1.0}) {
        state.now = Picoseconds(
            static_cast<std::int64_t>(share * static_cast<double>(run.trace->end().value())));
        for (const View& each : allViews()) {
            SCOPED_TRACE(each.name);
            const auto scene = picture(each.name, run, state, {800, 500});
            ASSERT_TRUE(scene.has_value());
            EXPECT_EQ(scene->width, 800);
            EXPECT_EQ(scene->height, 500);
            EXPECT_FALSE(scene->title.empty());
            EXPECT_FALSE(scene->caption.empty());
            EXPECT_TRUE(isWellFormed(toSvg(*scene, Theme::Light)));
            EXPECT_NE(toSvg(*scene, Theme::Light), toSvg(*scene, Theme::Dark));
        }
    }
}

TEST(Picture, tinySizesAreSurvived)
{
    const RunView run = test::mainJobView();
    ViewState state;
    state.visible = firstFrame(*run.trace);
    for (const View& each : allViews()) {
        for (const Size size : {Size{1, 1}, Size{40, 30}, Size{130, 60}, Size{4000, 50}}) {
            const auto scene = picture(each.name, run, state, size);
            ASSERT_TRUE(scene.has_value()) << each.name;
            EXPECT_TRUE(isWellFormed(toSvg(*scene, Theme::Dark))) << each.name;
        }
    }
}

TEST(Picture, anUnknownViewIsAUserErrorThatNamesTheChoices)
{
    const RunView run = test::mainJobView();
    const auto scene = picture("gird", run, {}, {800, 500});
    ASSERT_FALSE(scene.has_value());
    EXPECT_EQ(scene.error().kind, ErrorKind::User);
    EXPECT_NE(scene.error().message.find("gird"), std::string::npos);
    EXPECT_NE(scene.error().message.find("timeline"), std::string::npos);
}

TEST(Svg, textIsEscapedAndNumbersAreShort)
{
    Canvas canvas(100, 20);
    canvas.text(0, 0, 100, 16, "a<b & \"c\"\x01");
    canvas.line({{1.0 / 3, 2.0 / 3}, {1e7, 5}}, Role::Text, 1.6, {5, 3});
    const std::string svg = toSvg(std::move(canvas).finish("<x>", ""), Theme::Light);
    EXPECT_NE(svg.find("a&lt;b &amp; &quot;c&quot; </text>"), std::string::npos) << svg;
    EXPECT_NE(svg.find("points=\"0.33,0.67 10000000,5\""), std::string::npos) << svg;
    EXPECT_NE(svg.find("stroke-dasharray=\"8 4.8\""), std::string::npos) << svg;
    EXPECT_TRUE(isWellFormed(svg));
}

TEST(Svg, hatchesArePatternsSharedByColour)
{
    Canvas canvas(100, 20);
    canvas.hatch(0, 0, 10, 10, Role::Wait, Role::View, Hatch::Wait);
    canvas.hatch(20, 0, 10, 10, Role::Wait, Role::View, Hatch::Wait);
    canvas.hatch(40, 0, 10, 10, Role::Poison, Role::View, Hatch::Undefined);
    const std::string svg = toSvg(std::move(canvas).finish("", ""), Theme::Light);
    std::size_t patterns = 0;
    for (std::size_t at = 0; (at = svg.find("<pattern", at)) != std::string::npos; ++at) {
        ++patterns;
    }
    EXPECT_EQ(patterns, 2U);
}

TEST(Svg, clipsAreGroupsAndAlwaysClosed)
{
    Canvas canvas(100, 20);
    canvas.pushClip(0, 0, 50, 20);
    canvas.fill(0, 0, 80, 10, Role::Mxu);
    EXPECT_TRUE(isWellFormed(toSvg(std::move(canvas).finish("", ""), Theme::Light)));
}

TEST(Svg, imagesKeepEveryCell)
{
    Canvas canvas(8, 8);
    canvas.image({0, 0, 8, 4}, 4, 2, {Role::View, Role::Operand1}, {0, 1, 1, 0, 1, 0, 1, 0});
    const std::string svg = toSvg(std::move(canvas).finish("", ""), Theme::Light);
    // The two neighbouring cells of one colour in the first row, and the single cells of the second
    // row.
    EXPECT_NE(svg.find("<rect x=\"2\" y=\"0\" width=\"4\" height=\"2\" fill=\"#134EC1\"/>"),
              std::string::npos);
    EXPECT_NE(svg.find("<rect x=\"4\" y=\"2\" width=\"2\" height=\"2\" fill=\"#134EC1\"/>"),
              std::string::npos);
}
