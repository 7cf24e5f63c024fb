#include "app/window/shown_state.h"

#include <utility>

namespace pallascope::app {

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

} // namespace pallascope::app
