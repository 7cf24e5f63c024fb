// Where breakpoints stop a run, forwards and backwards. It is pure and without Qt. What needs no
// values is found in the rows of the trace, in O(rows) for each breakpoint; going from stop to stop
// then takes O(log n). The stops of the others come from a replay: core/study/value_stops.h.
#pragma once

#include "core/trace/breakpoint.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::navigation {

// Times at which one breakpoint stops, in picoseconds; sorted, each once.
using BreakTimes = std::vector<std::int64_t>;

// Of a breakpoint that needs no values. Every agent counts. Empty if the run never comes there. The
// error says which lines, grids, blocks or files there are, if the run has none such.
[[nodiscard]] Result<BreakTimes> breakTimes(const trace::Trace& trace,
                                            const trace::Breakpoint& breakpoint);

// The steps at whose bodies a breakpoint of a grid step stops; empty for any other.
[[nodiscard]] std::vector<trace::StepRow> stepsOf(const trace::Trace& trace,
                                                  const trace::Breakpoint& breakpoint);

// The lines at which breakTimes finds a place in principle: those with an operation that computes,
// copies or waits, with a loop whose rounds are recorded, or with a pipeline. Sorted, each once.
[[nodiscard]] std::vector<trace::SourceLine> linesThatStop(const trace::Info& info);

// The breakpoint for a line, with the name of its file: without its folder, if that tells them
// apart.
[[nodiscard]] trace::Breakpoint breakpointAt(const trace::Info& info,
                                             const trace::SourceLine& line);

// The line that a breakpoint names in this run; nullopt for one that names none.
[[nodiscard]] std::optional<trace::SourceLine> lineOf(const trace::Info& info,
                                                      const trace::Breakpoint& breakpoint);

struct BreakHit
{
    Picoseconds time;
    std::vector<std::size_t> breakpoints; // all that stop there, ascending
    bool operator==(const BreakHit&) const = default;
};

// The first stop after t and the last one before t, of a set of breakpoints with these times.
[[nodiscard]] std::optional<BreakHit> nextHit(const std::vector<BreakTimes>& stops, Picoseconds t);
[[nodiscard]] std::optional<BreakHit> previousHit(const std::vector<BreakTimes>& stops,
                                                  Picoseconds t);

} // namespace pallascope::navigation
