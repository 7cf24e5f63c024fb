#include "core/trace/windows.h"

#include "core/base/shape.h"
#include "core/trace/columns.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace pallascope::trace {

namespace {

constexpr std::int64_t kMostCells = 1 << 16;  // more could not be told apart in a picture
constexpr std::int64_t kMostCovers = 1 << 20; // of all blocks; each takes 24 bytes

bool mayOverlap(const Operand& operand)
{
    return operand.pipeline != kNone && operand.indirectAxis < 0
           && !(operand.elementAxes.empty() && operand.sliceAxes.empty());
}

bool liesAnywhere(const Operand& operand, std::size_t axis)
{
    const auto isAmong = [axis](const std::vector<std::int32_t>& axes) {
        return std::find(axes.begin(), axes.end(), static_cast<std::int32_t>(axis)) != axes.end();
    };
    return isAmong(operand.elementAxes) || isAmong(operand.sliceAxes);
}

// The greatest common divisor of all edges of blocks inside of the array.
Extent commonOf(const Operand& operand, const std::vector<std::int64_t>& blocks, std::size_t axis)
{
    const Extent extent = operand.array[axis];
    Extent common = 0;
    for (const std::int64_t block : blocks) {
        const AxisRange range = rangeOf(operand, block, axis);
        for (const Extent edge : {range.from, range.to}) {
            common = edge > 0 && edge < extent ? std::gcd(common, edge) : common;
        }
    }
    return common == 0 ? std::max<Extent>(extent, 1) : common;
}

} // namespace

Windows::Windows(const Operand& operand, const std::vector<std::int64_t>& blocks)
{
    if (!mayOverlap(operand) || std::ssize(blocks) > kMostCovers || operand.array.elements() <= 0) {
        return;
    }
    for (std::size_t axis = 0; axis < operand.array.rank(); ++axis) {
        const bool isAny = liesAnywhere(operand, axis);
        m_cell.push_back(isAny ? commonOf(operand, blocks, axis) : operand.block[axis]);
        m_counts.push_back(isAny ? ceilDiv(operand.array[axis], m_cell.back())
                                 : operand.blockCounts[axis]);
    }
    while (!isFine(operand, blocks)) { // larger cells along the axis that has most of them
        std::size_t most = m_counts.size();
        for (std::size_t axis = 0; axis < m_counts.size(); ++axis) {
            if (liesAnywhere(operand, axis) && m_counts[axis] > 1
                && (most == m_counts.size() || m_counts[axis] > m_counts[most])) {
                most = axis;
            }
        }
        if (most == m_counts.size()) {
            m_cell.clear();
            m_counts.clear();
            return;
        }
        m_counts[most] = ceilDiv(m_counts[most], 2);
        m_cell[most] *= 2;
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        for (const std::int64_t cell : cellsOf(operand, blocks[i])) {
            m_covers.push_back({cell, static_cast<std::int64_t>(i), blocks[i]});
        }
    }
    std::sort(m_covers.begin(), m_covers.end());
}

// Whether there are not too many cells, neither of the array nor of all blocks.
bool Windows::isFine(const Operand& operand, const std::vector<std::int64_t>& blocks) const
{
    std::int64_t cells = 1;
    for (const Extent count : m_counts) {
        if (__builtin_mul_overflow(cells, count, &cells) || cells > kMostCells) {
            return false;
        }
    }
    std::int64_t covers = 0;
    for (const std::int64_t block : blocks) {
        std::int64_t its = 1; // at most all cells
        for (std::size_t axis = 0; axis < m_counts.size(); ++axis) {
            const AxisRange range = cellsAlong(operand, block, axis);
            its *= range.to - range.from;
        }
        covers += its;
        if (covers > kMostCovers) {
            return false;
        }
    }
    return true;
}

// Empty for a block outside of the array.
AxisRange Windows::cellsAlong(const Operand& operand, std::int64_t block, std::size_t axis) const
{
    if (!liesAnywhere(operand, axis)) {
        const Extent index = blockIndex(operand, block)[axis];
        return {index, index + 1};
    }
    const AxisRange range = rangeOf(operand, block, axis);
    if (range.to <= range.from) {
        return {};
    }
    return {range.from / m_cell[axis], ceilDiv(range.to, m_cell[axis])};
}

std::vector<std::int64_t> Windows::cellsOf(const Operand& operand, std::int64_t block) const
{
    std::vector<std::int64_t> cells{0};
    for (std::size_t axis = 0; axis < m_counts.size(); ++axis) {
        const AxisRange range = cellsAlong(operand, block, axis);
        std::vector<std::int64_t> next;
        for (const std::int64_t before : cells) {
            for (Extent i = range.from; i < range.to; ++i) {
                next.push_back(before * m_counts[axis] + i);
            }
        }
        cells = std::move(next);
    }
    return cells;
}

std::span<const Windows::Cover> Windows::over(std::int64_t cell) const
{
    const auto [first, last] = std::ranges::equal_range(m_covers, cell, {}, &Cover::cell);
    return {first, last};
}

std::vector<Windows> windowsOf(const Trace& trace, const std::vector<std::int32_t>& firstSharing)
{
    const auto& operands = trace.info().operands;
    const Visits& visits = trace.visits();
    std::vector<std::vector<std::int64_t>> blocks(operands.size());
    std::vector<std::unordered_set<std::int64_t>> seen(operands.size());
    const bool isAny = std::any_of(operands.begin(), operands.end(), mayOverlap); // seldom
    for (std::size_t row = 0; isAny && row < visits.size(); ++row) {
        const std::size_t first = at(firstSharing[at(visits.operand[row])]);
        if (mayOverlap(operands[first]) && seen[first].insert(visits.block[row]).second) {
            blocks[first].push_back(visits.block[row]);
        }
    }
    std::vector<Windows> all;
    for (std::size_t operand = 0; operand < operands.size(); ++operand) {
        all.emplace_back(operands[operand], blocks[at(firstSharing[operand])]);
    }
    return all;
}

} // namespace pallascope::trace
