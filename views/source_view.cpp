#include "views/source_view.h"

#include "views/fonts.h"
#include "views/scene_painter.h"
#include "views/to_qt.h"

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pallascope::views {
namespace {

using namespace layout;

constexpr double kLinesPerNotch = 3;
constexpr double kPixelsPerLine = 17;

SceneView::Layout layoutOf(SourceTab tab)
{
    return [tab](const RunView& run, const ViewState& state, Size size) {
        return layoutSource(run, state, size, tab);
    };
}

std::int64_t lineCount(const RunView& run)
{
    std::size_t most = run.trace->info().listing.size();
    for (const auto& file : run.trace->info().sources) {
        most = std::max(
            most, static_cast<std::size_t>(std::count(file.text.begin(), file.text.end(), '\n')));
    }
    return static_cast<std::int64_t>(most);
}

constexpr double kTagPoint = 4; // px

// Around a line number, with its point towards the code.
QPolygonF tagAround(const SourceGutter& gutter, const QRectF& row)
{
    constexpr double kAbove = 1.5;
    const double left = gutter.numbers - 0.5, right = gutter.numbersEnd + 1;
    const double top = row.top() + kAbove, bottom = row.bottom() - kAbove;
    return QPolygonF(QList<QPointF>{{left, top},
                                    {right - kTagPoint, top},
                                    {right, (top + bottom) / 2},
                                    {right - kTagPoint, bottom},
                                    {left, bottom}});
}

} // namespace

SourceView::SourceView(QWidget* parent)
    : SceneView(layoutOf(SourceTab::Source), Use::Fixed, parent)
{}

void SourceView::setTab(SourceTab tab)
{
    m_tab = tab;
    setLayoutFunction(layoutOf(tab));
}

void SourceView::setBreakMarks(std::vector<BreakMark> marks)
{
    if (marks != m_marks) {
        m_marks = std::move(marks);
        update();
    }
}

void SourceView::setBreakLines(std::vector<target::SourceLine> lines)
{
    m_lines = std::move(lines);
}

std::optional<target::SourceLine> SourceView::breakLineAt(const QPointF& position)
{
    const Target found = targetAt(position);
    const auto* line = std::get_if<target::SourceLine>(&found);
    if (line == nullptr || !run() || position.x() >= sourceGutter(*run(), state()).code) {
        return std::nullopt;
    }
    return std::find(m_lines.begin(), m_lines.end(), *line) == m_lines.end() ? std::nullopt
                                                                             : std::optional(*line);
}

void SourceView::mousePressEvent(QMouseEvent* event)
{
    const auto line = breakLineAt(event->position());
    if (line && event->button() == Qt::LeftButton) {
        Q_EMIT pressed();
        Q_EMIT breakAsked(*line);
        return;
    }
    SceneView::mousePressEvent(event);
}

void SourceView::mouseMoveEvent(QMouseEvent* event)
{
    SceneView::mouseMoveEvent(event);
    setCursor(breakLineAt(event->position()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

// The tag covers the number, which is written on it again.
void SourceView::paintOverlay(QPainter& painter)
{
    if (!run() || m_marks.empty()) {
        return;
    }
    const SourceGutter gutter = sourceGutter(*run(), state());
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(views::font(10, Weight::Mono));
    for (const BreakMark& mark : m_marks) {
        for (const Rect& rect : framesOf(scene(), mark.line)) {
            const QRectF row = toQt(rect);
            const QColor ink = color(Role::Focus, theme());
            painter.setPen(QPen(ink, 1));
            painter.setBrush(mark.isOn ? QBrush(ink) : QBrush(Qt::NoBrush));
            painter.drawPolygon(tagAround(gutter, row));
            if (mark.isOn) {
                painter.setPen(color(Role::View, theme()));
                const QRectF number(gutter.numbers - kTagPoint, row.top(),
                                    gutter.numbersEnd + 1 - gutter.numbers, row.height());
                painter.drawText(number, Qt::AlignRight | Qt::AlignVCenter,
                                 QString::number(mark.line.line));
            }
        }
    }
    painter.restore();
}

std::int64_t SourceView::firstShown()
{
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const Hit& hit : scene().hits) {
        if (const auto* line = std::get_if<target::SourceLine>(&hit.target);
            line != nullptr && m_tab == SourceTab::Source) {
            first = std::min(first, line->line);
        }
        if (const auto* line = std::get_if<target::ListingLine>(&hit.target);
            line != nullptr && m_tab == SourceTab::Listing) {
            first = std::min(first, line->line + 1);
        }
    }
    return first == std::numeric_limits<std::int64_t>::max() ? 1 : first;
}

void SourceView::wheelEvent(QWheelEvent* event)
{
    event->accept();
    if (!run()) {
        return;
    }
    m_notches += event->pixelDelta().isNull()
                     ? event->angleDelta().y() / kAngleOfNotch * kLinesPerNotch
                     : event->pixelDelta().y() / kPixelsPerLine;
    const double lines = std::trunc(m_notches);
    m_notches -= lines;
    if (lines == 0) {
        return;
    }
    const std::int64_t from = state().firstSourceLine > 0 ? state().firstSourceLine : firstShown();
    const auto to = from - static_cast<std::int64_t>(lines);
    Q_EMIT scrolled(std::clamp<std::int64_t>(to, 1, std::max<std::int64_t>(1, lineCount(*run()))));
}

} // namespace pallascope::views
