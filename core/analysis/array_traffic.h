// Sums the traffic of one array over the rows of a report, for whoever shows an array as one row.
#pragma once

#include "core/analysis/report.h"
#include "core/trace/pipelines.h"

#include <cstdint>
#include <vector>

namespace pallascope::analysis {

// Different arrays may have one name: what a kernel calls `m` may be made of an argument `m`, and
// two kernels may both call what they write `o_ref`.
// `arrayOfOperand` is trace::Arrays::ofOperand. The re-fetch factor of a row is that of the whole
// array: of several devices, each has its own part of it; of several pipelines, each has to move
// it, with each launch of its kernel; of several arrays of one name, it is that of their sum.
[[nodiscard]] std::vector<ArrayTraffic>
trafficByArray(const std::vector<Traffic>& rows, const trace::Info& info,
               const std::vector<std::int32_t>& arrayOfOperand, const trace::PipelineKinds& kinds);

} // namespace pallascope::analysis
