// The state that the views show, with one signal per concern. The views read the state.
#pragma once

#include "views/layout/run/run_view.h"

#include <QObject>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace pallascope::app {

class ShownState : public QObject
{
    Q_OBJECT

public:
    [[nodiscard]] const layout::ViewState& state() const { return m_state; }

    void setVisible(layout::TimeRange range) // of the time line
    {
        set(&layout::ViewState::visible, range);
    }

    void setHover(const layout::Target& target) { set(&layout::ViewState::hover, target); }

    void select(const layout::Target& target) { set(&layout::ViewState::selection, target); }

    void setFirstSourceLine(std::int64_t line) { set(&layout::ViewState::firstSourceLine, line); }

    void setStale(bool stale) { set(&layout::ViewState::stale, stale); }

    // What views mark of the breakpoints' times; null: nothing.
    void setBreaks(std::shared_ptr<const std::vector<layout::BreakStops>> breaks)
    {
        set(&layout::ViewState::breaks, std::move(breaks));
    }

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
    template<class T>
    void set(T layout::ViewState::*what, T value)
    {
        layout::ViewState next = m_state;
        next.*what = std::move(value);
        change(next);
    }

    layout::ViewState m_state;
};

} // namespace pallascope::app
