#include "app/window/shown_state.h"

#include <utility>

namespace pallascope::app {

using layout::Target;
using layout::TimeRange;
using layout::ViewState;

void ShownState::change(const ViewState& next)
{
    const ViewState before = std::exchange(m_state, next);
    if (before.now != next.now || before.loop != next.loop) {
        Q_EMIT nowChanged();
    }
    if (!(before.visible == next.visible)) {
        Q_EMIT rangeChanged();
    }
    if (!(before.hover == next.hover)) {
        Q_EMIT hoverChanged();
    }
    if (!(before.selection == next.selection)) {
        Q_EMIT selectionChanged();
    }
    if (before.device != next.device || before.sm != next.sm) {
        Q_EMIT deviceChanged();
    }
    if (before.playing != next.playing) {
        Q_EMIT playingChanged();
    }
    if (before.firstSourceLine != next.firstSourceLine) {
        Q_EMIT sourceScrolled();
    }
    if (before.kept != next.kept || before.isKeptBySteps != next.isKeptBySteps) {
        Q_EMIT keptChanged();
    }
    if (before.breaks != next.breaks) {
        Q_EMIT breaksChanged();
    }
    if (before.stale != next.stale) {
        Q_EMIT staleChanged();
    }
}

void ShownState::setVisible(TimeRange range)
{
    ViewState next = m_state;
    next.visible = range;
    change(next);
}

void ShownState::setHover(const Target& target)
{
    ViewState next = m_state;
    next.hover = target;
    change(next);
}

void ShownState::select(const Target& target)
{
    ViewState next = m_state;
    next.selection = target;
    change(next);
}

void ShownState::setFirstSourceLine(std::int64_t line)
{
    ViewState next = m_state;
    next.firstSourceLine = line;
    change(next);
}

void ShownState::setStale(bool stale)
{
    ViewState next = m_state;
    next.stale = stale;
    change(next);
}

void ShownState::setBreaks(std::shared_ptr<const std::vector<layout::BreakStops>> breaks)
{
    ViewState next = m_state;
    next.breaks = std::move(breaks);
    change(next);
}

} // namespace pallascope::app
