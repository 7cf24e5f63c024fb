#include "views/layout/scatter/scatter.h"

#include "core/base/format.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/axis.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/scene/marks.h"
#include "views/layout/scene/scene.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

namespace pallascope::layout {

namespace scatter {

namespace {

constexpr double kLeft = 66, kRight = 14, kTop = 8, kBottom = 38; // px around the plot
constexpr double kLegend = 168;        // px beside the plot, if there is room
constexpr double kRow = 18, kKey = 18; // px: a line of the legend, and its key
constexpr double kNear = 0.15;         // the dashed lines: this share off what was measured
constexpr double kShortest = 1e-12, kLongest = 1e7; // seconds; other times have no place

// A family, in the order of first points, and what is drawn of it.
struct Family
{
    std::string name;
    int number = 0, points = 0;
    double meanAbsolute = 0; // the mean of absolute errors, as a share of what was measured
};

bool isDrawn(const ScatterPoint& point)
{
    const auto has = [](double seconds) { return seconds >= kShortest && seconds <= kLongest; };
    return has(point.measured) && has(point.predicted);
}

double off(const ScatterPoint& point)
{
    return point.predicted / point.measured - 1;
}

class Painter
{
public:
    Painter(const std::vector<ScatterPoint>& points, Size size);

    Scene paint() &&;

private:
    void axes();
    void lines();
    void marks();
    void legend();
    [[nodiscard]] std::string caption() const;

    [[nodiscard]] double px(double seconds) const { return m_x.at(seconds); }

    [[nodiscard]] double py(double seconds) const { return m_y.at(seconds); }

    std::vector<ScatterPoint> m_points;
    std::vector<Family> m_families;
    Canvas m_canvas;
    Rect m_plot;
    bool m_isLegendBeside = false;
    LogScale m_x, m_y;
    int m_near = 0;
    double m_meanAbsolute = 0;
};

Painter::Painter(const std::vector<ScatterPoint>& points, Size size)
    : m_canvas(size.width, size.height)
{
    std::copy_if(points.begin(), points.end(), std::back_inserter(m_points), isDrawn);
    double low = 1, high = 0;
    for (const ScatterPoint& point : m_points) {
        const auto same = [&](const Family& family) { return family.name == point.family; };
        auto family = std::find_if(m_families.begin(), m_families.end(), same);
        if (family == m_families.end()) {
            m_families.push_back({point.family, static_cast<int>(m_families.size()), 0, 0});
            family = m_families.end() - 1;
        }
        ++family->points;
        family->meanAbsolute += std::fabs(off(point));
        m_meanAbsolute += std::fabs(off(point)) / static_cast<double>(m_points.size());
        m_near += std::fabs(off(point)) <= kNear ? 1 : 0;
        low = high == 0 ? point.measured : low;
        low = std::min({low, point.measured, point.predicted});
        high = std::max({high, point.measured, point.predicted});
    }
    for (Family& family : m_families) {
        family.meanAbsolute /= family.points;
    }
    const double most = std::max(1.0, size.height - kTop - kBottom);
    m_isLegendBeside = size.width - kLeft - kRight - kLegend >= 0.75 * most;
    const double room = size.width - kLeft - kRight - (m_isLegendBeside ? kLegend : 0);
    const double side = std::max(1.0, std::min(room, most));
    m_plot = {kLeft, kTop, side, side};
    if (high == 0) {
        low = 1e-6;
        high = 1e-3;
    }
    // A margin, as a factor, keeps marks off the axes: about the diameter of a mark.
    const double margin = std::pow(high / low * 10, std::min(1.0, 2 * kMarkRadius / side));
    low = niceBelow(low / margin);
    high = std::max(niceAbove(high * margin), low * 10);
    m_x = {low, high, m_plot.x, m_plot.right()};
    m_y = {low, high, m_plot.bottom(), m_plot.y};
}

Scene Painter::paint() &&
{
    axes();
    m_canvas.pushClip(m_plot.x, m_plot.y, m_plot.w, m_plot.h);
    lines();
    m_canvas.popClip();
    marks();
    legend();
    return std::move(m_canvas).finish("Predicted against measured", caption());
}

void Painter::axes()
{
    constexpr double kLeastPx = 64;
    const std::vector<double> named = logTicks(m_x.low, m_x.high, m_plot.w, kLeastPx);
    for (const double v : logTicks(m_x.low, m_x.high)) {
        const bool isNamed = std::find(named.begin(), named.end(), v) != named.end();
        const Color color = isNamed ? Color(Role::Line) : Color(Role::Grid);
        const double x = std::round(px(v)), y = std::round(py(v));
        m_canvas.fill(x, m_plot.y, 1, m_plot.h, color);
        m_canvas.fill(m_plot.x, y, m_plot.w, 1, color);
        if (isNamed) {
            const std::string text = secondsTickText(v);
            m_canvas.text(x - 34, m_plot.bottom() + 4, 68, 14, text,
                          {10, Role::Text2, Weight::Regular, Align::Center});
            m_canvas.text(14, y - 7, kLeft - 20, 14, text,
                          {10, Role::Text2, Weight::Regular, Align::Right});
        }
    }
    m_canvas.fill(m_plot.x, m_plot.bottom(), m_plot.w, 1, Role::Edge);
    m_canvas.fill(m_plot.x, m_plot.y, 1, m_plot.h, Role::Edge);
    m_canvas.text(m_plot.x, m_plot.bottom() + 20, m_plot.w, 14, "measured time",
                  {11, Role::Text2, Weight::Regular, Align::Center});
    const std::string predicted = "predicted time";
    m_canvas.rotatedText(2, m_plot.y + (m_plot.h + textWidth(predicted, 11)) / 2, predicted, -90,
                         {11, Role::Text2});
}

void Painter::lines()
{
    const auto corner = [&](double x, double y) { return Point{px(x), py(y)}; };
    const double low = m_x.low, high = m_x.high;
    const auto along = [&](double factor) {
        return std::vector<Point>{corner(low, low * factor), corner(high, high * factor)};
    };
    std::vector<Point> band = along(1 + kNear);
    const std::vector<Point> back = along(1 - kNear);
    band.insert(band.end(), back.rbegin(), back.rend());
    m_canvas.polygon(std::move(band), mix(Role::Select, 0.07));
    m_canvas.line(along(1), Role::Text2, 1.2);
    m_canvas.line(along(1 + kNear), Role::Text3, 1, {4, 3});
    m_canvas.line(along(1 - kNear), Role::Text3, 1, {4, 3});
}

void Painter::marks()
{
    m_canvas.pushClip(m_plot.x, m_plot.y, m_plot.w, m_plot.h);
    for (const ScatterPoint& point : m_points) {
        const auto same = [&](const Family& family) { return family.name == point.family; };
        const auto family = std::find_if(m_families.begin(), m_families.end(), same);
        // Solid if the prediction is near the measured time.
        drawMark(m_canvas, {px(point.measured), py(point.predicted)}, family->number,
                 std::fabs(off(point)) <= kNear);
    }
    m_canvas.popClip();
}

void Painter::legend()
{
    // The room above the diagonal is free, because points lie near the diagonal.
    const double x = m_isLegendBeside ? m_plot.right() + 20 : m_plot.x + 14;
    const double width = m_isLegendBeside ? kLegend - 20 + kRight - 8 : m_plot.w * 0.45;
    const double bottom = m_isLegendBeside ? m_plot.bottom() : m_plot.y + m_plot.h * 0.5;
    const double behind = x + kKey + 8; // behind the keys
    double y = m_plot.y + 2;
    const auto row = [&](const std::string& text, const std::string& number, Color color) {
        const double w = textWidth(number, 11) + 2;
        m_canvas.text(behind, y, x + width - behind - w - 6, kRow, text, {11, color});
        m_canvas.text(x + width - w, y, w, kRow, number,
                      {11, Role::Text2, Weight::Regular, Align::Right});
        y += kRow;
    };
    const auto middle = [&] { return Point{x + kKey / 2, std::round(y + kRow / 2)}; };
    row("", "mean error", Role::Text2);
    for (const Family& family : m_families) {
        if (y + 5 * kRow > bottom && family.number + 1 < static_cast<int>(m_families.size())) {
            row(fmt::format("and {} more",
                            m_families.size() - static_cast<std::size_t>(family.number)),
                "", Role::Text2);
            break;
        }
        drawMark(m_canvas, middle(), family.number, true);
        row(family.name, fmt::format("{:.1f} %", family.meanAbsolute * 100), Role::Text);
    }
    if (y + 3.5 * kRow > bottom) {
        return;
    }
    y += kRow / 2;
    const auto across = [&] {
        return std::vector<Point>{{x, middle().y + 0.5}, {x + kKey, middle().y + 0.5}};
    };
    m_canvas.line(across(), Role::Text2, 1.2);
    row("as measured", "", Role::Text2);
    m_canvas.line(across(), Role::Text3, 1, {4, 3});
    row(fmt::format("{:.0f} % off", kNear * 100), "", Role::Text2);
    if (m_near < static_cast<int>(m_points.size())) {
        drawMark(m_canvas, middle(), 0, false);
        row("farther off: hollow", "", Role::Text2);
    }
}

std::string Painter::caption() const
{
    if (m_points.empty()) {
        return "no timing has a prediction";
    }
    const auto count = static_cast<std::int64_t>(m_points.size());
    return fmt::format("|{}| · mean absolute error |{:.1f} %| · |{}| within {:.0f} %",
                       counted(count, "timing", "timings"), m_meanAbsolute * 100, m_near,
                       kNear * 100);
}

} // namespace

} // namespace scatter

Scene layoutScatter(const std::vector<ScatterPoint>& points, Size size)
{
    return scatter::Painter(points, size).paint();
}

} // namespace pallascope::layout
