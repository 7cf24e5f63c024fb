#include "core/analysis/array_traffic.h"

#include <algorithm>

namespace pallascope::analysis {

namespace {

// What a row adds to the re-fetch factor of its whole array. The pipelines of several devices have
// a row each, so that their bytes are held against the parts of all devices. Rows of manual DMA are
// of all devices anyway.
double shareOfRefetch(const Traffic& row, const trace::Info& info)
{
    const bool isOfOneDevice =
        row.row >= 0 && info.operands[static_cast<std::size_t>(row.row)].pipeline != trace::kNone;
    return row.refetchFactor / (isOfOneDevice ? info.deviceCount() : 1);
}

} // namespace

std::vector<Traffic> trafficByArray(const std::vector<Traffic>& rows, const trace::Info& info,
                                    const std::vector<std::int32_t>& arrayOfOperand)
{
    const auto arrayOf = [&](const Traffic& row) {
        return row.row < 0 ? trace::kNone : arrayOfOperand[static_cast<std::size_t>(row.row)];
    };
    std::vector<Traffic> all;
    for (const Traffic& row : rows) {
        const double share = shareOfRefetch(row, info);
        const auto same = std::find_if(all.begin(), all.end(), [&](const Traffic& one) {
            return one.operand == row.operand && one.way == row.way && arrayOf(one) == arrayOf(row);
        });
        if (same == all.end()) {
            all.push_back(row);
            all.back().refetchFactor = share;
            continue;
        }
        same->copies += row.copies;
        same->bytes += row.bytes;
        same->refetchFactor += share;
    }
    return all;
}

} // namespace pallascope::analysis
