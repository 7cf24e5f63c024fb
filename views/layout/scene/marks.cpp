#include "views/layout/scene/marks.h"

namespace pallascope::layout {

void drawMark(Canvas& canvas, Point at, int series, bool isSolid)
{
    constexpr int kShapes = 5;
    const Color color = hueRole(series);
    const Color fill = isSolid ? color : Color(Role::View);
    const Color edge = isSolid ? Color(Role::View) : color;
    const double edgeWidth = isSolid ? 1 : 1.5;
    const auto [x, y] = at;
    const double r = kMarkRadius;
    switch (series % kShapes) {
    case 0:
        canvas.disc(x, y, r, fill, edge, edgeWidth);
        return;
    case 1:
        canvas.polygon({{x - r, y - r}, {x + r, y - r}, {x + r, y + r}, {x - r, y + r}}, fill, edge,
                       edgeWidth);
        return;
    case 2:
        canvas.polygon({{x, y - r * 1.25}, {x + r * 1.2, y + r * 0.9}, {x - r * 1.2, y + r * 0.9}},
                       fill, edge, edgeWidth);
        return;
    case 3:
        canvas.polygon({{x, y - r * 1.35}, {x + r * 1.35, y}, {x, y + r * 1.35}, {x - r * 1.35, y}},
                       fill, edge, edgeWidth);
        return;
    default:
        canvas.polygon({{x, y + r * 1.25}, {x + r * 1.2, y - r * 0.9}, {x - r * 1.2, y - r * 0.9}},
                       fill, edge, edgeWidth);
    }
}

void drawCross(Canvas& canvas, Point at, Color color)
{
    constexpr double kArm = 3.5;
    canvas.line({{at.x - kArm, at.y - kArm}, {at.x + kArm, at.y + kArm}}, color, 1.6);
    canvas.line({{at.x - kArm, at.y + kArm}, {at.x + kArm, at.y - kArm}}, color, 1.6);
}

void drawWarning(Canvas& canvas, Point at)
{
    constexpr double kHalf = 4;
    canvas.polygon(
        {{at.x, at.y - kHalf}, {at.x + kHalf, at.y + kHalf}, {at.x - kHalf, at.y + kHalf}},
        Role::Error);
}

} // namespace pallascope::layout
