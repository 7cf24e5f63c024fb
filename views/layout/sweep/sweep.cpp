#include "views/layout/sweep/sweep.h"

#include "core/base/format.h"
#include "views/layout/scene/marks.h"
#include "views/layout/sweep/painter.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace pallascope::layout {

namespace sweep {

namespace {

constexpr double kLeft = 66, kRight = 14, kTop = 10, kBottom = 40; // px around the plot
constexpr double kLane = 24;                         // px below the plot, for what did not run
constexpr double kLeastColumn = 6, kWidestStep = 12; // px: between columns, and between series
constexpr double kRing = 8.5;                        // px: radius around the fastest
constexpr double kMargin = 14;                       // px from the marks to the ends of the axis
constexpr std::size_t kMostSeries = 12;              // more cannot be told apart
constexpr int kKeys = 4;                             // lines of the legend that explain marks
constexpr auto kNoSeconds = 1e-12;                   // the least that a log axis shows

double seconds(Picoseconds time)
{
    return std::max(kNoSeconds, toSeconds(time).value());
}

bool isWhole(const std::string& text)
{
    return !text.empty()
           && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Present presentIn(const Arrangement& arrangement)
{
    Present present;
    for (const Series& series : arrangement.series) {
        for (const SweepPoint* point : series.points) {
            present.fastest = point->standing == SweepStanding::Fastest ? point : present.fastest;
            present.perhaps |= point->standing == SweepStanding::Perhaps;
            present.bands |= point->band.has_value();
            present.findings |= !point->findings.empty();
            present.notRun |= !point->time;
        }
    }
    return present;
}

} // namespace

Painter::Painter(const SweepPicture& picture, Size size)
    : m_picture(picture)
    , m_canvas(size.width, size.height)
{
    const double lines = (size.height - kTop) / kRow - kKeys - 2; // a head, and what is left out
    const auto series =
        static_cast<std::size_t>(std::clamp(lines, 1.0, static_cast<double>(kMostSeries)));
    const double room = std::max(1.0, size.width - kLeft - kRight);
    m_rows =
        arranged(picture, static_cast<std::size_t>(std::max(1.0, room / kLeastColumn)), series);
    m_present = presentIn(m_rows);
    m_legend = legendWidth();
    const double below = kBottom + (m_present.notRun ? kLane : 0);
    m_plot = {kLeft, kTop, std::max(1.0, room - m_legend),
              std::max(1.0, size.height - kTop - below)};
    setTimes();
}

void Painter::setTimes()
{
    double low = 0, high = 0;
    const auto take = [&](Picoseconds time) {
        low = low == 0 ? seconds(time) : std::min(low, seconds(time));
        high = std::max(high, seconds(time));
    };
    for (const Series& series : m_rows.series) {
        for (const SweepPoint* point : series.points) {
            if (point->time) {
                take(*point->time);
                take(point->band ? point->band->begin : *point->time);
                take(point->band ? point->band->end : *point->time);
            }
        }
    }
    if (high == 0) {
        low = 1e-6;
        high = 1e-3;
    } else if (high < low * 1.1) { // so that the axis has two ticks
        low /= 1.1;
        high *= 1.1;
    }
    const double used = std::max(1.0, m_plot.h - 2 * kMargin);
    const double margin = std::pow(high / low, std::min(1.0, kMargin / used));
    m_y = {low / margin, high * margin, m_plot.bottom(), m_plot.y};
}

double Painter::slot() const
{
    return m_plot.w / static_cast<double>(std::max<std::size_t>(1, m_rows.count));
}

double Painter::columnAt(std::size_t column) const
{
    return m_plot.x + (static_cast<double>(column - m_rows.first) + 0.5) * slot();
}

// The marks of a column stand beside each other, so that whiskers do not lie over each other.
Point Painter::placeOf(const SweepPoint& point, std::size_t series) const
{
    const auto count = static_cast<double>(m_rows.series.size());
    const double step = std::min(kWidestStep, 0.8 * slot() / count);
    const double x =
        columnAt(point.at[m_rows.across]) + (static_cast<double>(series) - (count - 1) / 2) * step;
    return {x, point.time ? m_y.at(seconds(*point.time)) : m_plot.bottom() + kLane / 2};
}

Scene Painter::paint() &&
{
    timeAxis();
    columns();
    m_canvas.pushClip(m_plot.x - kMargin, m_plot.y, m_plot.w + 2 * kMargin, m_plot.h + kLane);
    const auto allOf = [](const std::string& value) { return isWhole(value); };
    const bool isNumber = std::all_of(across().values.begin(), across().values.end(), allOf);
    for (std::size_t series = 0; isNumber && series < m_rows.series.size(); ++series) {
        join(series);
    }
    for (std::size_t series = 0; series < m_rows.series.size(); ++series) {
        for (const SweepPoint* point : m_rows.series[series].points) {
            mark(*point, static_cast<int>(series));
        }
    }
    m_canvas.popClip();
    legend();
    return std::move(m_canvas).finish(m_picture.title, caption());
}

void Painter::timeAxis()
{
    constexpr double kLeastPx = 22, kLeastLinearPx = 36; // between ticks
    const auto tick = [&](double value, const std::string& text) {
        const double y = std::round(m_y.at(value));
        m_canvas.fill(m_plot.x, y, m_plot.w, 1, Role::Grid);
        m_canvas.text(16, y - 7, kLeft - 22, 14, text,
                      {10, Role::Text2, Weight::Regular, Align::Right});
    };
    const std::vector<double> decades = logTicks(m_y.low, m_y.high, m_plot.h, kLeastPx);
    if (decades.size() > 3) {
        for (const double value : decades) {
            tick(value, secondsTickText(value));
        }
    } else { // less than a decade: a log axis is nearly linear
        const auto ps = [](double value) {
            return Picoseconds(std::llround(value * static_cast<double>(kPicosecondsPerSecond)));
        };
        const TimeTicks ticks = timeTicks(ps(m_y.low), ps(m_y.high), m_plot.h, kLeastLinearPx);
        for (const Picoseconds at : ticks.at) {
            if (seconds(at) >= m_y.low) {
                tick(seconds(at), ticks.label(at) + " " + ticks.unit);
            }
        }
    }
    m_canvas.fill(m_plot.x, m_plot.y, 1, m_plot.h, Role::Edge);
    m_canvas.fill(m_plot.x, m_plot.bottom(), m_plot.w, 1, Role::Edge);
    const std::string name = "predicted time";
    if (textWidth(name, 11) < m_plot.h) {
        m_canvas.rotatedText(2, m_plot.y + (m_plot.h + textWidth(name, 11)) / 2, name, -90,
                             {11, Role::Text2});
    }
}

void Painter::columns()
{
    constexpr double kBetween = 8; // px between two names
    double widest = 0;
    for (const std::string& value : across().values) {
        widest = std::max(widest, textWidth(value, 10));
    }
    // Names that are long, such as those of files, are elided rather than left out.
    const double most = std::min(widest + kBetween, std::max(slot(), m_plot.w / 4));
    const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(most / slot())));
    const double y = m_plot.bottom() + (m_present.notRun ? kLane : 0);
    for (std::size_t i = 0; i < m_rows.count; ++i) {
        const std::size_t column = m_rows.first + i;
        const double x = columnAt(column);
        m_canvas.fill(x, y, 1, i % every == 0 ? 4 : 2, Role::Edge);
        if (i % every == 0 && x + most / 2 <= m_canvas.width() - m_legend) {
            m_canvas.text(x - most / 2 + 2, y + 5, most - 4, 14, across().values[column],
                          {10, Role::Text2, Weight::Regular, Align::Center});
        }
    }
    if (m_present.notRun) {
        m_canvas.fill(m_plot.x, y, m_plot.w, 1, Role::Line);
        m_canvas.text(4, y - kLane + 5, kLeft - 10, 14, "not run",
                      {10, Role::Text2, Weight::Regular, Align::Right});
    }
    m_canvas.text(m_plot.x, y + 21, m_plot.w, 14, across().name,
                  {11, Role::Text2, Weight::Regular, Align::Center});
}

// Joins neighbouring columns of a series, where both ran.
void Painter::join(std::size_t series)
{
    const SweepPoint* before = nullptr;
    std::vector<const SweepPoint*> points = m_rows.series[series].points;
    std::sort(points.begin(), points.end(), [&](const SweepPoint* a, const SweepPoint* b) {
        return a->at[m_rows.across] < b->at[m_rows.across];
    });
    for (const SweepPoint* point : points) {
        const bool follows = before != nullptr && before->time && point->time
                             && before->at[m_rows.across] + 1 == point->at[m_rows.across];
        if (follows) {
            const Role hue = hueRole(static_cast<std::int32_t>(series));
            m_canvas.line({placeOf(*before, series), placeOf(*point, series)}, mix(hue, 0.45), 1.2);
        }
        before = point;
    }
}

void Painter::whisker(const SweepPoint& point, Point at, Color color)
{
    constexpr double kEnd = 3; // px: half of the stroke at an end
    const double top = m_y.at(seconds(point.band->end));
    const double bottom = m_y.at(seconds(point.band->begin));
    m_canvas.line({{at.x, top}, {at.x, bottom}}, color, 1);
    for (const double y : {top, bottom}) {
        m_canvas.line({{at.x - kEnd, y}, {at.x + kEnd, y}}, color, 1);
    }
}

void Painter::mark(const SweepPoint& point, int series)
{
    constexpr double kReach = 7; // px around the mark
    const Point at = placeOf(point, static_cast<std::size_t>(series));
    const Color color = hueRole(series);
    if (!point.time) {
        drawCross(m_canvas, at, color);
    } else {
        if (point.standing != SweepStanding::Other) {
            const bool isFastest = point.standing == SweepStanding::Fastest;
            m_canvas.disc(at.x, at.y, kRing, Role::View, isFastest ? Role::Text : Role::Text3,
                          isFastest ? 2 : 1);
        }
        if (point.band) {
            whisker(point, at, mix(color.role, 0.7));
        }
        drawMark(m_canvas, at, series, point.findings.empty());
        if (!point.findings.empty()) {
            drawWarning(m_canvas, {at.x + 7, at.y - 7});
        }
    }
    m_canvas.hit(at.x - kReach, at.y - kReach, 2 * kReach, 2 * kReach, target::SweepRow{point.row});
}

} // namespace sweep

Scene layoutSweep(const SweepPicture& picture, Size size)
{
    return sweep::Painter(picture, size).paint();
}

} // namespace pallascope::layout
