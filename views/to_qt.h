// Qt's words for what scenes and wheels are made of.
#pragma once

#include "views/layout/scene/scene.h"

#include <QPolygonF>
#include <QRectF>

#include <vector>

namespace pallascope::views {

inline constexpr double kAngleOfNotch = 120; // of a wheel: QWheelEvent's eighths of a degree

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
