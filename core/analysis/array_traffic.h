// Sums the traffic of one array over the rows of a report, for whoever shows an array as one row.
#pragma once

#include "core/analysis/report.h"

namespace pallascope::analysis {

// What a row adds to the re-fetch factor of its whole array. The pipelines of several devices have
// a row each, and each device has its own part of the array, so that its bytes are held against
// the parts of all devices. Rows of manual DMA are of all devices anyway.
[[nodiscard]] double shareOfRefetch(const Traffic& row, const trace::Info& info);

} // namespace pallascope::analysis
