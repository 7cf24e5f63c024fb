// Where the grid view puts the arrays of a pipeline: a dimension that follows the same grid axis
// lines up, so that the index maps can be read off the picture. Pure geometry.
#pragma once

#include "core/trace/trace.h"
#include "views/layout/scene/scene.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::layout {

// An operand's array as rows x columns of blocks: its last two axes; of a vector, one row.
struct ArrayShape
{
    std::int32_t operand = 0;
    Extent rows = 1, columns = 1;
    std::int32_t rowAxis = -1, columnAxis = -1; // grid axes, -1: none or mixed
    double lastRow = 1, lastColumn = 1; // the share of the last block that lies in the array
    bool vector = false;
};

struct ArrayPanel
{
    ArrayShape shape;
    double x = 0, y = 0;                  // of the first cell
    double cellWidth = 0, cellHeight = 0; // pitch, the gap to the next cell included
    double width = 0;                     // of the panel, its heading included
    double label = 0;                     // width of the name of its row axis, left of it

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
    std::optional<std::size_t> anchor;    // the output that the others line up with
    std::vector<std::size_t> left, above; // panels on its left and above it, nearest last
    Rect odometer;
};

inline constexpr double kPanelHead = 32; // heading above the cells
inline constexpr double kAxisLabel = 15; // least width of an axis' name, left of the cells

[[nodiscard]] ArrayShape arrayShape(const trace::Info& info, std::int32_t operand);

// What the headings of the arrays need, per operand of the pipeline: whole, and without the shape;
// and the names of their row axes.
struct HeadWidths
{
    std::vector<double> whole, least;
    double label = kAxisLabel;
};

// Fits the arrays of a pipeline into `area`, as large as they go.
[[nodiscard]] GridArrangement arrangeGrid(const trace::Info& info, std::int32_t pipeline, Rect area,
                                          const HeadWidths& heads);

} // namespace pallascope::layout
