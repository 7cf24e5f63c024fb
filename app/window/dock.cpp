#include "app/window/dock.h"

#include "views/fonts.h"
#include "views/layout/scene/header.h"
#include "views/scene_painter.h"

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QPainter>
#include <QResizeEvent>

#include <cmath>

namespace pallascope::app {
namespace {

using namespace layout;
using views::color;
using views::font;

constexpr int kPadding = 10;
constexpr int kTitleTop = 4;
constexpr int kTitleHeight = 18;
constexpr int kCaptionTop = 22;
constexpr int kCaptionHeight = 16;
constexpr int kButtonPadding = 6;
constexpr int kGap = 12;

} // namespace

HeadButton::HeadButton(const QString& label, QWidget* parent)
    : QAbstractButton(parent)
{
    setText(label);
    setAccessibleName(label);
    setCheckable(true);
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
}

void HeadButton::setTheme(Theme theme)
{
    m_theme = theme;
    update();
}

void HeadButton::setLeading(bool leading)
{
    m_isLeading = leading;
    update();
}

QSize HeadButton::sizeHint() const
{
    const double wide = QFontMetricsF(views::font(11, Weight::Medium)).horizontalAdvance(text());
    return {static_cast<int>(std::ceil(wide)) + 2 * kButtonPadding, kTitleHeight};
}

bool HeadButton::event(QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Space) {
            event->accept(); // Space presses a focused button; elsewhere it plays
            return true;
        }
    }
    return QAbstractButton::event(event);
}

void HeadButton::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    const bool standsOut = isChecked() || (m_isLeading && isEnabled());
    if (standsOut) {
        painter.fillRect(rect(), color(Color(Role::SelectBackground), m_theme));
    }
    if (hasFocus()) {
        views::paintFrame(painter, QRectF(rect()).adjusted(1, 1, -1, -1), Role::Focus, m_theme, 1);
    }
    const bool lit = standsOut || underMouse();
    painter.setFont(views::font(11, standsOut ? Weight::Medium : Weight::Regular));
    painter.setPen(
        color(Color(!isEnabled() ? Role::Text3 : (lit ? Role::Focus : Role::Text2)), m_theme));
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextSingleLine, text());
}

DockHead::DockHead(const QString& title, QWidget* parent)
    : QWidget(parent)
    , m_title(title)
{
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    followWidth(0);
}

void DockHead::setTheme(Theme theme)
{
    m_theme = theme;
    for (HeadButton* button : m_buttons) {
        button->setTheme(theme);
    }
    update();
}

void DockHead::setCaption(const QString& rich)
{
    if (rich != m_caption) {
        m_caption = rich;
        update();
    }
}

void DockHead::setSwitch(const QStringList& labels)
{
    for (HeadButton* button : m_buttons) {
        delete button;
    }
    m_buttons.clear();
    for (const QString& label : labels) {
        auto* button = new HeadButton(label, this);
        const int index = static_cast<int>(m_buttons.size());
        connect(button, &QAbstractButton::clicked, this, [this, index] { Q_EMIT switched(index); });
        button->setTheme(m_theme);
        button->show();
        m_buttons.push_back(button);
    }
    placeButtons();
}

void DockHead::setCurrent(int index)
{
    for (std::size_t i = 0; i < m_buttons.size(); ++i) {
        m_buttons[i]->setChecked(static_cast<int>(i) == index);
    }
}

void DockHead::offer(int index, bool offered)
{
    button(index)->setVisible(offered);
    placeButtons();
    update();
}

HeadButton* DockHead::button(int index) const
{
    return m_buttons.at(static_cast<std::size_t>(index));
}

// A hint by the head's own width would be a wrong one: layouts ask for it before they set the
// width.
void DockHead::followWidth(int width)
{
    setFixedHeight(static_cast<int>(headerHeight(width)));
}

QSize DockHead::sizeHint() const
{
    return {100, minimumHeight()};
}

QSize DockHead::minimumSizeHint() const
{
    return {60, minimumHeight()};
}

void DockHead::placeButtons()
{
    int x = width() - kPadding;
    for (auto it = m_buttons.rbegin(); it != m_buttons.rend(); ++it) {
        const QSize size = (*it)->sizeHint();
        x -= (*it)->isHidden() ? 0 : size.width();
        (*it)->setGeometry(x, kTitleTop, size.width(), size.height());
    }
}

int DockHead::buttonsLeft() const
{
    return m_buttons.empty() ? width() - kPadding : m_buttons.front()->x();
}

void DockHead::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    placeButtons();
}

void DockHead::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.fillRect(rect(), color(Color(Role::View), m_theme));
    const QFont face = views::font(12, Weight::SemiBold);
    painter.setFont(face);
    painter.setPen(color(Color(Role::Text), m_theme));
    const double room = buttonsLeft() - kPadding - 4;
    painter.drawText(QRectF(kPadding, kTitleTop, room, kTitleHeight),
                     Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                     QFontMetricsF(face).elidedText(m_title, Qt::ElideRight, room));
    if (height() < kCaptionTop + kCaptionHeight) {
        const double x = kPadding + QFontMetricsF(face).horizontalAdvance(m_title) + kGap;
        views::paintRich(painter, QRectF(x, kTitleTop + 1, buttonsLeft() - x - 8, kTitleHeight - 1),
                         m_caption, 11, m_theme);
    } else {
        views::paintRich(painter,
                         QRectF(kPadding, kCaptionTop, width() - 2 * kPadding, kCaptionHeight),
                         m_caption, 11, m_theme);
    }
}

Dock::Dock(const QString& title, const QString& name, QWidget* content, QWidget* focus,
           QWidget* parent)
    : QDockWidget(title, parent)
    , m_head(new DockHead(title, this))
    , m_focus(focus)
{
    setObjectName(name);
    setTitleBarWidget(m_head);
    setWidget(content);
    setFeatures(DockWidgetClosable | DockWidgetMovable | DockWidgetFloatable);
}

void Dock::setTheme(Theme theme)
{
    m_head->setTheme(theme);
}

void Dock::resizeEvent(QResizeEvent* event)
{
    QDockWidget::resizeEvent(event);
    m_head->followWidth(event->size().width());
}

void Dock::takeFocus()
{
    show();
    raise();
    if (m_focus != nullptr) {
        m_focus->setFocus(Qt::TabFocusReason);
    }
}

} // namespace pallascope::app
