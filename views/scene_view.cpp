#include "views/scene_view.h"

#include "views/fonts.h"
#include "views/pointing.h"
#include "views/scene_diff.h"
#include "views/scene_painter.h"
#include "views/scene_pointer.h"
#include "views/to_qt.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMetaMethod>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>

#include <utility>

namespace pallascope::views {

using namespace layout;

SceneView::SceneView(Layout layout, Use use, QWidget* parent)
    : QWidget(parent)
    , m_layout(std::move(layout))
    , m_use(use)
    , m_pointing(std::make_unique<Pointing>(*this))
{
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setFocusPolicy(Qt::TabFocus);
}

SceneView::~SceneView() = default;

void SceneView::setRun(std::shared_ptr<const RunView> run)
{
    if (run == m_run) {
        return;
    }
    m_run = std::move(run);
    m_frames.forget();
    m_pointing->forget();
    invalidate();
}

void SceneView::setState(const ViewState& state)
{
    if (!(SceneFrames::framedBy(state) == SceneFrames::framedBy(m_state))) {
        const QRegion before = m_frames.region(m_scene, m_state.selection);
        m_frames.find(m_run.get(), state);
        update(before + m_frames.region(m_scene, m_state.selection));
    }
    m_state.hover = state.hover;
    ViewState used = state;
    if (m_use == Use::Fixed) {
        used.visible = m_state.visible;
    }
    if (used == m_state) {
        return;
    }
    m_state = used;
    invalidate();
}

void SceneView::setTheme(Theme theme)
{
    m_theme = theme;
    m_pointing->setTheme(theme);
    update();
}

void SceneView::setOptions(const Options& options)
{
    m_options = options;
    update();
}

void SceneView::setLayoutFunction(Layout layout)
{
    m_layout = std::move(layout);
    invalidate();
    update();
}

void SceneView::setPicture(Picture picture)
{
    m_picture = std::move(picture);
    invalidate();
    update();
}

QStringList SceneView::tipLines(const Target& target) const
{
    return m_picture.tip ? asLines(m_picture.tip(target))
                         : views::tipLines(m_run.get(), m_state, target);
}

const Scene& SceneView::scene()
{
    refresh();
    return m_scene;
}

const std::vector<Hit>& SceneView::things()
{
    refresh();
    if (!m_things) {
        m_things = thingsOf(m_scene);
    }
    return *m_things;
}

Size SceneView::layoutSize() const
{
    return {static_cast<double>(width()), static_cast<double>(height())};
}

void SceneView::invalidate()
{
    m_dirty = true;
    if (m_queued || !isVisible()) {
        return;
    }
    m_queued = true; // several changes before the next frame make one new scene
    QMetaObject::invokeMethod(
        this,
        [this] {
            m_queued = false;
            refresh();
        },
        Qt::QueuedConnection);
}

void SceneView::refresh()
{
    if (!m_dirty) {
        return;
    }
    m_dirty = false;
    const std::string caption = m_scene.caption;
    Scene next;
    if (m_picture.layout) {
        next = m_picture.layout(layoutSize());
    } else if (m_run) {
        ViewState state = m_state;
        state.hover = {}; // hover is painted over the scene and must not change it
        next = m_layout(*m_run, state, layoutSize());
    }
    next.width = width();
    next.height = height();
    update(changed(m_scene, next));
    const QRegion framed = m_frames.region(m_scene, m_state.selection);
    m_scene = std::move(next);
    m_things.reset();
    // Those of a finding are the same at every moment of a run.
    if (m_run && (isThing(m_state.hover) || !m_frames.hasPartners())) {
        m_frames.find(m_run.get(), m_state);
    }
    update(framed + m_frames.region(m_scene, m_state.selection));
    if (m_scene.caption != caption) {
        m_spoken.tell(*this, m_scene, m_state.playing);
    }
    m_pointing->followPicture();
    Q_EMIT sceneChanged();
}

bool SceneView::event(QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride && m_options.cursorKeys) {
        switch (static_cast<QKeyEvent*>(event)->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
        case Qt::Key_Up:
        case Qt::Key_Down:
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (static_cast<QKeyEvent*>(event)->modifiers() == Qt::NoModifier) {
                event->accept(); // in a focused view, arrows move its cursor, not the playhead
            }
            return true;
        default:
            break;
        }
    }
    return QWidget::event(event);
}

void SceneView::paintEvent(QPaintEvent* event)
{
    refresh();
    QPainter painter(this);
    painter.fillRect(event->rect(), color(Color(m_options.background), m_theme));
    paint(painter, m_scene, m_theme, event->rect());
    m_frames.paint(painter, m_scene, m_state.selection, m_theme);
    paintOverlay(painter);
    if (hasFocus() && m_focusedByKey) {
        constexpr int kInset = kSceneFrame;
        paintFrame(painter, QRectF(rect()).adjusted(kInset, kInset, -kInset, -kInset), Role::Focus,
                   m_theme);
    }
}

void SceneView::paintOverlay(QPainter& /*painter*/) {}

void SceneView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    invalidate();
}

Target SceneView::targetAt(const QPointF& position)
{
    return hitTest(scene(), position.x(), position.y());
}

void SceneView::mouseMoveEvent(QMouseEvent* event)
{
    m_pointing->movePointer(event->position());
}

void SceneView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton) {
        QWidget::mousePressEvent(event);
        return;
    }
    press(targetAt(event->position()));
}

void SceneView::press(const Target& target)
{
    Q_EMIT pressed();
    Q_EMIT clicked(target);
}

void SceneView::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton) {
        Q_EMIT doubleClicked(targetAt(event->position()));
    }
}

std::optional<Picoseconds> SceneView::timeUnder(const QPointF& /*position*/)
{
    return std::nullopt;
}

// Elsewhere the menu is that of the window, which lists the docks.
void SceneView::contextMenuEvent(QContextMenuEvent* event)
{
    const QPointF position = event->pos();
    const Target target = targetAt(position);
    const std::optional<Picoseconds> time = timeUnder(position);
    const bool isHeard = isSignalConnected(QMetaMethod::fromSignal(&SceneView::menuAsked));
    if (!m_run || !isHeard || (!isThing(target) && !time)) {
        event->ignore();
        return;
    }
    m_pointing->pointAt({}, event->globalPos()); // its description would lie over the menu
    Q_EMIT menuAsked(target, time, event->globalPos());
}

void SceneView::leaveEvent(QEvent* event)
{
    QWidget::leaveEvent(event);
    m_pointing->forgetPointer();
    m_pointing->pointAt({}, QCursor::pos());
}

// The view that has the focus when the window opens shows no frame, nor does one that was clicked.
void SceneView::focusInEvent(QFocusEvent* event)
{
    switch (event->reason()) {
    case Qt::TabFocusReason:
    case Qt::BacktabFocusReason:
    case Qt::ShortcutFocusReason:
        m_focusedByKey = true;
        break;
    case Qt::MouseFocusReason:
    case Qt::OtherFocusReason:
        m_focusedByKey = false;
        break;
    case Qt::ActiveWindowFocusReason: // the focus comes back to where it was
    case Qt::PopupFocusReason:
    case Qt::MenuBarFocusReason:
    case Qt::NoFocusReason:
        break;
    }
    QWidget::focusInEvent(event);
}

void SceneView::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    m_pointing->pointAt({}, QCursor::pos());
}

void SceneView::keyPressEvent(QKeyEvent* event)
{
    const bool plain = event->modifiers() == Qt::NoModifier && m_options.cursorKeys;
    switch (plain ? event->key() : 0) {
    case Qt::Key_Left:
        return m_pointing->moveCursor(-1, 0);
    case Qt::Key_Right:
        return m_pointing->moveCursor(1, 0);
    case Qt::Key_Up:
        return m_pointing->moveCursor(0, -1);
    case Qt::Key_Down:
        return m_pointing->moveCursor(0, 1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        Q_EMIT clicked(m_pointing->target());
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

} // namespace pallascope::views
