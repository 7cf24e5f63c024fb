#include "views/scene_diff.h"

#include <algorithm>

namespace pallascope::views {
namespace {

using namespace layout;

constexpr double kEverything = 1e6;
constexpr std::size_t kMostRects = 64; // with more, one bounding rectangle is cheaper

bool same(const FillItem& a, const FillItem& b)
{
    return a.rect == b.rect && a.color == b.color;
}

bool same(const HatchItem& a, const HatchItem& b)
{
    return a.rect == b.rect && a.color == b.color && a.background == b.background
           && a.hatch == b.hatch;
}

bool same(const PolylineItem& a, const PolylineItem& b)
{
    return a.points == b.points && a.color == b.color && a.width == b.width && a.dash == b.dash;
}

bool same(const PolygonItem& a, const PolygonItem& b)
{
    return a.points == b.points && a.fill == b.fill && a.hasEdge == b.hasEdge && a.edge == b.edge
           && a.edgeWidth == b.edgeWidth;
}

bool same(const DiscItem& a, const DiscItem& b)
{
    return a.center == b.center && a.radius == b.radius && a.fill == b.fill && a.edge == b.edge
           && a.edgeWidth == b.edgeWidth;
}

bool same(const TextItem& a, const TextItem& b)
{
    return a.rect == b.rect && a.text == b.text && a.size == b.size && a.weight == b.weight
           && a.color == b.color && a.align == b.align && a.onFill == b.onFill
           && a.angle == b.angle;
}

bool same(const ImageItem& a, const ImageItem& b)
{
    return a.rect == b.rect && a.columns == b.columns && a.rows == b.rows && a.palette == b.palette
           && a.cells == b.cells;
}

bool same(const ClipItem& a, const ClipItem& b)
{
    return a.rect == b.rect && a.pop == b.pop;
}

bool same(const Item& a, const Item& b)
{
    if (a.index() != b.index()) {
        return false;
    }
    return std::visit(
        [&b](const auto& left) { return same(left, std::get<std::decay_t<decltype(left)>>(b)); },
        a);
}

QRectF boundsOf(const std::vector<Point>& points, double margin)
{
    if (points.empty()) {
        return {};
    }
    double left = points.front().x;
    double right = left;
    double top = points.front().y;
    double bottom = top;
    for (const Point& point : points) {
        left = std::min(left, point.x);
        right = std::max(right, point.x);
        top = std::min(top, point.y);
        bottom = std::max(bottom, point.y);
    }
    return QRectF(QPointF(left, top), QPointF(right, bottom))
        .adjusted(-margin, -margin, margin, margin);
}

QRectF cover(const Rect& rect)
{
    return {rect.x - 1, rect.y - 1, rect.w + 2, rect.h + 2};
}

QRectF cover(const FillItem& item)
{
    return cover(item.rect);
}

QRectF cover(const HatchItem& item)
{
    return cover(item.rect);
}

QRectF cover(const ImageItem& item)
{
    return cover(item.rect);
}

QRectF cover(const PolylineItem& item)
{
    return boundsOf(item.points, item.width * 2 + 2);
}

QRectF cover(const PolygonItem& item)
{
    return boundsOf(item.points, item.edgeWidth + 2);
}

QRectF cover(const DiscItem& item)
{
    const double r = item.radius + item.edgeWidth + 2;
    return {item.center.x - r, item.center.y - r, 2 * r, 2 * r};
}

QRectF cover(const TextItem& item)
{
    if (item.angle != 0) { // it may point in any direction
        const double reach = item.rect.w + item.rect.h + 4;
        return {item.rect.x - reach, item.rect.y - reach, 2 * reach, 2 * reach};
    }
    // Text is not clipped to its rectangle. If it is too wide, it sticks out; on which side depends
    // on its alignment.
    const double wide = static_cast<double>(item.text.size()) * item.size * 0.75;
    const double spill = std::max(0.0, wide - item.rect.w) + 4;
    return {item.rect.x - spill, item.rect.y - 4, item.rect.w + 2 * spill, item.rect.h + 8};
}

QRectF cover(const ClipItem& /*item*/)
{
    return {-kEverything, -kEverything, 2 * kEverything, 2 * kEverything};
}

} // namespace

QRectF bounds(const Item& item)
{
    return std::visit([](const auto& it) { return cover(it); }, item);
}

QRegion changed(const Scene& before, const Scene& after)
{
    const QRect whole(0, 0, static_cast<int>(after.width) + 1, static_cast<int>(after.height) + 1);
    if (before.width != after.width || before.height != after.height) {
        return whole;
    }
    // Items that are equal at the beginning and at the end of both lists stay. Those between were
    // added, removed or changed.
    std::size_t first = 0;
    const std::size_t shorter = std::min(before.items.size(), after.items.size());
    while (first < shorter && same(before.items[first], after.items[first])) {
        ++first;
    }
    std::size_t tail = 0;
    while (tail < shorter - first
           && same(before.items[before.items.size() - 1 - tail],
                   after.items[after.items.size() - 1 - tail])) {
        ++tail;
    }
    const std::size_t beforeEnd = before.items.size() - tail;
    const std::size_t afterEnd = after.items.size() - tail;
    const bool aligned = beforeEnd == afterEnd;
    std::vector<QRect> rects;
    for (std::size_t i = first; i < std::max(beforeEnd, afterEnd); ++i) {
        if (aligned && same(before.items[i], after.items[i])) {
            continue;
        }
        if (i < beforeEnd) {
            rects.push_back(bounds(before.items[i]).toAlignedRect() & whole);
        }
        if (i < afterEnd) {
            rects.push_back(bounds(after.items[i]).toAlignedRect() & whole);
        }
    }
    if (rects.size() <= kMostRects) {
        QRegion region;
        for (const QRect& rect : rects) {
            region += rect;
        }
        return region;
    }
    QRect all;
    for (const QRect& rect : rects) {
        all |= rect;
    }
    return all;
}

} // namespace pallascope::views
