// Paints the title of the run at the right end of the menu bar.
#include "app/window/run_title.h"

#include "views/fonts.h"
#include "views/scene_painter.h"

#include <QFontMetricsF>
#include <QPainter>

namespace pallascope::app {

using layout::Color;
using layout::Role;

void RunTitle::setText(const QString& text)
{
    m_text = text;
    setAccessibleName(text);
    update();
}

void RunTitle::setTheme(layout::Theme theme)
{
    m_theme = theme;
    update();
}

void RunTitle::paintEvent(QPaintEvent* /*event*/)
{
    constexpr int kPadding = 12;
    QPainter painter(this);
    painter.fillRect(rect(), views::color(Color(Role::Chrome), m_theme));
    const QFont face = views::font(11);
    const QRect room = rect().adjusted(kPadding, 0, -kPadding, 0);
    painter.setFont(face);
    painter.setPen(views::color(Color(Role::Text2), m_theme));
    painter.drawText(room, Qt::AlignRight | Qt::AlignVCenter | Qt::TextSingleLine,
                     QFontMetricsF(face).elidedText(m_text, Qt::ElideRight, room.width()));
}

} // namespace pallascope::app
