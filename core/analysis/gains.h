// What doing something about a loss can bring at most, where that is not all of it.
#pragma once

#include "core/analysis/report.h"
#include "core/trace/summary.h"

namespace pallascope::analysis {

// Up to the time of the run. One launch remains, and one step of each pipeline. Copies to other
// devices can hide only behind something else that goes on, and the first load of a GPU's kernel
// behind nothing.
[[nodiscard]] Picoseconds mostGain(const Loss& loss, const Report& report, const trace::Info& info,
                                   const trace::Summary& sums, const chip::Chip& chip);

// How long launches of fusions take on each device. Where a launch of a kernel takes as long, they
// cannot be told apart, and it is 0.
[[nodiscard]] Picoseconds launchesOfFusions(const trace::Info& info, const trace::Summary& sums,
                                            const chip::Chip& chip);

} // namespace pallascope::analysis
