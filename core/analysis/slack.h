// How much of what steps save by computing less makes the run shorter: a step takes at least as
// long as the copies under way in it.
#pragma once

#include "core/trace/trace.h"

#include <span>
#include <vector>

namespace pallascope::analysis {

// For each template of a trace, by how many seconds each of its instances would be shorter.
using SavedTimes = std::vector<double>;

// For each of `saved`, the share that makes steps shorter, from 0 to 1; 1 where nothing is saved. A
// step of an agent goes from the begin of its overhead to the begin of the next one's, and is no
// shorter than the busiest of its device's links is busy in it. That a shorter step lets later
// copies start sooner is not counted.
[[nodiscard]] std::vector<double> sharesThatShorten(const trace::Trace& trace,
                                                    std::span<const SavedTimes> saved);

} // namespace pallascope::analysis
