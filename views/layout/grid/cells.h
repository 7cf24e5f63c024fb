// What the cells of an array in the grid view stand for: blocks, or single elements along an axis
// whose blocks are lists of elements (see indirect blocks in docs/glossary.md).
#pragma once

#include "views/layout/run/run_view.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace pallascope::layout {

// The number of cells along each axis of the array.
[[nodiscard]] std::vector<Extent> cellCounts(const trace::Operand& operand);

// Each is asked for in every frame, and an array of more has several to a pixel.
inline constexpr std::int64_t kMostListedCells = 1 << 18;

// Whether cells on the indirect axis are elements. They are blocks if that were too many cells.
[[nodiscard]] bool hasListedCells(const trace::Operand& operand);

class ArrayCells
{
public:
    ArrayCells(const RunView& run, trace::OperandRow operand, Picoseconds now);

    // The block that a cell shows, if one ever comes there. An element may be in several blocks:
    // the one in a slot goes first, then one that was copied already, then the first that will be.
    [[nodiscard]] std::optional<std::int64_t> blockAt(std::int64_t cell) const;

    // The cells of a block in row-major order. An element that is listed twice appears twice.
    [[nodiscard]] std::vector<std::int64_t> cellsOf(std::int64_t block) const;

private:
    [[nodiscard]] std::int64_t number(const std::vector<Extent>& index,
                                      const std::vector<Extent>& counts) const;

    const RunView& m_run;
    trace::OperandRow m_number;
    const trace::Operand& m_operand;
    Picoseconds m_now;
    bool m_listed;
    std::vector<Extent> m_counts;

    struct Held
    {
        std::int64_t block;
        std::vector<std::int32_t> elements; // ascending
    };

    std::vector<Held> m_held; // the blocks in slots
};

} // namespace pallascope::layout
