// The lanes of runs for a GPU: one SM large, with its copies, its tensor core and its warpgroups,
// and all SMs as a strip.
#pragma once

#include "views/layout/timeline/timeline.h"

#include <optional>
#include <vector>

namespace pallascope::layout::timeline {

// How busy the SMs of a device are; none if nothing computes there or there is only one.
[[nodiscard]] std::optional<Lane> smStrip(const RunView& run, std::int32_t device);
// Whether a lane is such a strip, of the chosen device or of another.
[[nodiscard]] bool isStripOfSms(const Lane& lane);
// That strip of an SM's device, then the lanes of the SM; without heights.
[[nodiscard]] std::vector<Lane> smLanes(const RunView& run, std::int32_t sm);
// The lane of an SM that an id names; it need not be the chosen one's.
[[nodiscard]] std::optional<Lane> smLaneOf(const RunView& run, const LaneId& id);

// The share of each pixel during which the main unit of each SM of a device is busy: rows from its
// first SM to its last, of `axis.width` pixels each. 0 to 1.
[[nodiscard]] std::vector<std::vector<float>> smShares(const RunView& run, std::int32_t device,
                                                       trace::UnitRow unit, const TimeAxis& axis);

} // namespace pallascope::layout::timeline
