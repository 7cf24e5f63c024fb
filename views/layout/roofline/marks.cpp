// Paints the points, the other runs and the texts of the roofline.
#include "core/base/format.h"
#include "views/layout/roofline/painter.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pallascope::layout::roofline {

void Painter::ceiling()
{
    const auto& step = m_run.report.roofline.stepCeiling;
    if (!step || *step <= m_y.low || *step >= m_peak * 0.98) {
        return;
    }
    const double y = std::round(m_y.at(*step));
    m_canvas.line({{m_x.at(*step / datasheet()), y + 0.5}, {m_plot.right(), y + 0.5}}, Role::Scalar,
                  1, {2, 3});
    const std::string text = "steps and their overhead alone: " + rate(*step);
    const double w = textWidth(text, 11) + 2;
    const Rect box = {m_plot.right() - w - 8, y + 2, w, 14};
    m_canvas.text(box.x, box.y, box.w, box.h, text,
                  {11, Role::Text2, Weight::Regular, Align::Right});
    m_taken.push_back(box);
}

void Painter::along(double bandwidth, const std::string& text, Color color, double offset,
                    double share)
{
    if (bandwidth <= 0) {
        return;
    }
    const layout::Point from =
        at({std::max(m_x.low, m_y.low / bandwidth), std::max(m_y.low, m_x.low * bandwidth)});
    const layout::Point to = at({m_peak / bandwidth, m_peak});
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    const double room = length - textWidth(text, m_small) - 16;
    if (room < 0) {
        return;
    }
    const double angle = std::atan2(to.y - from.y, to.x - from.x);
    const double way = 8 + room * share;
    const double x = from.x + way * std::cos(angle) - offset * std::sin(angle);
    const double y = from.y + way * std::sin(angle) + offset * std::cos(angle);
    constexpr double kBox = 10; // px; small boxes along a slanted text stand for its place
    for (double gone = 0; gone < textWidth(text, m_small); gone += kBox) {
        m_taken.push_back(
            {x + gone * std::cos(angle) - 3, y + gone * std::sin(angle) - 1, kBox + 6, kBox + 6});
    }
    m_canvas.rotatedText(x, y, text, angle * 180 / std::numbers::pi, {m_small, color});
}

void Painter::names()
{
    along(datasheet(), bandwidthText(datasheet()) + " datasheet", Role::Text, -17, 0.28);
    along(achieved(), bandwidthText(achieved()) + " achieved", Role::Text2, 4, 0.36);
    std::string peak = flopRateText(m_peak);
    if (const std::size_t zero = peak.find(".0 "); zero != std::string::npos) {
        peak.erase(zero, 2); // datasheets say 197, not 197.0
    }
    const std::string named = peak + ", " + m_run.report.roofline.peak->name;
    constexpr double kBeside = 24; // px of the edges and between it and the unit of the axis
    if (textWidth(named, m_small) + textWidth(unitName(), 10) + kBeside <= m_plot.w) {
        peak = named;
    }
    const double w = textWidth(peak, m_small) + 2;
    const double roofY = m_y.at(m_peak);
    constexpr double kRoom = 12; // px above the roof, which a run far below it may leave it without
    const double nameY = roofY >= kRoom ? roofY - 16 : roofY + 2;
    m_canvas.text(m_plot.right() - w - 4, nameY, w, 14, peak,
                  {m_small, Role::Text, Weight::Regular, Align::Right});
    m_taken.push_back({m_plot.right() - w - 4, nameY, w, 16});
    const double ridge = m_x.at(m_ridge);
    m_taken.push_back({ridge - 1, roofY, 2, m_plot.bottom() - roofY});
    const std::string ridgeText = "ridge " + intensityText(m_ridge);
    if (ridge + 8 + textWidth(ridgeText, m_small) < m_plot.right()) {
        m_canvas.text(ridge + 5, m_plot.bottom() - 16, 120, 14, ridgeText, {m_small, Role::Text2});
    }
    if (ridge - m_plot.x > textWidth("memory-bound", m_small) + 12) {
        m_canvas.text(m_plot.x, m_plot.bottom() - 16, ridge - m_plot.x - 6, 14, "memory-bound",
                      {m_small, Role::Text3, Weight::Regular, Align::Right});
    }
}

double Painter::widest(const std::vector<Line>& lines)
{
    double w = 0;
    for (const Line& line : lines) {
        w = std::max(w, textWidth(line.text, line.size, line.weight));
    }
    return w + 2;
}

bool Painter::isFree(const Rect& box, bool clearOfTrail) const
{
    const auto overlaps = [&](const Rect& other) {
        return box.x < other.right() && other.x < box.right() && box.y < other.bottom()
               && other.y < box.bottom();
    };
    const bool inside = box.x >= m_plot.x && box.right() <= m_size.width && box.y >= m_plot.y
                        && box.bottom() <= m_plot.bottom() - 16;
    return inside && std::none_of(m_taken.begin(), m_taken.end(), overlaps)
           && !(clearOfTrail && std::any_of(m_trail.begin(), m_trail.end(), overlaps));
}

std::optional<Rect> Painter::freePlace(layout::Point p, double w, double h) const
{
    constexpr double kNear = 160; // px; a label further away would not seem to belong to the point
    const double ridge = m_x.at(m_ridge) + 6;
    const double behind = ridge - p.x < kNear ? std::max(p.x + 12, ridge) : p.x + 12;
    const double low = m_plot.bottom() - 16 - h;
    std::vector<Rect> candidates = {
        {behind, p.y + 6, w, h},        {behind, std::min(low, p.y + 30), w, h},
        {behind, p.y - h - 4, w, h},    {p.x + 12, p.y + 6, w, h},
        {p.x + 12, p.y + 12, w, h},     {p.x - w / 2, p.y + 14, w, h},
        {p.x - 12 - w, p.y + 10, w, h}, {p.x - 12 - w, p.y - h - 4, w, h},
        {p.x + 12, p.y - h - 4, w, h},
    };
    for (double away = 12; away <= kNear; away += 12) {
        candidates.push_back({p.x + away, std::min(low, p.y - 8), w, h});
    }
    const double before = std::min(p.x + 12, ridge - 12 - w);
    for (double down = 6; down <= kNear; down += 12) {
        candidates.push_back({before, p.y + down, w, h});
    }
    for (const bool clearOfTrail : {true, false}) {
        for (const Rect& box : candidates) {
            if (isFree(box, clearOfTrail)) {
                return box;
            }
        }
    }
    return std::nullopt;
}

std::string Painter::windowText(const Point& window) const
{
    const std::string steps =
        m_run.period == 1 ? "last step " : "last " + countText(m_run.period) + " steps ";
    return "○ " + steps + rate(window.flopsPerSecond)
           + (m_size.width > 400 ? " at " + intensityText(window.intensity) : "")
           + (m_size.width > 600 && m_state.now >= m_run.trace->end() ? ", epilogue included" : "");
}

std::vector<Painter::Line> Painter::pointLines(const Point& point,
                                               const std::optional<Point>& window) const
{
    std::vector<Line> lines = {
        {"run " + flopRateText(point.flopsPerSecond), 11, Weight::SemiBold, Role::Text},
        {"at " + intensityText(point.intensity) + " FLOP/B", m_small, Weight::Regular,
         Role::Text2}};
    if (window) {
        lines.push_back({windowText(*window), m_small, Weight::Regular, Role::Text2});
    }
    const double dashed = std::min(m_peak, point.intensity * achieved());
    if (m_wide && dashed > 0) {
        lines.push_back({percentText(point.flopsPerSecond / dashed, 1) + " of the dashed roof",
                         m_small, Weight::Regular, Role::Text2});
    }
    return lines;
}

void Painter::points(const Point& point)
{
    const layout::Point p = at(point);
    const double roofY = m_y.at(roofAt(point.intensity));
    m_canvas.fill(std::round(p.x), roofY, 1, p.y - roofY, Role::Select);
    auto window = m_run.periodTime.value() > 0
                      ? analysis::windowPoint(*m_run.index, m_state.now, m_run.periodTime)
                      : std::nullopt;
    if (window && m_state.now <= m_run.periodTime) {
        window.reset(); // the first window is the same as the run so far
    }
    if (window && inSight(*window)) {
        const layout::Point ring = at(*window);
        m_canvas.disc(ring.x, ring.y, 5.5, Role::View, Role::Select, 2);
        m_taken.push_back({ring.x - 7, ring.y - 7, 14, 14});
    }
    m_canvas.disc(p.x, p.y, 5.5, Role::View, Role::View, 0);
    m_canvas.disc(p.x, p.y, 4.5, Role::Playhead, Role::Playhead, 0);
    m_canvas.hit(p.x - 6, p.y - 6, 12, 12, target::Time{m_state.now});
    m_taken.push_back({p.x - 7, p.y - 7, 14, 14});
    for (const CeilingPoint& one : ceilingPointsAt(point)) {
        if (inSight(one.point)) {
            const layout::Point its = at(one.point);
            m_taken.push_back({its.x - 6, its.y - 6, 12, 12});
        }
    }
    nameRun(p, pointLines(point, window));
}

// As many of the lines as there is a place for; the caption has the first two.
void Painter::nameRun(layout::Point p, std::vector<Line> lines)
{
    constexpr double kPitch = 15;
    for (; !lines.empty(); lines.pop_back()) {
        const auto box = freePlace(p, widest(lines), kPitch * static_cast<double>(lines.size()));
        if (!box) {
            continue;
        }
        double y = box->y;
        for (const Line& line : lines) {
            m_canvas.text(box->x, y, box->w, kPitch, line.text,
                          {line.size, line.color, line.weight});
            y += kPitch;
        }
        m_taken.push_back(*box);
        return;
    }
}

void Painter::expected()
{
    const double intensity = m_run.report.arithmeticIntensity;
    if (intensity <= 0) { // it has no place on a logarithmic axis
        return;
    }
    const double x = m_x.at(intensity);
    const double roofY = m_y.at(roofAt(intensity)); // the name of the roof lies above it
    m_canvas.dashedVertical(x, std::clamp(roofY, m_plot.y, m_plot.bottom()), m_plot.bottom() - 18,
                            Role::Select);
    const std::string text = "whole run " + intensityText(intensity);
    const double w = textWidth(text, m_small) + 2;
    if (const auto box = freePlace({x, m_plot.bottom() - 56}, w, 14)) {
        m_canvas.text(box->x, box->y, box->w, box->h, text, {m_small, Role::Focus});
        m_taken.push_back(*box);
    }
}

// A run that has hardly begun may lie beyond the axes, which are those of the whole run: a ring at
// their edge says where.
void Painter::outOfSight(const Point& point)
{
    constexpr double kInside = 7; // px, so that the ring is not cut
    const layout::Point there = at(point);
    const layout::Point edge{std::clamp(there.x, m_plot.x + kInside, m_plot.right() - kInside),
                             std::clamp(there.y, m_plot.y + kInside, m_plot.bottom() - kInside)};
    m_canvas.disc(edge.x, edge.y, 4.5, Role::View, Role::Playhead, 2);
    m_canvas.hit(edge.x - 6, edge.y - 6, 12, 12, target::Time{m_state.now});
    m_taken.push_back({edge.x - 7, edge.y - 7, 14, 14});
    nameRun(edge, {{"run " + flopRateText(point.flopsPerSecond), 11, Weight::SemiBold, Role::Text},
                   {"at " + intensityText(point.intensity) + " FLOP/B, beyond the axes", m_small,
                    Weight::Regular, Role::Text2}});
}

std::optional<layout::Point> Painter::placeOf(const analysis::Alternative& other) const
{
    const Point point = {other.arithmeticIntensity, other.flopsPerSecond};
    return other.fits && point.intensity > 0 && inSight(point) ? std::optional(at(point))
                                                               : std::nullopt;
}

void Painter::others()
{
    for (std::size_t i = 0; i < m_run.alternatives.size(); ++i) {
        if (const std::optional<layout::Point> p = placeOf(m_run.alternatives[i])) {
            m_canvas.polygon(
                {{p->x, p->y - 6}, {p->x + 6, p->y}, {p->x, p->y + 6}, {p->x - 6, p->y}},
                Role::View, Role::Text2, 1.6);
            m_canvas.hit(p->x - 7, p->y - 7, 14, 14,
                         target::Alternative{static_cast<std::int64_t>(i)});
            m_taken.push_back({p->x - 7, p->y - 7, 14, 14});
        }
    }
}

void Painter::nameOthers()
{
    for (std::size_t i = 0; i < m_run.alternatives.size(); ++i) {
        if (const std::optional<layout::Point> p = placeOf(m_run.alternatives[i])) {
            nameOther(m_run.alternatives[i], *p, static_cast<std::int64_t>(i));
        }
    }
}

void Painter::nameOther(const analysis::Alternative& other, const layout::Point& p,
                        std::int64_t row)
{
    const std::string name = other.name + " " + rate(other.flopsPerSecond);
    std::vector<std::string> names = {name, other.name};
    if (other.overScopedLimit) {
        names.insert(names.begin(), name + ", over the limit");
    }
    for (const std::string& text : names) {
        const double w = textWidth(text, m_small) + 2;
        for (const Rect& box :
             {Rect{p.x + 11, p.y - 7, w, 14}, Rect{p.x - 11 - w, p.y - 7, w, 14}}) {
            if (isFree(box)) {
                m_canvas.text(box.x, box.y, box.w, box.h, text, {m_small, Role::Text2});
                m_canvas.hit(box.x, box.y, box.w, box.h, target::Alternative{row});
                m_taken.push_back(box);
                return;
            }
        }
    }
}

} // namespace pallascope::layout::roofline
