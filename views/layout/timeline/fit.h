// Which lanes there is room for, and how high they are.
#pragma once

#include "views/layout/timeline/timeline.h"

#include <vector>

namespace pallascope::layout::timeline {

inline constexpr std::size_t kFewAgents = 4;   // of a kind: their waits always have a lane each
inline constexpr std::size_t kMostAgents = 64; // whose waits may have one
inline constexpr std::size_t kMostWaits = 20'000;

// Of the waits of these agents, alone or together.
[[nodiscard]] Lane waitLane(const RunView& run, std::vector<std::int32_t> agents);

// Makes lanes share, leaves out and sets heights; `room` is in px.
void fit(std::vector<Lane>& lanes, const RunView& run, double room);

} // namespace pallascope::layout::timeline
