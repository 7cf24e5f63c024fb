#include "core/trace/manual_cut.h"

#include "core/trace/columns.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace pallascope::trace {

namespace {

constexpr Extent kMostCut = 4096; // cells along an axis
constexpr std::int64_t kMostCellsOfArray = 16'384;

using AxisRanges = std::set<std::pair<Extent, Extent>>; // [from, to)

std::vector<Extent> evenCut(Extent extent, Extent size)
{
    std::vector<Extent> edges;
    for (Extent from = 0; from < std::max<Extent>(extent, 1); from += size) {
        edges.push_back(from);
    }
    edges.push_back(extent);
    return edges;
}

Extent largestOf(const AxisRanges& ranges)
{
    Extent most = 1;
    for (const auto& [from, to] : ranges) {
        most = std::max(most, to - from);
    }
    return most;
}

std::vector<Extent> coarseCut(Extent extent, const AxisRanges& ranges)
{
    const Extent size = largestOf(ranges);
    return ceilDiv(extent, size) <= kMostCut ? evenCut(extent, size)
                                             : std::vector<Extent>{0, extent};
}

std::vector<Extent> cutOfAxis(Extent extent, const AxisRanges& ranges)
{
    Extent common = 0, least = extent; // the common divisor, the smallest size
    std::set<Extent> edges{0, extent};
    for (const auto& [from, to] : ranges) {
        edges.insert({from, to});
        common = std::gcd(common, from);
        if (to < extent) {
            common = std::gcd(common, to);
            least = std::min(least, to - from);
        } else if (from % std::max<Extent>(largestOf(ranges), 1) == 0) {
            least = std::min(least, largestOf(ranges)); // the last one may be cut
        }
    }
    if (common == 0) {
        return {0, extent}; // all copies go over the whole axis
    }
    least = std::max<Extent>(least, 1);
    if (common % least == 0 && ceilDiv(extent, least) <= kMostCut) {
        return evenCut(extent, least);
    }
    return edges.size() <= kMostCut ? std::vector<Extent>(edges.begin(), edges.end())
                                    : coarseCut(extent, ranges);
}

// Blocks are numbered by multiples of their size. In a file they may lie outside of the array.
ManualBox boxOfBlock(const Operand& operand, std::int64_t block)
{
    ManualBox box;
    for (std::size_t axis = 0; axis < operand.blockCounts.size(); ++axis) {
        const AxisRange range = trace::rangeOf(operand, block, axis);
        const Extent from = std::clamp<Extent>(range.from, 0, operand.array[axis]);
        box.push_back({from, std::clamp(range.to, from, operand.array[axis])});
    }
    return box;
}

} // namespace

std::vector<ManualEnds> manualEndsOf(const Trace& trace, const Arrays& arrays,
                                     const std::vector<std::uint32_t>& rows)
{
    const Copies& copies = trace.copies();
    std::vector<ManualEnds> all;
    std::map<std::pair<std::int32_t, bool>, std::size_t> known; // by array, around kernels or not
    for (const std::uint32_t row : rows) {
        const std::int32_t number = copies.operand[row];
        const Operand& operand = trace.info().operands[at(number)];
        const std::int32_t array = arrays.ofOperand[at(number)];
        const auto [place, isNew] = known.try_emplace({array, operand.isAround}, all.size());
        if (isNew) {
            all.push_back(
                {std::string(arrayName(operand)), number, array, operand.array.extents(), {}});
        }
        all[place->second].ends.push_back(
            {row, copies.out[row] != 0, boxOfBlock(operand, copies.block[row])});
    }
    return all;
}

std::vector<std::vector<Extent>> cutOf(const std::vector<Extent>& shape,
                                       const std::vector<ManualEnd>& ends)
{
    std::vector<std::vector<Extent>> edges;
    std::vector<AxisRanges> ranges(shape.size());
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        for (const ManualEnd& end : ends) {
            ranges[axis].emplace(end.box[axis].from, end.box[axis].to);
        }
        edges.push_back(cutOfAxis(shape[axis], ranges[axis]));
    }
    const auto cellsOf = [&edges] {
        double cells = 1;
        for (const std::vector<Extent>& axis : edges) {
            cells *= static_cast<double>(axis.size() - 1);
        }
        return cells;
    };
    for (std::size_t round = 0; cellsOf() > static_cast<double>(kMostCellsOfArray); ++round) {
        const auto most =
            std::max_element(edges.begin(), edges.end(),
                             [](const auto& a, const auto& b) { return a.size() < b.size(); });
        const std::size_t axis = at(most - edges.begin());
        const auto coarse = coarseCut(shape[axis], ranges[axis]);
        *most = coarse.size() < most->size() && round < shape.size()
                    ? coarse
                    : std::vector<Extent>{0, shape[axis]};
    }
    return edges;
}

bool isEvenCut(const std::vector<Extent>& edges)
{
    const Extent size = edges.size() < 2 ? 0 : edges[1] - edges[0];
    for (std::size_t i = 1; i + 1 < edges.size(); ++i) {
        const Extent own = edges[i + 1] - edges[i];
        if (own > size || (own < size && i + 2 < edges.size())) {
            return false;
        }
    }
    return true;
}

} // namespace pallascope::trace
