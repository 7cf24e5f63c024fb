// Sums the traffic of one array over the rows of a report, for whoever shows an array as one row.
#pragma once

#include "core/analysis/report.h"

#include <cstdint>
#include <vector>

namespace pallascope::analysis {

// One row for what moves the same array the same way under the same name: manual DMA in several
// places of a program, and the pipelines of several agents. Different arrays may have one name:
// what a kernel calls `m` may be made of an argument `m`. `arrayOfOperand` is
// trace::Arrays::ofOperand. The re-fetch factor of a row is that of the whole array: of several
// devices, each has its own part of it.
[[nodiscard]] std::vector<Traffic> trafficByArray(const std::vector<Traffic>& rows,
                                                  const trace::Info& info,
                                                  const std::vector<std::int32_t>& arrayOfOperand);

} // namespace pallascope::analysis
