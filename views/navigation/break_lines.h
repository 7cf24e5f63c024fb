// The part of break_stops.h about lines of the source.
#pragma once

#include "views/navigation/break_stops.h"

namespace pallascope::navigation {

// When the line begins to run on some agent: its first operation of a segment or after another
// line, a copy that it starts, a wait, a round of its loop, or its pipeline.
[[nodiscard]] Result<BreakTimes> runsOfLine(const trace::Trace& trace,
                                            const trace::breaks::Line& wanted);

} // namespace pallascope::navigation
