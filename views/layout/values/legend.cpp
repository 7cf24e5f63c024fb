// What stands beside the heat map of values: the whole array with the part in sight, what the
// elements in sight come to, the scale of the colours, and what is not a number.
#include "core/base/format.h"
#include "views/layout/values/painter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout::values {

namespace {

constexpr double kSwatch = 11, kSwatchText = 6, kRightEdge = 10; // px
constexpr double kBar = 8, kBarHigh = 30;                        // px of the scale with its texts

} // namespace

std::string minus(std::string text)
{
    for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at)) {
        text.replace(at, 1, "−");
    }
    return text;
}

// The outline of the plane with a frame round what the map shows.
void Painter::whole(double x, double& y)
{
    constexpr double kMost = 56, kLeast = 4; // px
    const Plane& plane = m_sight.plane;
    const double longer = static_cast<double>(std::max(plane.rows, plane.columns));
    const auto px = [&](std::int64_t elements) {
        return std::max(kLeast, std::round(static_cast<double>(elements) * kMost / longer));
    };
    m_canvas.text(x, y, m_frame.legendWidth - kRightEdge, kLine, "whole array", {10, Role::Text2});
    y += kLine;
    const double w = px(plane.columns), h = px(plane.rows);
    m_canvas.fill(x, y, w, h, mix(m_sight.color.role, 0.3));
    residents({{x, y, w, h},
               {0, 0, plane.rows, plane.columns},
               h / static_cast<double>(plane.rows),
               w / static_cast<double>(plane.columns)});
    const Region& region = m_frame.region;
    const auto inside = [&](std::int64_t at, std::int64_t all, double size) {
        return std::round(static_cast<double>(at) * size / static_cast<double>(all));
    };
    const double left = inside(region.column, plane.columns, w);
    const double top = inside(region.row, plane.rows, h);
    const double right = inside(region.column + region.columns, plane.columns, w);
    const double bottom = inside(region.row + region.rows, plane.rows, h);
    m_canvas.frame(x + left - 1, y + top - 1, std::max(kLeast, right - left) + 2,
                   std::max(kLeast, bottom - top) + 2, Role::Text, 2);
    y += h + 8;
}

void Painter::figures(double x, double& y)
{
    const Counts& counts = m_sight.inSight;
    const std::array<std::pair<const char*, double>, 3> all{
        {{"min", counts.least}, {"max", counts.largest}, {"mean", counts.mean}}};
    for (const auto& [name, value] : all) {
        m_canvas.text(x, y, 36, kLine, name, {11, Role::Text2});
        m_canvas.text(x + 36, y, m_frame.legendWidth - 36 - kRightEdge, kLine,
                      counts.values == 0 ? "none" : minus(fmt::format("{:.4g}", value)),
                      {11, Role::Text, Weight::Medium, Align::Right});
        y += kLine;
    }
    y += 6;
}

void Painter::scaleBar(double x, double& y)
{
    const double from = diverges() ? -1 : 0;
    const double width = m_frame.legendWidth - kRightEdge;
    for (int i = 0; i < static_cast<int>(width); ++i) {
        m_canvas.fill(x + i, y, 1, kBar, colorAt(from + (1 - from) * i / width));
    }
    const double most = std::max(-m_range.least, m_range.largest);
    const bool log = m_scale == ValuesScale::Log;
    const double high = diverges() || log ? most : m_range.largest;
    const double low = diverges() ? -most : log ? m_range.leastMagnitude : m_range.least;
    const auto text = [&](double value) { return minus(fmt::format("{:.4g}", value)); };
    m_canvas.text(x, y + kBar + 1, width / 2, 14, text(low), {10, Role::Text2});
    m_canvas.text(x + width / 2, y + kBar + 1, width / 2, 14, text(high),
                  {10, Role::Text2, Weight::Regular, Align::Right});
    if (diverges()) {
        m_canvas.text(x + width / 2 - 8, y + kBar + 1, 16, 14, "0",
                      {10, Role::Text2, Weight::Regular, Align::Center});
    }
    y += kBarHigh;
}

// A copy under way has a thin frame, one that waits a dashed one, as in the grid.
void Painter::residents(const Picture& picture)
{
    constexpr double kLeast = 3, kHalo = 8; // px
    for (const Resident& one : m_sight.resident) {
        const auto along = [](std::int64_t from, std::int64_t count, double at, double end,
                              double per, std::int64_t first) {
            const double a = std::round(at + static_cast<double>(from - first) * per);
            const double b = std::round(at + static_cast<double>(from + count - first) * per);
            const double low = std::max(a, at);
            return std::pair(low, std::min(std::max(b, low + kLeast), end) - low);
        };
        const Region& of = one.region;
        const auto [x, w] = along(of.column, of.columns, picture.rect.x, picture.rect.right(),
                                  picture.perColumn, picture.region.column);
        const auto [y, h] = along(of.row, of.rows, picture.rect.y, picture.rect.bottom(),
                                  picture.perRow, picture.region.row);
        const bool isInSight = of.row < picture.region.row + picture.region.rows
                               && of.row + of.rows > picture.region.row
                               && of.column < picture.region.column + picture.region.columns
                               && of.column + of.columns > picture.region.column;
        if (!isInSight || w <= 0 || h <= 0) {
            continue;
        }
        const Color ink = one.how == Residence::InUse ? Color(Role::Text) : m_sight.color;
        const double thickness = one.how == Residence::Here || one.how == Residence::InUse ? 2 : 1;
        if (w >= kHalo && h >= kHalo) { // so that it stands out of cells of its own colour
            m_canvas.frame(x + thickness, y + thickness, w - 2 * thickness, h - 2 * thickness,
                           Role::View);
        }
        if (one.how == Residence::Queued) {
            m_canvas.dashedFrame(x, y, w, h, ink);
        } else {
            m_canvas.frame(x, y, w, h, ink, thickness);
        }
    }
}

void Painter::labelled(double x, double y, const char* what, std::int64_t number)
{
    const std::string text = countText(number);
    const double left = kSwatch + kSwatchText, width = m_frame.legendWidth - kRightEdge;
    m_canvas.text(x + left, y, width - left - textWidth(text, 11, Weight::Medium) - 4, kLine, what);
    m_canvas.text(x, y, width, kLine, text,
                  {11, number > 0 ? Role::Text : Role::Text3, Weight::Medium, Align::Right});
}

void Painter::count(double x, double& y, Kind kind, const char* what, std::int64_t number)
{
    const Rect swatch{x, y + 3, kSwatch, kSwatch};
    if (kind == Kind::Undefined) {
        pattern(swatch, kind);
    } else if (kind == Kind::Arriving) {
        m_canvas.frame(swatch.x, swatch.y, kSwatch, kSwatch, Role::Edge);
        m_canvas.fill(swatch.x + 5, swatch.y + 5, 2, 2, m_sight.color);
    } else {
        m_canvas.fill(swatch.x, swatch.y, kSwatch, kSwatch,
                      kind == Kind::Nan ? Role::Error : Role::Warning);
        glyph(swatch, {kind, 1});
    }
    labelled(x, y, what, number);
    y += kLine;
}

// What the map shows. In a low picture the outline goes first, then the words, the scale, the
// figures; the counts stay.
void Painter::legend()
{
    const double x = m_frame.legendX;
    const double end = m_frame.numbersY;
    double y = m_frame.map.y - 4;
    constexpr double kWords = 58, kOutline = 86;
    double room = end - y - 4 * kLine;
    const auto takes = [&room](double px, bool wanted) {
        const bool fits = wanted && room >= px;
        room -= fits ? px : 0;
        return fits;
    };
    const auto here =
        std::count_if(m_sight.resident.begin(), m_sight.resident.end(), [](const Resident& one) {
            return one.how == Residence::Here || one.how == Residence::InUse;
        });
    const bool withResident = takes(kLine, here > 0);
    const bool withFigures = takes(3 * kLine + 6, true);
    const bool withScale = takes(kBarHigh, m_hasRange);
    const bool withWords = takes(kWords, m_frame.side > 1);
    const bool isPart =
        m_frame.region.rows < m_sight.plane.rows || m_frame.region.columns < m_sight.plane.columns;
    if (takes(kOutline, isPart)) {
        whole(x, y);
    }
    if (withFigures) {
        figures(x, y);
    }
    if (withScale) {
        scaleBar(x, y);
    }
    count(x, y, Kind::Nan, "NaN", m_sight.inSight.nan);
    count(x, y, Kind::Inf, "Inf", m_sight.inSight.inf);
    count(x, y, Kind::Arriving, "on its way", m_sight.inSight.arriving);
    count(x, y, Kind::Undefined, "undefined", m_sight.inSight.undefined);
    if (withResident) {
        m_canvas.frame(x, y + 3, kSwatch, kSwatch, m_sight.color, 2);
        labelled(x, y, "in VMEM", here);
        y += kLine;
    }
    if (withWords) {
        m_canvas.paragraph(x, y + 6, m_frame.legendWidth - kRightEdge,
                           fmt::format("A cell stands for {0} × {0} elements. It shows the worst "
                                       "of them, else the value farthest from 0.",
                                       m_frame.side),
                           10, 13, Role::Text3);
    }
}

} // namespace pallascope::layout::values
