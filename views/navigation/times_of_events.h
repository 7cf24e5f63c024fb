// Sorted lists of times, and all times at which something in a run begins or ends. For stops.h.
#pragma once

#include "core/trace/trace.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::navigation {

[[nodiscard]] std::vector<std::int64_t> sortedOnce(std::vector<std::int64_t> times);

// In a sorted list.
[[nodiscard]] std::optional<std::int64_t> firstAfter(const std::vector<std::int64_t>& times,
                                                     std::int64_t t);
[[nodiscard]] std::optional<std::int64_t> lastBefore(const std::vector<std::int64_t>& times,
                                                     std::int64_t t);

// When steps, their bodies, segments, copies, waits and rounds begin and end, copies are issued and
// semaphores change; sorted, each time once. Takes O(rows).
[[nodiscard]] std::vector<std::int64_t> timesOfEvents(const trace::Trace& trace);

} // namespace pallascope::navigation
