// A picture as data: what a view paints, in device-independent pixels, with colours by role.
// Layouts make scenes without Qt. views/scene_painter (QPainter) and svg.h paint them, so both give
// the same picture.
#pragma once

#include "views/layout/scene/fact.h"
#include "views/layout/scene/target.h"
#include "views/layout/scene/theme.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace pallascope::layout {

struct Point
{
    double x = 0, y = 0;
    bool operator==(const Point&) const = default;
};

struct Rect
{
    double x = 0, y = 0, w = 0, h = 0;
    bool operator==(const Rect&) const = default;

    [[nodiscard]] bool contains(double px, double py) const
    {
        return px >= x && px < x + w && py >= y && py < y + h;
    }

    [[nodiscard]] double right() const { return x + w; }

    [[nodiscard]] double bottom() const { return y + h; }
};

enum class Weight : std::uint8_t
{
    Regular,
    Medium,
    SemiBold,
    Mono,
    MonoBold
};
enum class Align : std::uint8_t
{
    Left,
    Right,
    Center
};

struct FillItem // the canvas rounds its edges to whole pixels; never antialiased
{
    Rect rect;
    Color color;
};

// Hatch tiles have a fixed origin, so that they do not swim when something moves. Wait: 45 degrees,
// a stripe of 2 px every 6 px. Undefined: 45 degrees, 1 px every 8 px.
enum class Hatch : std::uint8_t
{
    Wait,
    Undefined,
    Estimate
};

// A square tile of `step` px with one stripe at 45 degrees that is `thickness` px wide.
struct HatchTile
{
    int step = 6, thickness = 2;
    bool rising = true; // from bottom left to top right
};

[[nodiscard]] HatchTile hatchTile(Hatch hatch);

struct HatchItem
{
    Rect rect;
    Color color;
    Color background;
    Hatch hatch = Hatch::Wait;
};

struct PolylineItem // antialiased
{
    std::vector<Point> points;
    Color color;
    double width = 1;
    std::vector<double> dash; // in units of the width; empty for a solid line
};

struct PolygonItem // antialiased
{
    std::vector<Point> points;
    Color fill;
    bool hasEdge = false;
    Color edge;
    double edgeWidth = 1;
};

struct DiscItem // antialiased
{
    Point center;
    double radius = 4;
    Color fill;
    Color edge;
    double edgeWidth = 1.5;
};

struct TextItem // one line, vertically centred in rect
{
    Rect rect;
    std::string text; // UTF-8, elided already
    int size = 11;    // px
    Weight weight = Weight::Regular;
    Color color = Role::Text;
    Align align = Align::Left;
    bool onFill = false; // the text is painted in inkOn(color)
    double angle = 0;    // degrees, around the top left corner of rect
};

struct ImageItem // one colour per cell, scaled without smoothing
{
    Rect rect;
    std::int32_t columns = 0, rows = 0;
    std::vector<Color> palette;
    std::vector<std::uint8_t> cells; // palette indices, row-major
};

struct ClipItem // everything up to the matching pop is clipped to rect
{
    Rect rect;
    bool pop = false;
};

using Item = std::variant<FillItem, HatchItem, PolylineItem, PolygonItem, DiscItem, TextItem,
                          ImageItem, ClipItem>;

[[nodiscard]] Item movedDown(Item item, double px);

struct Hit
{
    Rect rect;
    Target target;
};

struct Scene
{
    double width = 0, height = 0;
    std::string title;   // "Time line"
    std::string caption; // one sentence with numbers; parts between bars are |strong|
    std::vector<Item> items;
    std::vector<Hit> hits; // later hits lie on top of earlier ones
    std::vector<Fact> facts;
};

// The topmost target within `tolerance` px of a point. A target exactly under the point wins over
// targets near it.
[[nodiscard]] Target hitTest(const Scene& scene, double x, double y, double tolerance = 3);
// The rectangles of all hits of a target in this scene, to be framed.
[[nodiscard]] std::vector<Rect> framesOf(const Scene& scene, const Target& target);

} // namespace pallascope::layout
