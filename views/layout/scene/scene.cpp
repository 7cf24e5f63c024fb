#include "views/layout/scene/scene.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace pallascope::layout {

namespace {

void shift(Point& point, double dy)
{
    point.y += dy;
}

void shift(Rect& rect, double dy)
{
    rect.y += dy;
}

struct Shifter
{
    double dy;

    void operator()(PolylineItem& item) const { all(item.points); }

    void operator()(PolygonItem& item) const { all(item.points); }

    void operator()(DiscItem& item) const { shift(item.center, dy); }

    template<class Boxed>
    void operator()(Boxed& item) const
    {
        shift(item.rect, dy);
    }

    void all(std::vector<Point>& points) const
    {
        for (Point& point : points) {
            shift(point, dy);
        }
    }
};

double distance(const Rect& rect, double x, double y)
{
    const double dx = std::max({rect.x - x, 0.0, x - rect.right()});
    const double dy = std::max({rect.y - y, 0.0, y - rect.bottom()});
    return std::hypot(dx, dy);
}

} // namespace

HatchTile hatchTile(Hatch hatch)
{
    switch (hatch) {
    case Hatch::Wait:
        return {6, 2, true};
    case Hatch::Undefined:
        return {8, 1, true};
    case Hatch::Estimate:
        return {4, 1, false};
    }
    return {};
}

Target hitTest(const Scene& scene, double x, double y, double tolerance)
{
    Target near;
    double nearest = tolerance;
    for (auto hit = scene.hits.rbegin(); hit != scene.hits.rend(); ++hit) {
        if (hit->rect.contains(x, y)) {
            return hit->target;
        }
        const double d = distance(hit->rect, x, y);
        if (d < nearest || (d == nearest && isNothing(near))) {
            nearest = d;
            near = hit->target;
        }
    }
    return near;
}

std::vector<Rect> framesOf(const Scene& scene, const Target& target)
{
    std::vector<Rect> frames;
    if (isNothing(target)) {
        return frames;
    }
    for (const Hit& hit : scene.hits) {
        if (hit.target == target) {
            frames.push_back(hit.rect);
        }
    }
    return frames;
}

Target asKept(const Target& target)
{
    return std::visit(
        [](const auto& what) -> Target {
            using What = std::decay_t<decltype(what)>;
            if constexpr (std::is_constructible_v<
                              decltype(target::Kept::what),
                              const What&> && !std::is_same_v<What, std::monostate>) {
                return target::Kept{what};
            } else {
                return {};
            }
        },
        target);
}

Target ofKept(const target::Kept& kept)
{
    return std::visit([](const auto& what) { return Target(what); }, kept.what);
}

Item movedDown(Item item, double px)
{
    std::visit(Shifter{px}, item);
    return item;
}

} // namespace pallascope::layout
