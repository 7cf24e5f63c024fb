// The part of break_stops.h about lines of the source.
#pragma once

#include "core/trace/row.h"
#include "views/navigation/break_stops.h"

namespace pallascope::navigation {

// When the line begins to run on some agent: its first operation of a segment or after another
// line, a copy that it starts, a wait, a round of its loop, or its pipeline.
[[nodiscard]] Result<BreakTimes> runsOfLine(const trace::Trace& trace,
                                            const trace::breaks::Line& wanted);

// The same for a line that is known; in a step, that is, on one agent, only its operations, copies
// and waits.
[[nodiscard]] BreakTimes runsOf(const trace::Trace& trace, const trace::SourceLine& line,
                                const trace::OptionalRow<trace::StepRow>& step);

} // namespace pallascope::navigation
