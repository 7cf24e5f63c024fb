// Decides which lanes of the time line there is room for, and how high they are.
#pragma once

#include "views/layout/timeline/timeline.h"

#include <vector>

namespace pallascope::layout::timeline {

// In a kind of so few, each agent always has a lane for its waits.
inline constexpr std::size_t kFewAgents = 4;
// If a run has more, agents of larger kinds share such lanes.
inline constexpr std::size_t kMostAgents = 64;
inline constexpr std::size_t kMostWaits = 20'000;

// A lane for the waits of these agents: of one, or of several together.
[[nodiscard]] Lane waitLane(const RunView& run, std::vector<std::int32_t> agents);

// Makes lanes share, leaves some out and sets the heights; `room` is in px.
void fit(std::vector<Lane>& lanes, const RunView& run, double top, double room);

} // namespace pallascope::layout::timeline
