// Waits that a latency of copies would make longer, where nobody has published one.
#pragma once

#include "core/analysis/report.h"

#include <cstdint>
#include <string>

namespace pallascope::analysis {

// How many waits are for a copy that started in the moment in which it was issued, over a link for
// which the chip file gives no latency; of the agent that has most of them. A copy behind others
// in the link's queue would hide its latency there. Waits of fusions do not count.
[[nodiscard]] std::int64_t freshWaits(const trace::Trace& trace, const chip::Chip& chip);

// What that means for the run's time, in one sentence without its stop; empty if it hardly matters.
[[nodiscard]] std::string freshWaitsText(const Report& report);

} // namespace pallascope::analysis
