// The state that the views show, with one signal per concern. The views read the state.
#pragma once

#include "views/layout/run/run_view.h"

#include <QObject>

#include <memory>
#include <vector>

namespace pallascope::app {

class ShownState : public QObject
{
    Q_OBJECT

public:
    [[nodiscard]] const layout::ViewState& state() const { return m_state; }

    void setVisible(layout::TimeRange range); // of the time line
    void setHover(const layout::Target& target);
    void select(const layout::Target& target);
    void setFirstSourceLine(std::int64_t line);
    void setStale(bool stale);
    // What views mark of the breakpoints' times; null: nothing.
    void setBreaks(std::shared_ptr<const std::vector<layout::BreakStops>> breaks);

Q_SIGNALS:
    void nowChanged(); // or the marked loop, by which the moment is named
    void rangeChanged();
    void hoverChanged();
    void selectionChanged();
    void deviceChanged(); // or the SM
    void playingChanged();
    void sourceScrolled();
    void staleChanged();
    void keptChanged(); // or how it is aligned
    void breaksChanged();

protected:
    explicit ShownState(QObject* parent)
        : QObject(parent)
    {}

    // Takes another state, and says what of it changed.
    void change(const layout::ViewState& next);

    // The same, but the caller says what changed.
    void put(const layout::ViewState& next) { m_state = next; }

private:
    layout::ViewState m_state;
};

} // namespace pallascope::app
