#include "views/values_picture.h"

#include "views/layout/run/view_parts.h"
#include "views/scene_painter.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <cmath>

namespace pallascope::views {
namespace {

using namespace layout;

constexpr int kAwaitedBar = 2; // px
constexpr double kNotch = 120; // of QWheelEvent::angleDelta

} // namespace

ValuesPicture::ValuesPicture(QWidget* parent)
    : SceneView({}, Use::Fixed, parent)
{
    setOptions({.cursorKeys = true});
    show(nullptr, ValuesScale::Range, {});
}

void ValuesPicture::show(std::shared_ptr<const ValuesSight> sight, ValuesScale scale,
                         const std::optional<ValuesRange>& held, const std::string& words)
{
    m_sight = std::move(sight);
    setLayoutFunction([shown = m_sight, scale, held, words](const RunView&, const ViewState&,
                                                            Size size) {
        return shown ? layoutSight(*shown, scale, held)
                     : parts::nothing("Values", words.empty() ? "replaying the run" : "no values",
                                      words, size);
    });
}

void ValuesPicture::setAwaited(std::optional<double> share)
{
    if (share != m_awaited) {
        m_awaited = share;
        update(0, 0, width(), kAwaitedBar);
    }
}

void ValuesPicture::paintOverlay(QPainter& painter)
{
    if (m_awaited) {
        painter.fillRect(QRectF(0, 0, width(), kAwaitedBar), color(Color(Role::Grid), theme()));
        painter.fillRect(QRectF(0, 0, std::max(0.05, *m_awaited) * width(), kAwaitedBar),
                         color(Color(Role::Focus), theme()));
    }
}

void ValuesPicture::resizeEvent(QResizeEvent* event)
{
    SceneView::resizeEvent(event);
    Q_EMIT resized();
}

bool ValuesPicture::event(QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride
        && static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
        event->accept();
        return true;
    }
    return SceneView::event(event);
}

void ValuesPicture::mousePressEvent(QMouseEvent* event)
{
    setFocus(Qt::MouseFocusReason); // from now on the arrows move the choice
    SceneView::mousePressEvent(event);
    if (event->button() == Qt::LeftButton && m_sight) {
        m_pressed = event->position();
        m_dragged = false;
        m_atPress = m_sight->frame.region;
    }
}

void ValuesPicture::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_pressed || !m_sight || !event->buttons().testFlag(Qt::LeftButton)) {
        SceneView::mouseMoveEvent(event);
        return;
    }
    const QPointF way = event->position() - *m_pressed;
    m_dragged = m_dragged || way.manhattanLength() >= QApplication::startDragDistance();
    const auto& frame = m_sight->frame;
    const bool isPart =
        frame.region.rows < m_sight->plane.rows || frame.region.columns < m_sight->plane.columns;
    if (m_dragged && isPart) {
        const auto elements = [&](double px) {
            return std::llround(px / frame.px * static_cast<double>(frame.side));
        };
        Q_EMIT cornerChosen(std::max<std::int64_t>(0, m_atPress.row - elements(way.y())),
                            std::max<std::int64_t>(0, m_atPress.column - elements(way.x())));
    }
}

void ValuesPicture::mouseReleaseEvent(QMouseEvent* event)
{
    SceneView::mouseReleaseEvent(event);
    if (m_pressed && !m_dragged && m_sight) {
        if (const auto element = elementAt(*m_sight, m_pressed->x(), m_pressed->y())) {
            Q_EMIT elementChosen(*element);
        }
    }
    m_pressed.reset();
}

void ValuesPicture::wheelEvent(QWheelEvent* event)
{
    event->accept();
    const QPointF at = event->position();
    const auto element = m_sight ? elementAt(*m_sight, at.x(), at.y()) : std::nullopt;
    m_notches += event->angleDelta().y() / kNotch;
    const int whole = static_cast<int>(m_notches);
    m_notches -= whole;
    if (element && whole != 0) {
        Q_EMIT zoomed(whole > 0 ? 1 : -1, *element);
    }
}

void ValuesPicture::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy)) {
        Q_EMIT copyWanted();
        return;
    }
    switch (event->modifiers() == Qt::NoModifier ? event->key() : 0) {
    case Qt::Key_Left:
        Q_EMIT cursorMoved(0, -1);
        break;
    case Qt::Key_Right:
        Q_EMIT cursorMoved(0, 1);
        break;
    case Qt::Key_Up:
        Q_EMIT cursorMoved(-1, 0);
        break;
    case Qt::Key_Down:
        Q_EMIT cursorMoved(1, 0);
        break;
    default:
        SceneView::keyPressEvent(event);
    }
}

} // namespace pallascope::views
