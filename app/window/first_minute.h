// Four short callouts on the live picture, one at a time, for whoever opens the window for the
// first time: what a step is, what the slots are, what the time line shows, what to change. Each
// stands beside what it is about, which has a frame meanwhile. A click on it goes on; Esc, or
// "skip", ends all of them.
#pragma once

#include "views/layout/scene/theme.h"

#include <QObject>
#include <QRect>
#include <QString>

#include <functional>
#include <vector>

namespace pallascope::app {

class MainWindow;

class FirstMinute : public QObject
{
    Q_OBJECT

public:
    explicit FirstMinute(MainWindow& window);
    ~FirstMinute() override;

    // Shows one of them, from 0; the next one whose thing is in sight if that is not.
    void show(int number = 0);
    void next();
    void end();

    [[nodiscard]] bool isShown() const { return m_shown >= 0; }

    [[nodiscard]] int shown() const { return m_shown; } // -1: none

    [[nodiscard]] static int count();
    // In the window's coordinates.
    [[nodiscard]] QRect callout() const;
    [[nodiscard]] QRect thing() const; // what it is about

    void setTheme(layout::Theme theme);

Q_SIGNALS:
    void ended(); // seen or skipped

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    class Callout;
    class Frame;

    struct Entry
    {
        QString text;                 // with HTML
        std::function<QRect()> thing; // in the window's coordinates; empty if it is out of sight
    };

    void place();
    [[nodiscard]] QRect ofDock(const QString& name) const;
    [[nodiscard]] QRect ofSlots() const;
    [[nodiscard]] QRect placeFor(const QSize& size, const QRect& thing) const;

    MainWindow& m_window;
    std::vector<Entry> m_entries;
    Callout* m_callout; // children of the window
    Frame* m_frame;
    int m_shown = -1;
};

} // namespace pallascope::app
