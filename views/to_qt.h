// Qt's words for what scenes and wheels are made of.
#pragma once

#include "views/layout/scene.h"

#include <QRectF>

namespace pallascope::views {

inline constexpr double kAngleOfNotch = 120; // of a wheel: QWheelEvent's eighths of a degree

[[nodiscard]] inline QRectF toQt(const layout::Rect& rect)
{
    return {rect.x, rect.y, rect.w, rect.h};
}

} // namespace pallascope::views
