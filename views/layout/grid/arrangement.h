// Decides where the grid view puts the arrays of a pipeline. Dimensions that follow the same grid
// axis line up, so that the index maps can be read off the picture. Pure geometry.
#pragma once

#include "core/trace/row.h"
#include "core/trace/windows.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::layout {

// An operand's array as rows x columns of cells, which are blocks or parts of them (cells.h). These
// are its last two axes; a vector is one row.
struct ArrayShape
{
    trace::OperandRow operand;
    Extent rows = 1, columns = 1;
    std::optional<std::int32_t> rowAxis, columnAxis; // grid axes; none also where there are several
    double lastRow = 1, lastColumn = 1; // the share of the last block that lies inside the array
    bool vector = false;
    // How large a cell is compared with the smallest one beside it. Different only where blocks may
    // overlap: there, arrays are drawn as large as they are.
    double rowScale = 1, columnScale = 1;
};

struct ArrayPanel
{
    ArrayShape shape;
    double x = 0, y = 0;                  // of the first cell
    double cellWidth = 0, cellHeight = 0; // from one cell to the next, so the gap is included
    double width = 0;                     // of the panel with its heading
    double label = 0;                     // room left of the panel for the name of its row axis

    [[nodiscard]] double cellsWidth() const
    {
        return cellWidth * static_cast<double>(shape.columns);
    }

    [[nodiscard]] double cellsHeight() const
    {
        return cellHeight * static_cast<double>(shape.rows);
    }
};

struct GridArrangement
{
    std::vector<ArrayPanel> panels;
    std::optional<std::size_t> anchor; // the output that the other arrays line up with
    // Indices of the panels left of the anchor and above it, nearest last.
    std::vector<std::size_t> left, above;
    Rect odometer;
};

inline constexpr double kPanelHead = 32; // px of the heading above the cells
// Px that the name of an axis gets at least, left of the cells.
inline constexpr double kAxisLabel = 15;

[[nodiscard]] ArrayShape arrayShape(const trace::Info& info, trace::OperandRow operand,
                                    const trace::Windows& windows = {});
[[nodiscard]] ArrayShape arrayShape(const RunView& run, trace::OperandRow operand);

// The widths that the headings of a pipeline's arrays need, for each operand: the whole heading,
// and the heading without the shape. `label` is the width for the names of row axes.
struct HeadWidths
{
    std::vector<double> whole, least;
    double label = kAxisLabel;
};

// Fits the arrays of a pipeline into `area`, with cells as large as possible.
[[nodiscard]] GridArrangement arrangeGrid(const RunView& run, trace::PipelineRow pipeline,
                                          Rect area, const HeadWidths& heads);

} // namespace pallascope::layout
