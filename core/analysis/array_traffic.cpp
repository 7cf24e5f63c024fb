#include "core/analysis/array_traffic.h"

#include <algorithm>
#include <set>

namespace pallascope::analysis {

namespace {

std::int32_t pipelineOf(const Traffic& row, const trace::Info& info)
{
    return row.row < 0 ? trace::kNone : info.operands[static_cast<std::size_t>(row.row)].pipeline;
}

// What a row adds to the re-fetch factor of its whole array. The pipelines of several devices have
// a row each, so that their bytes are held against the parts of all devices. Rows of manual DMA are
// of all devices anyway.
double shareOfRefetch(const Traffic& row, const trace::Info& info)
{
    const bool isOfOneDevice = pipelineOf(row, info) != trace::kNone;
    return row.refetchFactor / (isOfOneDevice ? info.deviceCount() : 1);
}

} // namespace

std::vector<ArrayTraffic> trafficByArray(const std::vector<Traffic>& rows, const trace::Info& info,
                                         const std::vector<std::int32_t>& arrayOfOperand,
                                         const trace::PipelineKinds& kinds)
{
    struct Sum
    {
        double manual = 0, pipelines = 0; // their shares of the re-fetch factor
        std::set<std::int32_t> kinds;     // of pipelines
    };

    const auto arrayOf = [&](const Traffic& row) {
        return row.row < 0 ? trace::kNone : arrayOfOperand[static_cast<std::size_t>(row.row)];
    };
    std::vector<ArrayTraffic> all;
    std::vector<Sum> sums;
    for (const Traffic& row : rows) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const Traffic& one) {
            return one.operand == row.operand && one.way == row.way && arrayOf(one) == arrayOf(row);
        });
        const auto place = static_cast<std::size_t>(same - all.begin());
        if (same == all.end()) {
            all.push_back({row, 0});
            sums.emplace_back();
        } else {
            same->copies += row.copies;
            same->bytes += row.bytes;
        }
        const std::int32_t pipeline = pipelineOf(row, info);
        (pipeline < 0 ? sums[place].manual : sums[place].pipelines) += shareOfRefetch(row, info);
        if (pipeline >= 0) {
            sums[place].kinds.insert(kinds.ofPipeline[static_cast<std::size_t>(pipeline)]);
        }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t pipelines = sums[i].kinds.size();
        all[i].pipelines = static_cast<std::int64_t>(pipelines);
        all[i].refetchFactor =
            sums[i].manual
            + sums[i].pipelines / static_cast<double>(std::max<std::size_t>(pipelines, 1));
    }
    return all;
}

} // namespace pallascope::analysis
