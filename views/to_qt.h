// Translates the types of scenes and the units of wheels into Qt's.
#pragma once

#include "views/layout/scene/scene.h"

#include <QPolygonF>
#include <QRectF>

#include <vector>

namespace pallascope::views {

// of a wheel, in QWheelEvent's unit: eighths of a degree
inline constexpr double kAngleOfNotch = 120;

[[nodiscard]] inline QRectF toQt(const layout::Rect& rect)
{
    return {rect.x, rect.y, rect.w, rect.h};
}

[[nodiscard]] inline QPolygonF toQt(const std::vector<layout::Point>& points)
{
    QPolygonF polygon;
    polygon.reserve(static_cast<qsizetype>(points.size()));
    for (const layout::Point& point : points) {
        polygon.append(QPointF(point.x, point.y));
    }
    return polygon;
}

} // namespace pallascope::views
