#include "views/tip.h"

#include "views/fonts.h"
#include "views/scene_painter.h"

#include <QFontMetricsF>
#include <QGuiApplication>
#include <QPainter>
#include <QScreen>

#include <cmath>

namespace pallascope::views {
namespace {

using namespace layout;

constexpr int kDelayMs = 150;
constexpr int kDistance = 14; // px from the pointer
constexpr int kLine = 16;
constexpr int kPadding = 10;
constexpr int kShadow = 3;
constexpr double kShadowInk = 0.2;

QFont lineFont(qsizetype line)
{
    return font(11, line == 0 ? Weight::SemiBold : Weight::Regular);
}

} // namespace

Tip::Tip(QWidget* owner)
    : QWidget(owner, Qt::ToolTip | Qt::FramelessWindowHint)
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAttribute(Qt::WA_ShowWithoutActivating);
    m_delay.setSingleShot(true);
    m_delay.setInterval(kDelayMs);
    connect(&m_delay, &QTimer::timeout, this, &Tip::appear);
}

void Tip::setTheme(Theme theme)
{
    m_theme = theme;
    update();
}

void Tip::ask(const QStringList& lines, const QRect& thing, const QPoint& pointer)
{
    m_lines = lines;
    m_thing = thing;
    m_pointer = pointer;
    if (lines.isEmpty()) {
        dismiss();
    } else if (isVisible()) {
        appear();
    } else {
        m_delay.start();
    }
}

void Tip::dismiss()
{
    m_delay.stop();
    m_lines.clear();
    hide();
}

void Tip::appear()
{
    double width = 0;
    for (qsizetype i = 0; i < m_lines.size(); ++i) {
        width = std::max(width, QFontMetricsF(lineFont(i)).horizontalAdvance(m_lines[i]));
    }
    const QSize size(static_cast<int>(std::ceil(width)) + 2 * kPadding + kShadow,
                     static_cast<int>(m_lines.size()) * kLine + kPadding + kShadow);
    setGeometry(QRect(place(size), size));
    // Not translucent: where nothing composes windows, that would be black.
    const QRect box(QPoint(0, 0), size - QSize(kShadow, kShadow));
    setMask(QRegion(box) + box.translated(kShadow, kShadow));
    show();
    update();
}

QPoint Tip::place(const QSize& size) const
{
    const QScreen* screen = QGuiApplication::screenAt(m_pointer);
    const QRect room = screen != nullptr ? screen->availableGeometry()
                                         : QGuiApplication::primaryScreen()->availableGeometry();
    QPoint at = m_pointer + QPoint(kDistance, kDistance);
    // Below the thing if it is flat, beside it if it is tall, and above it near the screen's lower
    // edge.
    if (QRect(at, size).intersects(m_thing)) {
        at.setY(std::max(at.y(), m_thing.bottom() + 4));
    }
    if (at.y() + size.height() > room.bottom()) {
        at.setY(std::min(m_thing.top(), m_pointer.y()) - size.height() - 4);
    }
    if (at.y() < room.top()) { // there is no room above or below, so it goes beside the thing
        at = QPoint(m_thing.right() + kDistance, m_pointer.y());
        if (at.x() + size.width() > room.right()) {
            at.setX(m_thing.left() - size.width() - kDistance);
        }
        at.setY(
            std::clamp(at.y(), room.top(), std::max(room.top(), room.bottom() - size.height())));
    }
    at.setX(std::clamp(at.x(), room.left(), std::max(room.left(), room.right() - size.width())));
    return at;
}

void Tip::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    const QRect box = rect().adjusted(0, 0, -kShadow, -kShadow);
    painter.fillRect(box.translated(kShadow, kShadow), color(mix(Role::Text, kShadowInk), m_theme));
    painter.fillRect(box, color(Color(Role::View), m_theme));
    paintFrame(painter, box.adjusted(1, 1, -1, -1), Role::Text2, m_theme, 1);
    for (qsizetype i = 0; i < m_lines.size(); ++i) {
        painter.setFont(lineFont(i));
        painter.setPen(color(Color(i == 0 ? Role::Text : Role::Text2), m_theme));
        painter.drawText(
            QRect(kPadding, kPadding / 2 + static_cast<int>(i) * kLine, box.width(), kLine),
            Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, m_lines[i]);
    }
}

} // namespace pallascope::views
