#include "core/analysis/moved_bytes.h"

#include "core/base/format.h"
#include "core/trace/pipelines.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pallascope::analysis {

namespace {

using trace::Summary;

struct Array
{
    std::vector<std::int32_t> operands;
    double moved = 0, useful = 0;
};

using Arrays = std::map<std::tuple<std::string, int, std::int32_t, std::int32_t>, Array>;

// Rows of the same array are summed: manual DMA may copy it in several places, and several cores
// run the same pipeline. Of different pipelines each has to move its arrays, whatever they are
// called. The arrays of older files have no numbers, so that those of one name are taken for one.
Arrays arraysOverHbm(const trace::Info& info, const Summary& sums, bool hasKernel)
{
    const trace::PipelineKinds kinds = trace::pipelineKindsOf(info);
    Arrays arrays;
    for (std::size_t row = 0; row < info.operands.size(); ++row) {
        const trace::Operand& operand = info.operands[row];
        if (operand.isAround && hasKernel) {
            continue;
        }
        std::int32_t kind = trace::kNone, place = operand.arrayNumber; // of manual DMA
        if (operand.pipeline != trace::kNone) {
            const auto pipeline = static_cast<std::size_t>(operand.pipeline);
            kind = kinds.ofPipeline[pipeline];
            place = static_cast<std::int32_t>(row) - info.pipelines[pipeline].firstOperand;
        }
        for (const Summary::Way way : {Summary::Read, Summary::Written}) {
            const Summary::Moved& sum = sums.moved[row][way];
            const auto moved = static_cast<double>((sum.bytes - sum.betweenDevices).value());
            Array& array = arrays[{operand.name, way, kind, place}];
            if (moved > 0) {
                array.operands.push_back(static_cast<std::int32_t>(row));
            }
            array.moved += moved;
            array.useful += moved * (1 - paddingShare(operand));
        }
    }
    return arrays;
}

void addBetweenDevices(const trace::Info& info, const Summary& sums, MovedBytes& sum)
{
    double all = 0, padding = 0, most = 0;
    for (std::size_t row = 0; row < info.operands.size(); ++row) {
        // A copy from HBM to HBM counts as read and as written, and crosses the link once.
        Bytes crossed;
        for (const Summary::Moved& moved : sums.moved[row]) {
            crossed = std::max(crossed, moved.betweenDevices);
        }
        const auto bytes = static_cast<double>(crossed.value());
        const double padded = bytes * paddingShare(info.operands[row]);
        all += bytes;
        padding += padded;
        if (padded > most) {
            most = padded;
            sum.mostPaddedBetweenDevices = info.operands[row].name;
        }
    }
    sum.paddingBetweenDevices = all > 0 ? padding / all : 0;
}

using Shares = std::vector<std::pair<double, std::string>>; // bytes of each operand

// The operand with the largest share, and how many others have at least a tenth of all. The first
// one if two are alike; empty if all are 0.
std::string largestOf(const Shares& shares)
{
    constexpr double kWorthNaming = 0.1;
    const std::pair<double, std::string>* largest = nullptr;
    double all = 0;
    for (const auto& share : shares) {
        all += share.first;
        largest = share.first > (largest == nullptr ? 0 : largest->first) ? &share : largest;
    }
    if (largest == nullptr) {
        return "";
    }
    const std::int64_t others = std::ranges::count_if(shares, [&](const auto& share) {
        return &share != largest && share.first >= kWorthNaming * all;
    });
    return largest->second + (others > 0 ? " and " + counted(others, "other", "others") : "");
}

} // namespace

Bytes bytesOverHbm(const Summary& sums)
{
    Bytes all;
    for (const auto& ways : sums.moved) {
        for (const Summary::Way way : {Summary::Read, Summary::Written}) {
            all += ways[way].bytes - ways[way].betweenDevices;
        }
    }
    return all;
}

MovedBytes movedBytesOf(const trace::Info& info, const Summary& sums, bool hasKernel)
{
    MovedBytes sum;
    Shares again, padded;
    for (const auto& [key, array] : arraysOverHbm(info, sums, hasKernel)) {
        const auto reach = static_cast<double>(reachOf(info, array.operands).value());
        const double times = reach > 0 ? std::max(1.0, array.moved / reach) : 1;
        const double once = array.moved / times;
        const double useful = array.useful / times;
        sum.moved += array.moved;
        sum.once += once;
        sum.useful += useful;
        padded.emplace_back(once - useful, std::get<0>(key));
        again.emplace_back(array.moved - once, std::get<0>(key));
    }
    sum.mostAgain = largestOf(again);
    sum.mostPadded = largestOf(padded);
    addBetweenDevices(info, sums, sum);
    return sum;
}

} // namespace pallascope::analysis
