#include "core/analysis/array_traffic.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace pallascope::analysis {

namespace {

// The rows of one array of one pipeline, or of all manual DMA of one array.
struct Moved
{
    std::vector<std::int32_t> operands;
    Bytes bytes;
};

using MovedBy = std::map<std::int32_t, Moved>; // by pipeline kind, or by array

void add(MovedBy& all, std::int32_t key, const Traffic& row)
{
    all[key].operands.push_back(row.row);
    all[key].bytes += row.bytes;
}

// How often each of these pipelines moves its array.
std::vector<double> factorsOf(const trace::Info& info, const MovedBy& pipelines)
{
    std::vector<double> factors;
    for (const auto& [pipeline, moved] : pipelines) {
        const Bytes reach = trace::reachOf(info, moved.operands);
        factors.push_back(reach > Bytes(0) ? ratio(moved.bytes, reach) : 0);
    }
    return factors;
}

double manualFactor(const trace::Info& info, const MovedBy& arrays)
{
    double bytes = 0, reach = 0; // of any file: more than an integer holds
    for (const auto& [array, moved] : arrays) {
        bytes += static_cast<double>(moved.bytes.value());
        reach += static_cast<double>(trace::reachOf(info, moved.operands).value());
    }
    return reach > 0 ? bytes / reach : 0;
}

} // namespace

std::vector<ArrayTraffic> trafficByArray(const std::vector<Traffic>& rows, const trace::Info& info,
                                         const std::vector<std::int32_t>& arrayOfOperand,
                                         const trace::PipelineKinds& kinds)
{
    struct Sum
    {
        MovedBy byPipeline, byArray;
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
        if (row.row < 0) { // of a trace without its operands
            continue;
        }
        const trace::Operand& operand = info.operands[static_cast<std::size_t>(row.row)];
        if (operand.pipeline == trace::kNone) {
            add(sums[place].byArray, operand.arrayNumber, row);
        } else {
            add(sums[place].byPipeline,
                kinds.ofPipeline[static_cast<std::size_t>(operand.pipeline)], row);
        }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& [byPipeline, byArray] = sums[i];
        all[i].pipelines = static_cast<std::int64_t>(byPipeline.size());
        const std::vector<double> factors = factorsOf(info, byPipeline);
        if (!factors.empty() || !byArray.empty()) {
            const double sum = std::accumulate(factors.begin(), factors.end(), 0.0);
            const auto count = static_cast<double>(std::max<std::size_t>(1, factors.size()));
            all[i].refetchFactor = manualFactor(info, byArray) + sum / count;
            all[i].isAlike =
                std::ranges::adjacent_find(factors, std::not_equal_to()) == factors.end();
        }
    }
    return all;
}

} // namespace pallascope::analysis
