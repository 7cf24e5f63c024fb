// Says when the things of a run happen, that is, where the playhead goes for a target. It is pure
// and without Qt.
#pragma once

#include "core/trace/trace.h"
#include "views/layout/run/run_view.h"

#include <optional>
#include <vector>

namespace pallascope::navigation {

// When a copy, step, wait, segment or finding begins; for a block, buffer or operation, its next
// use after `now`, or its first use if there is none after `now`. Targets without a time give
// nullopt.
[[nodiscard]] std::optional<Picoseconds> timeOf(const trace::Trace& trace,
                                                const layout::Target& target, Picoseconds now);

// The places of all findings, finding by finding, each in the order of time: the steps that it
// names; where it names none, or the only step of a pipeline, when its source line first runs (in
// that step); where that takes no time, the first copy of manual DMA of its operand; else the
// beginning of the run.
[[nodiscard]] std::vector<layout::FindingPlace> placesOfFindings(const trace::Trace& trace);

// The range of the step, or without several steps of the round, at t, with a margin on both sides.
[[nodiscard]] layout::TimeRange stepRange(const trace::Index& index, Picoseconds t);

} // namespace pallascope::navigation
