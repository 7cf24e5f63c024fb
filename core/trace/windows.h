// How blocks that may overlap cut their array into cells.
#pragma once

#include "core/trace/lookup.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pallascope::trace {

// Blocks along element and slice axes lie anywhere. Where few enough cells result, each such block
// is whole cells: their size is the greatest common divisor of all edges of blocks inside of the
// array. Along other axes a cell is a block. Made from the blocks that steps visit; use
// Index::windows, which keeps the result.
class Windows
{
public:
    // Of an operand whose blocks never overlap, which has none of this.
    Windows() = default;
    // The blocks in the order of their first visits, each once.
    Windows(const Operand& operand, const std::vector<std::int64_t>& blocks);

    [[nodiscard]] bool empty() const { return m_cell.empty(); }

    // Along each axis of the array: the elements of a cell, and the number of cells.
    [[nodiscard]] const std::vector<Extent>& cell() const { return m_cell; }

    [[nodiscard]] const std::vector<Extent>& counts() const { return m_counts; }

    // The cells that a block touches, in row-major order.
    [[nodiscard]] std::vector<std::int64_t> cellsOf(const Operand& operand,
                                                    std::int64_t block) const;

    struct Cover
    {
        std::int64_t cell = 0;
        std::int64_t order = 0; // of the block's first visit
        std::int64_t block = 0;
        auto operator<=>(const Cover&) const = default;
    };

    // The blocks that touch a cell, in the order of their first visits.
    [[nodiscard]] std::span<const Cover> over(std::int64_t cell) const;

private:
    [[nodiscard]] AxisRange cellsAlong(const Operand& operand, std::int64_t block,
                                       std::size_t axis) const;
    [[nodiscard]] bool isFine(const Operand& operand,
                              const std::vector<std::int64_t>& blocks) const;

    std::vector<Extent> m_cell, m_counts;
    std::vector<Cover> m_covers; // sorted
};

// For each operand, with the blocks of all that share its array; empty where they never overlap.
[[nodiscard]] std::vector<Windows> windowsOf(const Trace& trace,
                                             const std::vector<std::int32_t>& firstSharing);

} // namespace pallascope::trace
