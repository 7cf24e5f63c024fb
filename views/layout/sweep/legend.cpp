// The legend of the picture of a sweep, and its caption.
#include "core/base/format.h"
#include "views/layout/scene/marks.h"
#include "views/layout/sweep/painter.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout::sweep {

namespace {

constexpr double kKey = 20;            // px: a key of the legend
constexpr double kLeastLegend = 104;   // px
constexpr double kWidestLegend = 0.36; // of the picture

} // namespace

double Painter::legendWidth() const
{
    double widest = std::max(textWidth(m_rows.names), textWidth("error of the model"));
    for (const Series& series : m_rows.series) {
        widest = std::max(widest, textWidth(series.name));
    }
    const double most = m_canvas.width() * kWidestLegend;
    const double width = kLegendGap + std::max(kLeastLegend, kKey + widest + 6);
    return most < kLeastLegend ? 0 : std::min(width, most);
}

void Painter::legendRow(double y, const std::string& text, Color color)
{
    const double x = m_plot.right() + kLegendGap + kKey;
    m_canvas.text(x, y, m_canvas.width() - x - 4, kRow, text, {11, color});
}

void Painter::legend()
{
    if (m_legend == 0) {
        return;
    }
    const double left = m_plot.right() + kLegendGap, middle = left + kKey / 2 - 3;
    double y = m_plot.y;
    if (!m_rows.names.empty()) {
        m_canvas.text(left, y, m_canvas.width() - left - 4, kRow, m_rows.names, {11, Role::Text2});
        y += kRow;
        for (std::size_t series = 0; series < m_rows.series.size(); ++series) {
            drawMark(m_canvas, {middle, y + kRow / 2}, static_cast<int>(series), true);
            legendRow(y, m_rows.series[series].name, Role::Text);
            y += kRow;
        }
    }
    leftOut(y);
    keys(m_canvas.height() - kRow - 8);
}

// What the limits of the picture leave out.
void Painter::leftOut(double y)
{
    std::string text;
    if (m_rows.seriesLeftOut > 0) {
        text = fmt::format("{} others left out", m_rows.seriesLeftOut);
    }
    if (m_rows.columnsLeftOut > 0) {
        text += fmt::format("{}{} of {} left out", text.empty() ? "" : ", ", m_rows.columnsLeftOut,
                            across().name);
    }
    legendRow(y, text, Role::Text2);
}

// From the last line upwards, at the lower edge.
void Painter::keys(double y)
{
    const double middle = m_plot.right() + kLegendGap + kKey / 2 - 3;
    const auto row = [&](const std::string& text, const auto& draw) {
        draw(Point{middle, y + kRow / 2});
        legendRow(y, text, Role::Text2);
        y -= kRow;
    };
    if (m_present.findings) {
        row("has findings", [&](Point at) {
            drawMark(m_canvas, at, 0, false);
            drawWarning(m_canvas, {at.x + 6, at.y - 4});
        });
    }
    if (m_present.bands) {
        row("error of the model", [&](Point at) {
            m_canvas.line({{at.x, at.y - 6}, {at.x, at.y + 6}}, Role::Text2, 1);
            for (const double end : {at.y - 6, at.y + 6}) {
                m_canvas.line({{at.x - 3, end}, {at.x + 3, end}}, Role::Text2, 1);
            }
        });
    }
    if (m_present.perhaps) {
        row("perhaps as fast",
            [&](Point at) { m_canvas.disc(at.x, at.y, 6, Role::View, Role::Text3, 1); });
    }
    if (m_present.fastest != nullptr) {
        row(wordFor(*m_present.fastest),
            [&](Point at) { m_canvas.disc(at.x, at.y, 6, Role::View, Role::Text, 2); });
    }
}

std::string Painter::caption() const
{
    const SweepPoint* fastest = nullptr;
    std::int64_t perhaps = 0, notRun = 0;
    for (const SweepPoint& point : m_picture.points) {
        fastest = point.standing == SweepStanding::Fastest ? &point : fastest;
        perhaps += point.standing == SweepStanding::Perhaps ? 1 : 0;
        notRun += point.time ? 0 : 1;
    }
    const auto count = static_cast<std::int64_t>(m_picture.points.size());
    std::string name = fastest == nullptr ? "" : nameOf(m_picture, *fastest);
    std::erase(name, '|'); // which would make parts of it strong
    std::string text = fastest == nullptr ? "all have findings"
                                          : fmt::format("{} |{}|: |{}|", wordFor(*fastest), name,
                                                        timeText(*fastest->time));
    if (notRun == count) {
        text = count == 0 ? "nothing has run yet" : "none can run";
    }
    if (perhaps > 0) {
        text += fmt::format(" · |{}| perhaps as fast", countText(perhaps));
    }
    text += count == 0 ? "" : " · " + counted(count, "run", "runs");
    return notRun == 0 || notRun == count
               ? text
               : text + fmt::format(", |{}| of them not run", countText(notRun));
}

} // namespace pallascope::layout::sweep
