// A dock with a head of our own: a title, a caption that says in numbers what the view shows now,
// and a few words to switch between (C++, IR). It is moved, floated and closed as any dock: by
// drag, double click and context menu.
#pragma once

#include "views/layout/scene/theme.h"

#include <QAbstractButton>
#include <QDockWidget>
#include <QStringList>

#include <vector>

namespace pallascope::app {

// One word of the switch in a head.
class HeadButton : public QAbstractButton
{
    Q_OBJECT

public:
    HeadButton(const QString& label, QWidget* parent);
    void setTheme(layout::Theme theme);
    // Whether it stands out from those beside it, as what one mostly wants.
    void setLeading(bool leading);
    [[nodiscard]] QSize sizeHint() const override;

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    layout::Theme m_theme = layout::Theme::Light;
    bool m_isLeading = false;
};

class DockHead : public QWidget
{
    Q_OBJECT

public:
    DockHead(const QString& title, QWidget* parent);

    void setTheme(layout::Theme theme);
    void setCaption(const QString& rich);

    [[nodiscard]] const QString& caption() const { return m_caption; }

    void setSwitch(const QStringList& labels);
    void setCurrent(int index); // -1: none
    void offer(int index, bool offered);
    [[nodiscard]] HeadButton* button(int index) const;
    // As high as its dock of this width asks for: two rows, or one in a wide dock.
    void followWidth(int width);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void switched(int index);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void placeButtons();
    [[nodiscard]] int buttonsLeft() const;

    QString m_title, m_caption;
    layout::Theme m_theme = layout::Theme::Light;
    std::vector<HeadButton*> m_buttons;
};

class Dock : public QDockWidget
{
    Q_OBJECT

public:
    Dock(const QString& title, const QString& name, QWidget* content, QWidget* focus,
         QWidget* parent);

    [[nodiscard]] DockHead* head() const { return m_head; }

    void setTheme(layout::Theme theme);
    void takeFocus(); // shows and raises the dock and focuses its view

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    DockHead* m_head;
    QWidget* m_focus;
};

} // namespace pallascope::app
