#include "core/analysis/array_traffic.h"

#include "core/trace/pieces.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

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

// What these groups of rows move, and how much of it they moved before.
struct Factors
{
    std::vector<double> all;                // how often each group moves its array
    double bytes = 0, reach = 0, again = 0; // of any file: more than an integer holds

    void add(const trace::Info& info, const Moved& moved)
    {
        const auto its = static_cast<double>(moved.bytes.value());
        const auto once = static_cast<double>(trace::reachOf(info, moved.operands).value());
        all.push_back(once > 0 ? its / once : 0);
        bytes += its;
        reach += once;
        again += std::max(0.0, its - once);
    }
};

Factors factorsOf(const trace::Info& info, const MovedBy& groups)
{
    Factors factors;
    for (const auto& [group, moved] : groups) {
        factors.add(info, moved);
    }
    return factors;
}

// How often the only kernel of these rows is launched; 0: they are of several kernels, or of none.
std::int64_t launchesOf(const trace::Info& info, std::initializer_list<const MovedBy*> all)
{
    std::set<std::pair<std::int32_t, std::int64_t>> kernels;
    for (const MovedBy* const groups : all) {
        for (const auto& [group, moved] : *groups) {
            for (const std::int32_t row : moved.operands) {
                const trace::Operand& operand = info.operands[static_cast<std::size_t>(row)];
                kernels.emplace(operand.kernel, operand.launches);
            }
        }
    }
    return kernels.size() == 1 ? kernels.begin()->second : 0;
}

// By whose name rows are told apart.
class Kernels
{
public:
    explicit Kernels(const trace::Info& info)
        : m_info(info)
        , m_names(trace::kernelNames(info))
    {}

    // Whether two operands that go over arrays of one name are to be one row.
    [[nodiscard]] bool areOne(const Traffic& a, const Traffic& b) const
    {
        return a.row < 0 || b.row < 0
                   ? a.row == b.row
                   : of(a).arrayNumber == of(b).arrayNumber || nameOf(a) == nameOf(b);
    }

    // Says of rows of one name whose they are.
    void name(std::vector<ArrayTraffic>& all) const
    {
        std::map<std::pair<std::string, trace::Summary::Way>, std::int64_t> count;
        for (const ArrayTraffic& row : all) {
            ++count[{row.operand, row.way}];
        }
        for (ArrayTraffic& row : all) {
            if (row.row >= 0 && count[{row.operand, row.way}] > 1) {
                row.kernel = nameOf(row);
            }
        }
    }

private:
    [[nodiscard]] const trace::Operand& of(const Traffic& row) const
    {
        return m_info.operands[static_cast<std::size_t>(row.row)];
    }

    [[nodiscard]] std::string_view nameOf(const Traffic& row) const
    {
        const auto kernel = static_cast<std::size_t>(of(row).kernel); // -1 is beyond all
        return kernel < m_names.size() ? m_names[kernel] : std::string_view();
    }

    const trace::Info& m_info;
    std::vector<std::string_view> m_names;
};

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
    const Kernels kernels(info);
    std::vector<ArrayTraffic> all;
    std::vector<Sum> sums;
    for (const Traffic& row : rows) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const Traffic& one) {
            return one.operand == row.operand && one.way == row.way && arrayOf(one) == arrayOf(row)
                   && kernels.areOne(one, row);
        });
        const auto place = static_cast<std::size_t>(same - all.begin());
        if (same == all.end()) {
            all.push_back({row, {}});
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
        const Factors pipelines = factorsOf(info, byPipeline), manual = factorsOf(info, byArray);
        if (!pipelines.all.empty() || !manual.all.empty()) {
            const double sum = std::accumulate(pipelines.all.begin(), pipelines.all.end(), 0.0);
            const auto count = static_cast<double>(std::max<std::size_t>(1, pipelines.all.size()));
            all[i].refetchFactor =
                (manual.reach > 0 ? manual.bytes / manual.reach : 0) + sum / count;
            all[i].launches = launchesOf(info, {&byPipeline, &byArray});
            all[i].again = Bytes(std::llround(std::min(9e18, pipelines.again + manual.again)));
            all[i].isAlike = std::ranges::adjacent_find(pipelines.all, std::not_equal_to())
                             == pipelines.all.end();
        }
    }
    kernels.name(all);
    return all;
}

} // namespace pallascope::analysis
