#include "views/pointing.h"

#include "views/scene_pointer.h"
#include "views/scene_view.h"
#include "views/to_qt.h"

namespace pallascope::views {

using namespace layout;

namespace {

bool isLink(const Target& target)
{
    return is<target::Alternative>(target) || is<target::Finding>(target)
           || is<target::Print>(target) || is<target::Piece>(target) || is<target::Device>(target)
           || is<target::Sm>(target);
}

} // namespace

Pointing::Pointing(SceneView& view)
    : m_view(view)
    , m_tip(&view)
{}

void Pointing::forget()
{
    m_target = {};
    m_tip.dismiss();
}

void Pointing::movePointer(const QPointF& position)
{
    m_pointer = position;
    pointAt(hitTest(m_view.scene(), position.x(), position.y()),
            m_view.mapToGlobal(position.toPoint()));
}

void Pointing::pointAt(const Target& target, const QPoint& globalPosition)
{
    if (target == m_target) {
        return;
    }
    m_target = target;
    const bool leads =
        m_view.options().leads && (is<target::Steps>(target) || is<target::SourceLine>(target));
    m_view.setCursor(leads || isLink(target) ? Qt::PointingHandCursor : Qt::ArrowCursor);
    Q_EMIT m_view.hovered(isThing(target) ? target : Target{});
    askForTip(globalPosition);
}

void Pointing::followPicture()
{
    if (m_pointer) {
        QMetaObject::invokeMethod(this, &Pointing::pointAgain, Qt::QueuedConnection);
    }
}

// What lies under a pointer that rests changes when the picture does, by zooming or stepping. While
// playing the tooltip stays with what it was asked for.
void Pointing::pointAgain()
{
    if (!m_pointer || m_view.state().playing) {
        return;
    }
    const Target target = hitTest(m_view.scene(), m_pointer->x(), m_pointer->y());
    const QPoint global = m_view.mapToGlobal(m_pointer->toPoint());
    if (!(target == m_target)) {
        pointAt(target, global);
    } else if (!m_tip.lines().isEmpty()) {
        askForTip(global); // its numbers and its place may be others
    }
}

void Pointing::askForTip(const QPoint& globalPosition)
{
    const QPoint position = m_view.mapFromGlobal(globalPosition);
    QRect thing(position, QSize(1, 1));
    for (const Rect& rect : framesOf(m_view.scene(), m_target)) {
        const QRect frame = toQt(rect).toAlignedRect();
        thing = frame.contains(position) ? frame : thing;
    }
    m_tip.ask(m_view.tipLines(m_target), QRect(m_view.mapToGlobal(thing.topLeft()), thing.size()),
              globalPosition);
}

void Pointing::moveCursor(int dx, int dy)
{
    const Hit* next = neighbour(m_view.scene(), m_target, dx, dy);
    if (next == nullptr) {
        return;
    }
    pointAt(next->target, m_view.mapToGlobal(toQt(next->rect).toAlignedRect().center()));
    m_view.setAccessibleDescription(m_tip.lines().join(u", "));
}

} // namespace pallascope::views
