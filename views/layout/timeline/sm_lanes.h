// The lanes of runs for a GPU: one SM large, with its copies, its tensor core and its warpgroups,
// and all SMs as a strip.
#pragma once

#include "views/layout/timeline/timeline.h"

#include <optional>
#include <vector>

namespace pallascope::layout::timeline {

// Whether the run's SMs get such lanes.
[[nodiscard]] bool hasSmLanes(const RunView& run);
// The strip of all SMs, then the lanes of the chosen one; without heights.
[[nodiscard]] std::vector<Lane> smLanes(const RunView& run, std::int32_t chosen);
// The lane of an SM that an id names; it need not be the chosen one's.
[[nodiscard]] std::optional<Lane> smLaneOf(const RunView& run, const LaneId& id);

// Whether a copy goes into or out of the memory of an SM.
[[nodiscard]] bool isCopyOfSm(const RunView& run, trace::CopyRow copy, std::int32_t sm);

// How long an SM's copies have gone by each of several ascending times. Times during which several
// go count once for each.
[[nodiscard]] std::vector<Picoseconds> smCopiesBusyBy(const RunView& run, const Lane& lane,
                                                      const std::vector<Picoseconds>& times);

// The share of each pixel during which the main unit of each SM is busy: rows from the first SM to
// the last, of `axis.width` pixels each. 0 to 1.
[[nodiscard]] std::vector<std::vector<float>> smShares(const RunView& run, trace::UnitRow unit,
                                                       const TimeAxis& axis);

} // namespace pallascope::layout::timeline
