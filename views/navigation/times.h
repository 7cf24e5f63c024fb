// When the things of a run happen: where the playhead goes for a target. Pure and without Qt.
#pragma once

#include "core/trace/trace.h"
#include "views/layout/run/run_view.h"

#include <optional>

namespace pallascope::navigation {

// The begin of a copy, step, wait, segment or finding; the next use of a block or buffer after
// `now` (the first one again when there is none). Nothing for targets without a time.
[[nodiscard]] std::optional<Picoseconds> timeOf(const trace::Trace& trace,
                                                const layout::Target& target, Picoseconds now);

// The step at t with a margin on both sides.
[[nodiscard]] layout::TimeRange stepRange(const trace::Trace& trace, Picoseconds t);

} // namespace pallascope::navigation
