#include "core/base/format.h"
#include "views/layout/axis.h"
#include "views/layout/canvas.h"
#include "views/layout/layouts.h"
#include "views/layout/view_parts.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pallascope::layout {

namespace {

using analysis::Point; // FLOP/B and FLOP/s

constexpr double kLeft = 40, kRight = 14, kTop = 6, kBottom = 34; // px around the plot
constexpr double kWide = 700;  // px from which ceilings and other runs are shown
constexpr double kOctaves = 4; // two octaves beyond the points and the ridge
constexpr int kTrailPoints = 160;

std::string strong(const std::string& text)
{
    return "|" + text + "|";
}

// What the axes span: derived from the whole run, so that nothing rescales while playing.
struct Range
{
    double x0 = 0.1, x1 = 100, y0 = 1e11, y1 = 1e13;
};

Range rangeOf(const RunView& run, bool wide)
{
    const analysis::Report& report = run.report;
    const double achieved = std::max(1.0, report.roofline.memory.achieved.value());
    Range range;
    if (!report.roofline.peak || report.flops.value() == 0 || report.arithmeticIntensity <= 0) {
        range.y0 = range.x0 * achieved;
        range.y1 = range.x1 * achieved;
        return range;
    }
    const double peak = report.roofline.peak->flopsPerSecond;
    const double ridge = report.roofline.ridge;
    range.x0 = std::min(report.arithmeticIntensity, ridge) / kOctaves;
    range.x1 = std::max(report.arithmeticIntensity, ridge) * kOctaves;
    range.y0 = std::min(report.flopsPerSecond / kOctaves, range.x0 * achieved);
    if (wide) {
        constexpr double kMargin = 1.4;
        for (const analysis::Alternative& other : run.alternatives) {
            if (other.arithmeticIntensity > 0 && other.flopsPerSecond > 0) {
                range.x0 = std::min(range.x0, other.arithmeticIntensity / kMargin);
                range.x1 = std::max(range.x1, other.arithmeticIntensity * kMargin);
                range.y0 = std::min(range.y0, other.flopsPerSecond / kMargin);
            }
        }
    }
    range.y1 = peak * 1.5; // room for the name of the roof
    return range;
}

class Painter
{
public:
    Painter(const RunView& run, const ViewState& state, Size size)
        : m_run(run)
        , m_state(state)
        , m_size(size)
        , m_wide(size.width >= kWide)
        , m_canvas(size.width, size.height)
    {
        const Range range = rangeOf(run, m_wide);
        m_plot = {kLeft, kTop, std::max(1.0, size.width - kLeft - kRight),
                  std::max(1.0, size.height - kTop - kBottom)};
        m_x = {range.x0, range.x1, m_plot.x, m_plot.right()};
        m_y = {range.y0, range.y1, m_plot.bottom(), m_plot.y};
        m_unit = range.y1 >= 2e12 ? 1e12 : 1e9;
        m_small = m_wide ? 11 : 10;
        const auto& roofline = run.report.roofline;
        m_peak = roofline.peak && run.report.flops.value() > 0 ? roofline.peak->flopsPerSecond : 0;
        m_ridge = roofline.ridge;
    }

    [[nodiscard]] Scene paint() &&
    {
        if (m_peak > 0) {
            m_canvas.fill(m_plot.x, m_plot.y,
                          std::clamp(m_x.at(m_ridge), m_plot.x, m_plot.right()) - m_plot.x,
                          m_plot.h, mix(Role::Hbm, 0.05));
        }
        axes();
        if (m_peak <= 0) {
            m_canvas.pushClip(m_plot.x, m_plot.y, m_plot.w, m_plot.h);
            slopes();
            m_canvas.popClip();
            return noFlops();
        }
        const auto point = analysis::runPoint(*m_run.index, m_state.now);
        m_canvas.pushClip(m_plot.x, m_plot.y, m_plot.w, m_plot.h);
        trail();
        slopes();
        roof();
        if (m_wide) {
            ceiling();
        }
        m_canvas.popClip();
        names();
        if (point && inSight(*point)) {
            points(*point);
        } else {
            expected();
        }
        if (m_wide) {
            others();
        }
        return parts::finished(std::move(m_canvas), "Roofline", captionOf(point), m_run, m_state);
    }

private:
    [[nodiscard]] double datasheet() const
    {
        return m_run.report.roofline.memory.datasheet.value();
    }

    [[nodiscard]] double achieved() const { return m_run.report.roofline.memory.achieved.value(); }

    [[nodiscard]] double roofAt(double intensity) const
    {
        return std::min(m_peak, intensity * datasheet());
    }

    [[nodiscard]] bool inSight(const Point& p) const
    {
        return p.intensity >= m_x.low && p.intensity <= m_x.high && p.flopsPerSecond >= m_y.low
               && p.flopsPerSecond <= m_y.high;
    }

    [[nodiscard]] layout::Point at(const Point& p) const
    {
        return {m_x.at(p.intensity), m_y.at(p.flopsPerSecond)};
    }

    // "145.4", in the unit of the axis.
    [[nodiscard]] std::string rate(double flopsPerSecond) const
    {
        const std::string text = flopRateText(flopsPerSecond);
        return text.substr(0, text.find(' '));
    }

    void axes()
    {
        for (const double v : logTicks(m_x.low, m_x.high, m_plot.w, 34)) {
            const double px = std::round(m_x.at(v));
            m_canvas.fill(px, m_plot.y, 1, m_plot.h, Role::Grid);
            const double from = std::min(px - 30, m_size.width - 60);
            m_canvas.text(from, m_plot.bottom() + 3, 60, 14, tickText(v),
                          {10, Role::Text2, Weight::Regular, Align::Center});
        }
        for (const double v : logTicks(m_y.low / m_unit, m_y.high / m_unit, m_plot.h, 16)) {
            const double py = std::round(m_y.at(v * m_unit));
            m_canvas.fill(m_plot.x, py, m_plot.w, 1, Role::Grid);
            m_canvas.text(0, py - 7, kLeft - 6, 14, tickText(v),
                          {10, Role::Text2, Weight::Regular, Align::Right});
        }
        m_canvas.fill(m_plot.x, m_plot.bottom(), m_plot.w, 1, Role::Edge);
        m_canvas.text(m_plot.x, m_plot.bottom() + 17, m_plot.w, 14,
                      "arithmetic intensity, FLOP per HBM byte",
                      {10, Role::Text2, Weight::Regular, Align::Center});
        m_canvas.text(m_plot.x + 6, m_plot.y + 2, 90, 14, m_unit == 1e12 ? "TFLOP/s" : "GFLOP/s",
                      {10, Role::Text2});
    }

    // The bandwidths: datasheet solid, achieved dashed.
    void slopes()
    {
        const double top = m_peak > 0 ? m_peak : m_y.high;
        const auto slope = [&](double bandwidth) {
            return std::vector<layout::Point>{at({m_x.low, m_x.low * bandwidth}),
                                              at({top / bandwidth, top})};
        };
        if (datasheet() > 0) {
            m_canvas.line(slope(datasheet()), Role::Text, 1.6);
        }
        if (achieved() > 0) {
            m_canvas.line(slope(achieved()), Role::Text2, 1, {5, 3});
        }
    }

    void roof()
    {
        m_canvas.line({at({m_ridge, m_peak}), at({m_x.high, m_peak})}, Role::Text, 1.6);
        m_canvas.dashedVertical(m_x.at(m_ridge), m_y.at(m_peak), m_plot.bottom(),
                                mix(Role::Text, 0.5));
    }

    // The run point at log-spaced times up to now; each place leads back to its time.
    void trail()
    {
        const trace::Steps& steps = m_run.trace->steps();
        if (steps.size() == 0 || m_state.now.value() <= steps.bodyBegin[0]) {
            return;
        }
        const auto first = static_cast<double>(std::max<std::int64_t>(1, steps.bodyBegin[0] + 1));
        const double whole = static_cast<double>(m_state.now.value()) / first;
        std::vector<layout::Point> line;
        for (int i = 0; i < kTrailPoints; ++i) {
            const double share = static_cast<double>(i) / (kTrailPoints - 1);
            const auto t = Picoseconds(std::llround(first * std::pow(whole, share)));
            const auto point = analysis::runPoint(*m_run.index, t);
            if (!point || point->intensity <= 0 || point->flopsPerSecond <= 0) {
                continue;
            }
            const layout::Point px =
                at({point->intensity, std::max(point->flopsPerSecond, m_y.low * 0.8)});
            line.push_back(px);
            if (inSight(*point)) {
                m_canvas.hit(px.x - 3, px.y - 3, 6, 6, {TargetKind::Time, t.value(), -1});
            }
        }
        m_canvas.line(std::move(line), mix(Role::Select, 0.40), 4);
    }

    void ceiling()
    {
        const auto& step = m_run.report.roofline.stepCeiling;
        if (!step || *step <= m_y.low || *step >= m_peak * 0.98) {
            return;
        }
        const double y = std::round(m_y.at(*step));
        m_canvas.line({{m_x.at(*step / datasheet()), y + 0.5}, {m_plot.right(), y + 0.5}},
                      Role::Scalar, 1, {2, 3});
        const std::string text = "steps and their overhead alone: " + rate(*step);
        const double w = textWidth(text, 11) + 2;
        const Rect box = {m_plot.right() - w - 8, y + 2, w, 14};
        m_canvas.text(box.x, box.y, box.w, box.h, text,
                      {11, Role::Text2, Weight::Regular, Align::Right});
        m_taken.push_back(box);
    }

    // Names lie on their roofs.
    void names()
    {
        along(datasheet(), bandwidthText(datasheet()) + " datasheet", Role::Text, -17, 0.28);
        along(achieved(), bandwidthText(achieved()) + " achieved", Role::Text2, 4, 0.36);
        std::string peak = flopRateText(m_peak);
        if (const std::size_t zero = peak.find(".0 "); zero != std::string::npos) {
            peak.erase(zero, 2); // a datasheet says 197, not 197.0
        }
        peak += ", " + m_run.report.roofline.peak->name;
        const double w = textWidth(peak, m_small) + 2;
        const double roofY = m_y.at(m_peak);
        m_canvas.text(m_plot.right() - w - 4, roofY - 16, w, 14, peak,
                      {m_small, Role::Text, Weight::Regular, Align::Right});
        m_taken.push_back({m_plot.right() - w - 4, roofY - 16, w, 16});
        const double ridge = m_x.at(m_ridge);
        const std::string ridgeText = "ridge " + intensityText(m_ridge);
        if (ridge + 8 + textWidth(ridgeText, m_small) < m_plot.right()) {
            m_canvas.text(ridge + 5, m_plot.bottom() - 16, 120, 14, ridgeText,
                          {m_small, Role::Text2});
        }
        if (ridge - m_plot.x > textWidth("memory-bound", m_small) + 12) {
            m_canvas.text(m_plot.x, m_plot.bottom() - 16, ridge - m_plot.x - 6, 14, "memory-bound",
                          {m_small, Role::Text3, Weight::Regular, Align::Right});
        }
    }

    // Text along the slope of a bandwidth, `offset` px below it, where its left part is.
    void along(double bandwidth, const std::string& text, Color color, double offset, double share)
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
        m_canvas.rotatedText(x, y, text, angle * 180 / std::numbers::pi, {m_small, color});
    }

    struct Line
    {
        std::string text;
        int size = 11;
        Weight weight = Weight::Regular;
        Color color = Role::Text2;
    };

    [[nodiscard]] static double widest(const std::vector<Line>& lines)
    {
        double w = 0;
        for (const Line& line : lines) {
            w = std::max(w, textWidth(line.text, line.size, line.weight));
        }
        return w + 2;
    }

    [[nodiscard]] bool isFree(const Rect& box) const
    {
        const bool inside = box.x >= m_plot.x && box.right() <= m_size.width && box.y >= m_plot.y
                            && box.bottom() <= m_plot.bottom() - 16;
        return inside && std::none_of(m_taken.begin(), m_taken.end(), [&](const Rect& other) {
                   return box.x < other.right() && other.x < box.right() && box.y < other.bottom()
                          && other.y < box.bottom();
               });
    }

    // Where a label of this size lies clear of the roofs' names: right of the point and the ridge,
    // else below, else left.
    [[nodiscard]] Rect place(layout::Point p, double w, double h) const
    {
        const double behind = std::max(p.x + 12, m_x.at(m_ridge) + 6);
        const double low = m_plot.bottom() - 16 - h;
        const std::vector<Rect> candidates = {
            {behind, p.y + 6, w, h},        {behind, std::min(low, p.y + 30), w, h},
            {behind, p.y - h - 4, w, h},    {p.x + 12, p.y + 6, w, h},
            {p.x - 12 - w, p.y + 10, w, h}, {p.x - 12 - w, p.y - h - 4, w, h},
            {p.x + 12, p.y - h - 4, w, h},
        };
        for (const Rect& box : candidates) {
            if (isFree(box)) {
                return box;
            }
        }
        const double right = std::max(m_plot.x, m_size.width - w);
        return {std::min(behind, right), std::clamp(p.y + 6, m_plot.y, std::max(m_plot.y, low)), w,
                h};
    }

    [[nodiscard]] std::string windowText(const Point& window) const
    {
        const std::string steps =
            m_run.period == 1 ? "last step " : "last " + countText(m_run.period) + " steps ";
        return "○ " + steps + rate(window.flopsPerSecond)
               + (m_size.width > 400 ? " at " + intensityText(window.intensity) : "")
               + (m_size.width > 600 && m_state.now >= m_run.trace->end() ? ", epilogue included"
                                                                          : "");
    }

    [[nodiscard]] std::vector<Line> pointLines(const Point& point,
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

    void points(const Point& point)
    {
        const layout::Point p = at(point);
        const double roofY = m_y.at(roofAt(point.intensity));
        m_canvas.fill(std::round(p.x), roofY, 1, p.y - roofY, Role::Select);
        auto window = m_run.periodTime.value() > 0
                          ? analysis::windowPoint(*m_run.index, m_state.now, m_run.periodTime)
                          : std::nullopt;
        if (window && m_state.now <= m_run.periodTime) {
            window.reset(); // the first window is the run so far
        }
        if (window && inSight(*window)) {
            const layout::Point ring = at(*window);
            m_canvas.disc(ring.x, ring.y, 5.5, Role::View, Role::Select, 2);
        }
        m_canvas.disc(p.x, p.y, 5.5, Role::View, Role::View, 0);
        m_canvas.disc(p.x, p.y, 4.5, Role::Playhead, Role::Playhead, 0);
        m_canvas.hit(p.x - 6, p.y - 6, 12, 12, {TargetKind::Time, m_state.now.value(), -1});
        m_taken.push_back({p.x - 7, p.y - 7, 14, 14});

        constexpr double kPitch = 15;
        const std::vector<Line> lines = pointLines(point, window);
        const Rect box = place(p, widest(lines), kPitch * static_cast<double>(lines.size()));
        double y = box.y;
        for (const Line& line : lines) {
            m_canvas.text(box.x, y, box.w, kPitch, line.text, {line.size, line.color, line.weight});
            y += kPitch;
        }
        m_taken.push_back(box);
    }

    // Before anything is computed: where the whole run will be.
    void expected()
    {
        const double intensity = m_run.report.arithmeticIntensity;
        const double x = m_x.at(intensity);
        m_canvas.dashedVertical(x, m_plot.y, m_plot.bottom() - 18, Role::Select);
        const std::string text = "whole run " + intensityText(intensity);
        const double w = textWidth(text, m_small) + 2;
        const Rect box = place({x, m_plot.bottom() - 56}, w, 14);
        m_canvas.text(box.x, box.y, box.w, box.h, text, {m_small, Role::Focus});
        m_taken.push_back(box);
    }

    // Other runs of the kernel, as diamonds.
    void others()
    {
        for (std::size_t i = 0; i < m_run.alternatives.size(); ++i) {
            const analysis::Alternative& other = m_run.alternatives[i];
            const Point point = {other.arithmeticIntensity, other.flopsPerSecond};
            if (!other.fits || !(point.intensity > 0) || !inSight(point)) {
                continue;
            }
            const layout::Point p = at(point);
            m_canvas.polygon({{p.x, p.y - 6}, {p.x + 6, p.y}, {p.x, p.y + 6}, {p.x - 6, p.y}},
                             Role::View, Role::Text2, 1.6);
            const auto row = static_cast<std::int64_t>(i);
            m_canvas.hit(p.x - 7, p.y - 7, 14, 14, {TargetKind::Alternative, row, -1});
            m_taken.push_back({p.x - 7, p.y - 7, 14, 14});
            nameOther(other, p, row);
        }
    }

    // Beside its diamond, the shorter name if need be, nothing if neither side is free.
    void nameOther(const analysis::Alternative& other, const layout::Point& p, std::int64_t row)
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
                    m_canvas.hit(box.x, box.y, box.w, box.h, {TargetKind::Alternative, row, -1});
                    m_taken.push_back(box);
                    return;
                }
            }
        }
    }

    [[nodiscard]] std::string captionOf(const std::optional<Point>& point) const
    {
        if (!point || point->intensity <= 0 || point->flopsPerSecond <= 0) {
            return "nothing computed yet · whole run will sit at "
                   + strong(intensityText(m_run.report.arithmeticIntensity) + " FLOP/B");
        }
        const bool done = m_state.now >= m_run.trace->end();
        return (done ? "whole run " : "so far ") + strong(flopRateText(point->flopsPerSecond))
               + " at " + strong(intensityText(point->intensity) + " FLOP/B") + " · "
               + strong(percentText(point->flopsPerSecond / roofAt(point->intensity), 1))
               + " of its roof";
    }

    [[nodiscard]] Scene noFlops()
    {
        const analysis::Report& report = m_run.report;
        const double seconds = toSeconds(report.time).value();
        const double bytes = static_cast<double>((report.hbmRead + report.hbmWritten).value());
        const std::string moved = seconds > 0 ? bandwidthText(bytes / seconds) : "nothing";
        m_canvas.paragraph(m_plot.x + 14, m_plot.y + 28, m_plot.w - 28,
                           "This kernel computes no FLOPs: it moves " + strong(moved) + " of "
                               + bandwidthText(datasheet()) + ", and has no point here.");
        return parts::finished(std::move(m_canvas), "Roofline", "no FLOPs · moves " + strong(moved),
                               m_run, m_state);
    }

    const RunView& m_run;
    const ViewState& m_state;
    Size m_size;
    bool m_wide;
    Canvas m_canvas;
    Rect m_plot;
    LogScale m_x, m_y;
    double m_unit = 1e12; // of the vertical axis
    double m_peak = 0, m_ridge = 0;
    int m_small = 10;
    std::vector<Rect> m_taken; // by texts and points
};

} // namespace

Scene layoutRoofline(const RunView& run, const ViewState& state, Size size)
{
    return Painter(run, state, size).paint();
}

} // namespace pallascope::layout
