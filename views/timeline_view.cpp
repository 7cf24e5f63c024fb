#include "views/timeline_view.h"

#include "core/analysis/stretch.h"
#include "core/base/format.h"
#include "core/trace/lookup.h"
#include "views/fonts.h"
#include "views/layout/overview/overview.h"
#include "views/layout/timeline/timeline.h"
#include "views/pointing.h"
#include "views/scene_painter.h"
#include "views/to_qt.h"

#include <QApplication>
#include <QFontMetricsF>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace pallascope::views {
namespace {

using namespace layout;

constexpr double kRuler = 18;          // px at the top of the scene
constexpr double kZoomPerNotch = 1.25; // one notch of a wheel
constexpr double kPixelsPerNotch = 60; // of a touch pad

// Where t lies, in steps. Steps differ in length, so the length of a stretch of time in steps is
// the difference of the positions of its ends.
double stepPosition(const trace::Trace& trace, Picoseconds t)
{
    const trace::OptionalRow<trace::StepRow> step = trace::stepAt(trace, t);
    if (!step) {
        return 0;
    }
    const std::size_t row = step->index();
    const auto begin = trace.steps().begin[row];
    const auto length = std::max<std::int64_t>(1, trace.steps().end[row] - begin);
    return step->number
           + std::clamp(static_cast<double>(t.value() - begin) / static_cast<double>(length), 0.0,
                        1.0);
}

TimeRange ordered(TimeRange range)
{
    return range.begin <= range.end ? range : TimeRange{range.end, range.begin};
}

} // namespace

TimelineView::TimelineView(QWidget* parent)
    : SceneView(layoutTimeline, Use::Ranged, parent)
{}

TimeAxis TimelineView::axis() const
{
    return timelineAxis(state(), layoutSize());
}

Picoseconds TimelineView::timeAt(double x) const
{
    return std::clamp(axis().toTime(x), Picoseconds(0), run()->trace->end());
}

void TimelineView::wheelEvent(QWheelEvent* event)
{
    if (!run()) {
        return;
    }
    const bool pixels = !event->pixelDelta().isNull();
    const QPointF notches = pixels ? QPointF(event->pixelDelta()) / kPixelsPerNotch
                                   : QPointF(event->angleDelta()) / kAngleOfNotch;
    const bool sideways = std::abs(notches.x()) > std::abs(notches.y());
    const Picoseconds end = axisEnd(*run(), state());
    if (sideways || event->modifiers().testFlag(Qt::ShiftModifier)) {
        const double way = sideways ? notches.x() : notches.y();
        Q_EMIT rangeChosen(panned(axis(), way * kPixelsPerNotch, end));
    } else if (notches.y() != 0) {
        Q_EMIT rangeChosen(
            zoomed(axis(), event->position().x(), std::pow(kZoomPerNotch, notches.y()), end));
    }
    event->accept();
}

// Not in the column with the names of the lanes.
std::optional<Picoseconds> TimelineView::timeUnder(const QPointF& position)
{
    return run() && position.x() >= axis().left ? std::optional(timeAt(position.x()))
                                                : std::nullopt;
}

void TimelineView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || !run()) {
        SceneView::mousePressEvent(event);
        return;
    }
    Q_EMIT pressed();
    m_pressed = event->position();
    const Target pressed = targetAt(m_pressed);
    const auto* at = std::get_if<target::Time>(&pressed);
    if (is<target::Print>(pressed) || (at != nullptr && at->time)) {
        Q_EMIT clicked(pressed); // the marks of prints and the tags of breakpoints on the ruler
        return;
    }
    pointing().forgetPointer(); // a drag moves the picture along with it
    m_pressedGlobal = event->globalPosition();
    m_axisAtPress = axis();
    m_moved = false;
    if (m_measure) {
        measure(std::nullopt);
    }
    if (event->modifiers().testFlag(Qt::ShiftModifier)) {
        m_drag = Drag::Measure;
    } else if (m_pressed.y() < kRuler && m_pressed.x() >= m_axisAtPress.left) {
        m_drag = Drag::Scrub;
        Q_EMIT timeChosen(timeAt(m_pressed.x()));
    } else {
        m_drag = Drag::Pan;
    }
}

void TimelineView::mouseMoveEvent(QMouseEvent* event)
{
    if (m_drag == Drag::None || !run()) {
        SceneView::mouseMoveEvent(event);
        return;
    }
    // Positions are global because the view may move under the pointer while a dock is being
    // resized.
    const QPointF way = event->globalPosition() - m_pressedGlobal;
    const bool moved = way.manhattanLength() >= QApplication::startDragDistance() / 2.0;
    if (!m_moved && !moved) {
        return;
    }
    if (!m_moved) { // the tooltip would lie over what the drag shows
        pointing().pointAt({}, event->globalPosition().toPoint());
    }
    m_moved = true;
    switch (m_drag) {
    case Drag::Pan:
        Q_EMIT rangeChosen(panned(m_axisAtPress, way.x(), axisEnd(*run(), state())));
        break;
    case Drag::Measure:
        measure(TimeRange{timeAt(m_pressed.x()), timeAt(event->position().x())});
        break;
    case Drag::Scrub:
        Q_EMIT timeChosen(timeAt(event->position().x()));
        break;
    case Drag::None:
        break;
    }
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event)
{
    const bool click = m_drag == Drag::Pan && !m_moved;
    m_drag = Drag::None;
    if (click) {
        Q_EMIT clicked(targetAt(event->position()));
    }
}

void TimelineView::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape && m_measure) {
        measure(std::nullopt);
    }
    SceneView::keyPressEvent(event);
}

void TimelineView::measure(std::optional<TimeRange> range)
{
    m_measure = range;
    m_measureLines.clear();
    if (range && run()) {
        const std::vector<std::string> lines =
            analysis::stretchLines(analysis::stretchOf(*run()->index, range->begin, range->end));
        for (const std::string& line : lines) {
            m_measureLines.append(text(line));
        }
        m_measureLines.removeFirst(); // its length stands above
    }
    update();
}

QString TimelineView::measureText() const
{
    if (!m_measure || !run()) {
        return {};
    }
    const TimeRange range = ordered(*m_measure);
    const double steps =
        stepPosition(*run()->trace, range.end) - stepPosition(*run()->trace, range.begin);
    return tr("%1 · %2 steps")
        .arg(text(timeText(range.end - range.begin)), QString::number(steps, 'f', 2));
}

void TimelineView::paintOverlay(QPainter& painter)
{
    if (!m_measure) {
        return;
    }
    const TimeAxis now = axis();
    const TimeRange range = ordered(*m_measure);
    const double left = std::round(std::max(now.left, now.toX(range.begin)));
    const double right = std::round(std::min(now.left + now.width, now.toX(range.end)));
    QColor band = color(Color(Role::Select), theme());
    band.setAlphaF(0.12F);
    painter.fillRect(QRectF(left, 0, right - left, height()), band);
    const QColor ink = color(Color(Role::Select), theme());
    painter.fillRect(QRectF(left, 0, 1, height()), ink);
    painter.fillRect(QRectF(right, 0, 1, height()), ink);
    const QString label = measureText();
    painter.setFont(views::font(11, Weight::Medium));
    const double wide = QFontMetricsF(painter.font()).horizontalAdvance(label) + 12;
    const double x =
        std::clamp((left + right - wide) / 2, now.left, std::max(now.left, width() - wide));
    const QRectF box(std::round(x), kRuler + 2, wide, 18);
    painter.fillRect(box, ink);
    painter.setPen(color(inkOn(Color(Role::Select), theme())));
    painter.drawText(box, Qt::AlignCenter | Qt::TextSingleLine, label);
    paintMeasured(painter, box.center().x(), box.bottom());
}

// A panel below the length of the stretch.
void TimelineView::paintMeasured(QPainter& painter, double middle, double top)
{
    constexpr double kWidest = 460, kInset = 7, kEdge = 4; // px
    if (m_measureLines.isEmpty()) {
        return;
    }
    painter.setFont(views::font(11));
    const QFontMetricsF metrics(painter.font());
    const double most = std::min(kWidest, width() - 2 * (kEdge + kInset));
    const QString all = m_measureLines.join(u'\n');
    const QRectF words =
        metrics.boundingRect(QRectF(0, 0, most, 10000), Qt::AlignLeft | Qt::TextWordWrap, all);
    const double wide = std::ceil(words.width()) + 2 * kInset;
    const double x = std::clamp(middle - wide / 2, kEdge, std::max(kEdge, width() - wide - kEdge));
    const QRectF panel(std::round(x), top, wide, std::ceil(words.height()) + 2 * kInset);
    painter.fillRect(panel, color(Color(Role::View), theme()));
    paintFrame(painter, panel, Role::Select, theme(), 1);
    painter.setPen(color(Color(Role::Text), theme()));
    painter.drawText(panel.adjusted(kInset, kInset, -kInset, -kInset),
                     Qt::AlignLeft | Qt::TextWordWrap, all);
}

OverviewView::OverviewView(QWidget* parent)
    : SceneView(layoutOverview, Use::Ranged, parent)
{
    setOptions({.background = Role::Chrome});
    setFocusPolicy(Qt::NoFocus); // Home, End and the arrows shall move the playhead from anywhere
}

Picoseconds OverviewView::timeAt(double x) const
{
    const double share = std::clamp(x / std::max(1, width()), 0.0, 1.0);
    const auto end = static_cast<double>(overviewEnd(*run(), state()).value());
    return std::min(Picoseconds(std::llround(share * end)), run()->trace->end());
}

void OverviewView::choose(double x)
{
    if (m_frameFrom) {
        const TimeRange range = ordered({*m_frameFrom, timeAt(x)});
        if (range.begin < range.end) {
            Q_EMIT rangeChosen(range);
        }
    } else {
        Q_EMIT timeChosen(timeAt(x));
    }
}

void OverviewView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || !run()) {
        return;
    }
    Q_EMIT pressed();
    m_dragging = true;
    if (event->modifiers().testFlag(Qt::ShiftModifier)) {
        m_frameFrom = timeAt(event->position().x());
    } else {
        choose(event->position().x());
    }
}

void OverviewView::mouseMoveEvent(QMouseEvent* event)
{
    if (m_dragging && run()) {
        choose(event->position().x());
    } else {
        SceneView::mouseMoveEvent(event);
    }
}

void OverviewView::mouseReleaseEvent(QMouseEvent* /*event*/)
{
    m_dragging = false;
    m_frameFrom.reset();
}

} // namespace pallascope::views
