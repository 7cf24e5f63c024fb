// The other levels of memory and the links between devices in the roofline: a thin line each, on
// which FLOPs per byte count the bytes of that level.
#include "core/base/format.h"
#include "views/layout/roofline/levels.h"
#include "views/layout/roofline/painter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace pallascope::layout::roofline {

namespace {

constexpr double kAtEnds = 6; // px that a name leaves free at both ends of its line

// The whole name, and a shorter one.
std::array<std::string, 2> namesOf(const analysis::Ceiling& ceiling)
{
    return {bandwidthText(ceiling.datasheet.value()) + " " + ceiling.name, ceiling.name};
}

} // namespace

std::optional<std::pair<layout::Point, layout::Point>>
Painter::partOf(const analysis::Ceiling& ceiling) const
{
    const double bandwidth = ceiling.datasheet.value();
    const double from = std::max(m_x.low, m_y.low / bandwidth);
    const double to = std::min(m_x.high, m_peak / bandwidth);
    if (from >= to) {
        return std::nullopt;
    }
    const std::pair part{at({from, from * bandwidth}), at({to, to * bandwidth})};
    // A line without a name would say nothing.
    const double least = textWidth(namesOf(ceiling).back(), 10) + 2 * kAtEnds;
    return std::hypot(part.second.x - part.first.x, part.second.y - part.first.y) < least
               ? std::nullopt
               : std::optional(part);
}

void Painter::ceilings()
{
    constexpr double kBox = 6; // px
    const std::vector<analysis::Ceiling>& all = m_run.report.roofline.ceilings;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto part = partOf(all[i]);
        const auto names = namesOf(all[i]);
        if (!part || !(nameAlong(*part, names.front()) || nameAlong(*part, names.back()))) {
            continue;
        }
        const auto& [from, to] = *part;
        m_ceilings.push_back(i);
        m_canvas.line({from, to}, Role::Text2, 1);
        m_canvas.state(
            {FactKind::CeilingRate, static_cast<std::int32_t>(i), all[i].datasheet.value(), {}});
        const double length = std::hypot(to.x - from.x, to.y - from.y);
        for (double way = 0; way < length; way += kBox) {
            const double x = from.x + (to.x - from.x) * way / length;
            const double y = from.y + (to.y - from.y) * way / length;
            m_canvas.hit(x - kBox / 2, y - kBox / 2, kBox, kBox,
                         target::Ceiling{static_cast<std::int64_t>(i)});
        }
    }
}

bool Painter::nameAlong(const std::pair<layout::Point, layout::Point>& part,
                        const std::string& text)
{
    constexpr double kAbove = 15, kBox = 10; // px
    const auto& [from, to] = part;
    const double width = textWidth(text, 10);
    const double room = std::hypot(to.x - from.x, to.y - from.y) - width - 2 * kAtEnds;
    const double angle = std::atan2(to.y - from.y, to.x - from.x);
    for (const double share : {0.85, 0.6, 0.35, 0.1, 1.0, 0.0}) {
        const double way = kAtEnds + room * share;
        const double x = from.x + way * std::cos(angle) + kAbove * std::sin(angle);
        const double y = from.y + way * std::sin(angle) - kAbove * std::cos(angle);
        std::vector<Rect> boxes; // small ones along the slanted text stand for its place
        for (double gone = 0; gone < width; gone += kBox) {
            boxes.push_back({x + gone * std::cos(angle) - 3, y + gone * std::sin(angle) - 1,
                             kBox + 6, kBox + 6});
        }
        if (room >= 0 && std::all_of(boxes.begin(), boxes.end(), [this](const Rect& box) {
                return isFree(box);
            })) {
            m_canvas.rotatedText(x, y, text, angle * 180 / std::numbers::pi, {10, Role::Text2});
            m_taken.insert(m_taken.end(), boxes.begin(), boxes.end());
            return true;
        }
    }
    return false;
}

// What load and store units move the trace has only as the time for which they are busy, which the
// tooltip says.
std::vector<Painter::CeilingPoint> Painter::ceilingPointsAt(const Point& point) const
{
    std::vector<CeilingPoint> found;
    for (const std::size_t i : m_ceilings) {
        const double bytes = movedOver(m_run, m_run.report.roofline.ceilings[i], m_state.now);
        if (bytes > 0) {
            found.push_back({i, {m_run.index->flops(m_state.now) / bytes, point.flopsPerSecond}});
        }
    }
    return found;
}

void Painter::ceilingPoints(const Point& point)
{
    const std::vector<analysis::Ceiling>& all = m_run.report.roofline.ceilings;
    for (const auto& [i, its] : ceilingPointsAt(point)) {
        m_canvas.state(
            {FactKind::CeilingIntensity, static_cast<std::int32_t>(i), its.intensity, {}});
        if (!inSight(its)) {
            continue;
        }
        const layout::Point p = at(its);
        m_canvas.disc(p.x, p.y, 3.5, Role::View, Role::Text2, 1.6);
        m_canvas.hit(p.x - 6, p.y - 6, 12, 12, target::Ceiling{static_cast<std::int64_t>(i)});
        const std::string text = all[i].name + " " + intensityText(its.intensity);
        const double w = textWidth(text, m_small) + 2;
        for (const Rect& box :
             {Rect{p.x + 9, p.y - 7, w, 14}, Rect{p.x - 9 - w, p.y - 7, w, 14},
              Rect{p.x - w / 2, p.y + 8, w, 14}, Rect{p.x - w / 2, p.y - 22, w, 14}}) {
            if (isFree(box, true)) {
                m_canvas.text(box.x, box.y, box.w, box.h, text, {m_small, Role::Text2});
                m_taken.push_back(box);
                break;
            }
        }
    }
}

} // namespace pallascope::layout::roofline
