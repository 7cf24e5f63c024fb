// The tooltip: a few lines in the style of the views, the first one strong. It appears after 150
// ms, or at once when the pointer moves between neighbours, and never covers the thing that it
// describes.
#pragma once

#include "views/layout/scene/theme.h"

#include <QStringList>
#include <QTimer>
#include <QWidget>

namespace pallascope::views {

class Tip : public QWidget
{
    Q_OBJECT

public:
    explicit Tip(QWidget* owner);

    void setTheme(layout::Theme theme);
    // `thing` is the rectangle of the thing and `pointer` the place of the pointer, both in global
    // coordinates.
    void ask(const QStringList& lines, const QRect& thing, const QPoint& pointer);
    void dismiss();

    [[nodiscard]] const QStringList& lines() const { return m_lines; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void appear();
    [[nodiscard]] QPoint place(const QSize& size) const;

    layout::Theme m_theme = layout::Theme::Light;
    QStringList m_lines;
    QRect m_thing;
    QPoint m_pointer;
    QTimer m_delay;
};

} // namespace pallascope::views
