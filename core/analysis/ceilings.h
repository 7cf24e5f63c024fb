// The ceilings of a roofline besides that of its own memory.
#pragma once

#include "core/analysis/report.h"

namespace pallascope::analysis {

// Of the units and links that are busy at any time of the run. What rests on a figure that nobody
// has published is left out, and so are links that no chip file has.
[[nodiscard]] std::vector<Ceiling> ceilingsOf(const Report& report, const trace::Info& info,
                                              const trace::Summary& sums, const chip::Chip& chip);

} // namespace pallascope::analysis
