// What the cells of an array in the grid view stand for: blocks, or single elements on an axis
// whose blocks are lists of elements.
#pragma once

#include "views/layout/run/run_view.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace pallascope::layout {

// Cells per axis of the array.
[[nodiscard]] std::vector<Extent> cellCounts(const trace::Operand& operand);

// Whether cells are elements on the indirect axis; not where they are too many to be numbered.
[[nodiscard]] bool hasListedCells(const trace::Operand& operand);

class ArrayCells
{
public:
    ArrayCells(const RunView& run, std::int32_t operand, Picoseconds now);

    // The block that a cell shows: of an element of several blocks the one that a slot has, else
    // one that was there, else one that will be; -1: none is ever.
    [[nodiscard]] std::int64_t blockAt(std::int64_t cell) const;

    // The cells of a block in the array, row-major; an element that is listed twice, twice.
    [[nodiscard]] std::vector<std::int64_t> cellsOf(std::int64_t block) const;

private:
    [[nodiscard]] std::int64_t number(const std::vector<Extent>& index,
                                      const std::vector<Extent>& counts) const;

    const RunView& m_run;
    std::int32_t m_number;
    const trace::Operand& m_operand;
    Picoseconds m_now;
    bool m_listed;
    std::vector<Extent> m_counts;

    struct Held
    {
        std::int64_t block;
        std::vector<std::int32_t> elements; // rising
    };

    std::vector<Held> m_held; // in slots
};

} // namespace pallascope::layout
