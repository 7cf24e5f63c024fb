// The kept run in the roofline: hollow, with an arrow to where the present run ends up.
#include "core/base/format.h"
#include "views/layout/roofline/painter.h"
#include "views/layout/run/kept_run.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout::roofline {

std::optional<Point> keptPoint(const ViewState& state)
{
    if (state.kept == nullptr || !state.kept->isOnChip) { // it has other roofs
        return std::nullopt;
    }
    const analysis::Report& report = state.kept->run->report;
    const Point point{report.arithmeticIntensity, report.flopsPerSecond};
    return point.intensity > 0 && point.flopsPerSecond > 0 ? std::optional(point) : std::nullopt;
}

void Painter::kept()
{
    const std::optional<Point> before = keptPoint(m_state);
    if (!before || !inSight(*before)) {
        return;
    }
    constexpr double kRing = 5, kTip = 7, kBox = 8; // px
    const layout::Point from = at(*before);
    const Point whole{m_run.report.arithmeticIntensity, m_run.report.flopsPerSecond};
    const layout::Point to = at(whole);
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    if (inSight(whole) && length > kRing + 2 * kTip) {
        const double dx = (to.x - from.x) / length, dy = (to.y - from.y) / length;
        const double end = length - 6; // the point itself stays free
        const auto on = [&](double along, double across) {
            return layout::Point{from.x + along * dx - across * dy,
                                 from.y + along * dy + across * dx};
        };
        m_canvas.line({on(kRing, 0), on(end - kTip + 1, 0)}, Role::Text, 1.6);
        m_canvas.polygon({on(end, 0), on(end - kTip, kTip / 2), on(end - kTip, -kTip / 2)},
                         Role::Text);
        for (double along = 0; along < length; along += kBox) {
            const layout::Point p = on(along, 0);
            m_taken.push_back({p.x - kBox / 2, p.y - kBox / 2, kBox, kBox});
        }
    }
    m_canvas.disc(from.x, from.y, kRing, Role::View, Role::Text, 1.6);
    m_taken.push_back({from.x - 7, from.y - 7, 14, 14});
    m_taken.push_back({to.x - 7, to.y - 7, 14, 14});
}

void Painter::nameKept()
{
    const std::optional<Point> before = keptPoint(m_state);
    if (!before || !inSight(*before)) {
        return;
    }
    const std::string text = "kept " + rate(before->flopsPerSecond);
    const double w = textWidth(text, m_small, Weight::Medium) + 2;
    const layout::Point p = at(*before);
    for (const bool clearOfTrail : {true, false}) {
        for (const Rect& box :
             {Rect{p.x + 11, p.y - 7, w, 15}, Rect{p.x - 11 - w, p.y - 7, w, 15},
              Rect{p.x + 9, p.y + 6, w, 15}, Rect{p.x - 9 - w, p.y + 6, w, 15},
              Rect{p.x - w / 2, p.y + 9, w, 15}, Rect{p.x - w / 2, p.y - 24, w, 15}}) {
            if (isFree(box, clearOfTrail)) {
                m_canvas.text(box.x, box.y, box.w, box.h, text,
                              {m_small, Role::Text, Weight::Medium});
                m_taken.push_back(box);
                return;
            }
        }
    }
}

} // namespace pallascope::layout::roofline
