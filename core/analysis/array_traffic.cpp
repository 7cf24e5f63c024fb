#include "core/analysis/array_traffic.h"

namespace pallascope::analysis {

double shareOfRefetch(const Traffic& row, const trace::Info& info)
{
    const bool isOfOneDevice =
        row.row >= 0 && info.operands[static_cast<std::size_t>(row.row)].pipeline != trace::kNone;
    return row.refetchFactor / (isOfOneDevice ? info.deviceCount() : 1);
}

} // namespace pallascope::analysis
