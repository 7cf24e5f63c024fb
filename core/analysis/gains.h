// What doing something about a loss can bring at most, where that is not all of it.
#pragma once

#include "core/analysis/report.h"
#include "core/trace/summary.h"

namespace pallascope::analysis {

// Up to the time of the run. One launch remains, and one step of each pipeline. Copies to other
// devices can hide only behind something else that goes on.
[[nodiscard]] Picoseconds mostGain(const Loss& loss, const Report& report, const trace::Info& info,
                                   const trace::Summary& sums);

} // namespace pallascope::analysis
