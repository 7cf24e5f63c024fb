// What the things of a view mean for going through a run: the breakpoint at one, and the moment to
// which "run to here" goes. For menus of views; pure and without Qt.
#pragma once

#include "core/trace/breakpoint.h"
#include "views/layout/run/run_view.h"

#include <optional>

namespace pallascope::navigation {

// The breakpoint for a line, an operation, a grid step, or a block, also where a copy moves it or a
// slot holds it at `now`. Nullopt for what has none.
[[nodiscard]] std::optional<trace::Breakpoint>
breakpointOf(const trace::Trace& trace, const layout::Target& target, Picoseconds now);

// When the run comes to a thing next after `now`; if it does not any more, when it last did before.
// A thing that happens once has its own time. Nullopt if it has none.
[[nodiscard]] std::optional<Picoseconds> timeToRunTo(const trace::Trace& trace,
                                                     const layout::Target& target, Picoseconds now);

} // namespace pallascope::navigation
