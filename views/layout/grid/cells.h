// What the cells of an array in the grid and memory views stand for: blocks, single elements along
// an axis whose blocks are lists of elements (see indirect blocks in docs/glossary.md), or parts of
// blocks that may overlap.
#pragma once

#include "core/trace/windows.h"
#include "views/layout/run/run_view.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pallascope::layout {

// The number of cells along each axis of the array.
[[nodiscard]] std::vector<Extent> cellCounts(const trace::Operand& operand,
                                             const trace::Windows& windows);

// Of the whole array.
[[nodiscard]] std::int64_t cellTotal(const trace::Operand& operand, const trace::Windows& windows);

// Each is asked for in every frame, and an array of more has several to a pixel.
inline constexpr std::int64_t kMostListedCells = 1 << 18;

// Whether cells on the indirect axis are elements. They are blocks if that were too many cells.
[[nodiscard]] bool hasListedCells(const trace::Operand& operand);

// The elements of a cell along each axis; of a list, those of the whole list.
[[nodiscard]] std::vector<Extent> cellExtents(const trace::Operand& operand,
                                              const trace::Windows& windows);

// "cells of 8×128" where blocks may overlap; else empty.
[[nodiscard]] std::string cellsText(const RunView& run, trace::OperandRow operand);

class ArrayCells
{
public:
    ArrayCells(const RunView& run, trace::OperandRow operand, Picoseconds now);

    // The block that a cell shows, if one ever comes there. A cell may be in several blocks: the
    // one in use goes first, then one in a slot, then one that was copied already, then the first
    // that will be.
    [[nodiscard]] std::optional<std::int64_t> blockAt(std::int64_t cell) const;

    // The cells of a block in row-major order. An element that is listed twice appears twice.
    [[nodiscard]] std::vector<std::int64_t> cellsOf(std::int64_t block) const;

    // Whether blocks may overlap, so that one of several cells must be drawn as a whole.
    [[nodiscard]] bool mayOverlap() const { return !m_windows.empty(); }

private:
    [[nodiscard]] std::optional<std::int64_t> listedAt(std::int64_t cell) const;
    [[nodiscard]] std::int64_t number(const std::vector<Extent>& index,
                                      const std::vector<Extent>& counts) const;

    const RunView& m_run;
    trace::OperandRow m_number;
    const trace::Operand& m_operand;
    Picoseconds m_now;
    const trace::Windows& m_windows;
    bool m_listed;
    std::vector<Extent> m_counts;

    struct Held
    {
        std::int64_t block;
        std::vector<std::int64_t> cells; // ascending; of a list: its elements
    };

    std::vector<Held> m_held; // the blocks in slots, that in use first
};

} // namespace pallascope::layout
