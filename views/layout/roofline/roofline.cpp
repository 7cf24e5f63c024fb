#include "core/base/format.h"
#include "views/layout/roofline/links.h"
#include "views/layout/roofline/painter.h"
#include "views/layout/run/kept_run.h"
#include "views/layout/run/view_parts.h"

#include <algorithm>
#include <cmath>

namespace pallascope::layout {

namespace roofline {

namespace {

constexpr double kLeft = 40, kRight = 14, kTop = 6, kBottom = 34; // px around the plot
constexpr double kFiguresApart = 16, kBehindFigures = 6;          // px, of the vertical axis
constexpr double kWide = 700;  // px; from here on ceilings and other runs are shown
constexpr double kOctaves = 4; // a factor: two octaves beyond the points and the ridge
constexpr int kTrailPoints = 160;
// px above the roof for its name: below the roof it would lie on the slopes where many decades are
// in sight.
constexpr double kAboveRoof = 8;

std::string strong(const std::string& text)
{
    return "|" + text + "|";
}

// What the axes span. It is derived from the whole run, so that nothing rescales while playing.
struct Range
{
    double x0 = 0.1, x1 = 100, y0 = 1e11, y1 = 1e13;
};

Range rangeOf(const RunView& run, const ViewState& state, bool wide)
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
    const auto include = [&](double intensity, double flopsPerSecond) {
        constexpr double kMargin = 1.4;
        if (intensity > 0 && flopsPerSecond > 0) {
            range.x0 = std::min(range.x0, intensity / kMargin);
            range.x1 = std::max(range.x1, intensity * kMargin);
            range.y0 = std::min(range.y0, flopsPerSecond / kMargin);
        }
    };
    for (const analysis::Alternative& other : run.alternatives) {
        if (wide) {
            include(other.arithmeticIntensity, other.flopsPerSecond);
        }
    }
    for (const Kernel& kernel : kernelsOf(run, 0)) {
        include(kernel.point.intensity, kernel.point.flopsPerSecond);
    }
    if (const std::optional<Point> kept = keptPoint(state)) {
        include(kept->intensity, kept->flopsPerSecond);
    }
    range.y1 = peak * 1.5; // leaves room for the name of the roof
    return range;
}

// Where the plot begins, so that the figures of the vertical axis are whole: those of a slow run
// are of many GFLOP/s.
double leftOf(const Range& range, double unit, double height)
{
    double left = kLeft;
    for (const double v : logTicks(range.y0 / unit, range.y1 / unit, height, kFiguresApart)) {
        left = std::max(left, std::ceil(textWidth(tickText(v), 10)) + kBehindFigures);
    }
    return left;
}

} // namespace

Painter::Painter(const RunView& run, const ViewState& state, Size size)
    : m_run(run)
    , m_state(state)
    , m_size(size)
    , m_wide(size.width >= kWide)
    , m_canvas(size.width, size.height)
{
    Range range = rangeOf(run, state, m_wide);
    m_plot.y = kTop;
    m_plot.h = std::max(1.0, size.height - kTop - kBottom);
    if (const auto& peak = run.report.roofline.peak; peak && m_plot.h > 2 * kAboveRoof) {
        const double below = std::log(std::max(1.0, peak->flopsPerSecond / range.y0));
        range.y1 = std::max(range.y1, peak->flopsPerSecond
                                          * std::exp(kAboveRoof * below / (m_plot.h - kAboveRoof)));
    }
    const bool noFlops = run.report.flops.value() == 0;
    m_unit = (noFlops ? range.y1 : run.report.flopsPerSecond) >= 0.1e12 ? 1e12
                                                                        // The same units as in
                                                                        // flopRateText().
                                                                        : 1e9;
    m_plot.x = leftOf(range, m_unit, m_plot.h);
    m_plot.w = std::max(1.0, size.width - m_plot.x - kRight);
    m_x = {range.x0, range.x1, m_plot.x, m_plot.right()};
    m_y = {range.y0, range.y1, m_plot.bottom(), m_plot.y};
    m_small = m_wide ? 11 : 10;
    const auto& roofline = run.report.roofline;
    m_peak = roofline.peak && run.report.flops.value() > 0 ? roofline.peak->flopsPerSecond : 0;
    m_ridge = roofline.ridge;
}

Scene Painter::paint() &&
{
    if (m_run.report.flops.value() == 0 && m_run.notRun.empty()) {
        return noFlops();
    }
    if (m_peak > 0) {
        m_canvas.fill(m_plot.x, m_plot.y,
                      std::clamp(m_x.at(m_ridge), m_plot.x, m_plot.right()) - m_plot.x, m_plot.h,
                      mix(Role::Hbm, 0.05));
    }
    axes();
    if (m_peak <= 0) {
        m_canvas.pushClip(m_plot.x, m_plot.y, m_plot.w, m_plot.h);
        slopes();
        m_canvas.popClip();
        axisTitle();
        return parts::finished(std::move(m_canvas), "Roofline",
                               m_run.notRun.empty() ? "the chip has no peak for its FLOPs"
                                                    : "not run",
                               m_run, m_state);
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
    ceilings();
    axisTitle();
    if (m_wide) {
        others();
    }
    kernels();
    kept();
    if (point && inSight(*point)) {
        points(*point);
        ceilingPoints(*point);
    } else if (m_run.notRun.empty()) {
        expected();
        if (point && point->intensity > 0 && point->flopsPerSecond > 0) {
            outOfSight(*point);
        }
    }
    nameKept();
    if (m_wide) {
        nameOthers();
    }
    numberKernels();
    std::string text =
        parts::captionOrNotRun(m_run, withKept(m_canvas, m_state, "utilization", captionOf(point)));
    return parts::finished(std::move(m_canvas), "Roofline", std::move(text), m_run, m_state);
}

double Painter::datasheet() const
{
    return m_run.report.roofline.memory.datasheet.value();
}

double Painter::roofAt(double intensity) const
{
    return std::min(m_peak, intensity * datasheet());
}

bool Painter::inSight(const Point& p) const
{
    return p.intensity >= m_x.low && p.intensity <= m_x.high && p.flopsPerSecond >= m_y.low
           && p.flopsPerSecond <= m_y.high;
}

layout::Point Painter::at(const Point& p) const
{
    return {m_x.at(p.intensity), m_y.at(p.flopsPerSecond)};
}

std::string Painter::rate(double flopsPerSecond) const
{
    const std::string text = flopRateText(flopsPerSecond);
    const std::size_t space = text.find(' ');
    return text.substr(space + 1) == unitName() ? text.substr(0, space) : text;
}

std::string_view Painter::unitName() const
{
    return m_unit == 1e12 ? "TFLOP/s" : "GFLOP/s";
}

void Painter::axes()
{
    double apart = 34; // px; more where a kernel's intensity is so low that its figures are long
    for (const double v : {m_x.low, m_x.high}) {
        apart = std::max(apart, textWidth(tickText(v), 10) + 6);
    }
    double written = 0; // px up to which texts reach
    for (const double v : logTicks(m_x.low, m_x.high, m_plot.w, apart)) {
        const double px = std::round(m_x.at(v));
        m_canvas.fill(px, m_plot.y, 1, m_plot.h, Role::Grid);
        const double from = std::min(px - 30, m_size.width - 60);
        const double half = textWidth(tickText(v), 10) / 2;
        if (from + 30 - half > written) { // the last one may be moved inwards
            m_canvas.text(from, m_plot.bottom() + 3, 60, 14, tickText(v),
                          {10, Role::Text2, Weight::Regular, Align::Center});
            written = from + 30 + half + 2;
        }
    }
    for (const double v : logTicks(m_y.low / m_unit, m_y.high / m_unit, m_plot.h, kFiguresApart)) {
        const double py = std::round(m_y.at(v * m_unit));
        m_canvas.fill(m_plot.x, py, m_plot.w, 1, Role::Grid);
        m_canvas.text(0, py - 7, m_plot.x - kBehindFigures, 14, tickText(v),
                      {10, Role::Text2, Weight::Regular, Align::Right});
    }
    m_canvas.fill(m_plot.x, m_plot.bottom(), m_plot.w, 1, Role::Edge);
    m_canvas.text(m_plot.x + 6, m_plot.y + 2, 90, 14, unitName(), {10, Role::Text2});
    m_taken.push_back({m_plot.x + 6, m_plot.y + 2, textWidth(unitName(), 10), 14});
}

void Painter::axisTitle()
{
    m_canvas.text(m_plot.x, m_plot.bottom() + 17, m_plot.w, 14,
                  m_ceilings.empty() ? "arithmetic intensity, FLOP per HBM byte"
                                     : "arithmetic intensity, FLOP per byte of each level",
                  {10, Role::Text2, Weight::Regular, Align::Center});
}

void Painter::slopes()
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

void Painter::roof()
{
    m_canvas.line({at({m_ridge, m_peak}), at({m_x.high, m_peak})}, Role::Text, 1.6);
    m_canvas.dashedVertical(m_x.at(m_ridge), m_y.at(m_peak), m_plot.bottom(), mix(Role::Text, 0.5));
}

void Painter::trail()
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
            m_canvas.hit(px.x - 3, px.y - 3, 6, 6, target::Time{t});
            m_trail.push_back({px.x - 3, px.y - 3, 6, 6});
        }
    }
    m_canvas.line(std::move(line), mix(Role::Select, 0.40), 4);
}

std::string Painter::captionOf(const std::optional<Point>& point)
{
    if (!point || point->intensity <= 0 || point->flopsPerSecond <= 0) {
        return "nothing computed yet · whole run will sit at "
               + strong(intensityText(m_run.report.arithmeticIntensity) + " FLOP/B");
    }
    const bool done = m_state.now >= m_run.trace->end();
    m_canvas.state(
        {FactKind::FlopRate, -1, point->flopsPerSecond, flopRateText(point->flopsPerSecond)});
    m_canvas.state({FactKind::Intensity, -1, point->intensity, intensityText(point->intensity)});
    return (done ? "whole run " : "so far ") + strong(flopRateText(point->flopsPerSecond)) + " at "
           + strong(intensityText(point->intensity) + " FLOP/B") + " · "
           + strong(percentText(point->flopsPerSecond / roofAt(point->intensity), 1))
           + " of its roof";
}

Scene Painter::noFlops()
{
    const Picoseconds now = std::min(m_state.now, m_run.trace->end());
    const std::string moved =
        now > Picoseconds(0) ? bandwidthText(memoryRate(m_run, now)) : "nothing";
    Canvas canvas(m_size.width, m_size.height);
    const double y = canvas.paragraph(
        parts::kPadding, 2, m_size.width - 2 * parts::kPadding,
        "This kernel computes no FLOPs: bytes per second against each link.", 11, 15, Role::Text2);
    paintLinkRates(canvas, m_run, m_state.now, y + 6, m_size.height);
    std::string text =
        withKept(canvas, m_state, "time_s",
                 std::string("no FLOPs · ") + (now >= m_run.trace->end() ? "whole run " : "so far ")
                     + strong(moved) + " of " + bandwidthText(datasheet()));
    return parts::finished(std::move(canvas), "Roofline", std::move(text), m_run, m_state);
}

} // namespace roofline

Scene layoutRoofline(const RunView& run, const ViewState& state, Size size)
{
    return roofline::Painter(run, state, size).paint();
}

} // namespace pallascope::layout
