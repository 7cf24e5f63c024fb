// Places pictures of arrays in lines, from left to right and from top to bottom, all with cells of
// the same size if possible. Pure geometry.
#pragma once

#include "views/layout/grid/picture.h"

#include <cstdint>
#include <vector>

namespace pallascope::layout {

struct FlowPanel
{
    std::size_t picture = 0;
    double x = 0, y = 0;                  // of the first cell
    double cellWidth = 0, cellHeight = 0; // from one cell to the next, so the gap is included
    std::int64_t perLine = 1;             // columns before a row is broken
    std::int64_t lines = 1;               // into which a row is broken
    std::int64_t tilesAcross = 1;
    double width = 0;                     // of all cells
    double height = 0;                    // of all cells
    double tileWidth = 0, tileHeight = 0; // from one tile to the next
    double head = 0;                      // px of the heading above the cells
    double room = 0;                      // px for the heading, from x on

    // The place of a cell, with the gap to its neighbours.
    [[nodiscard]] Rect cell(const ArrayPicture& of, std::int64_t tile, std::int64_t row,
                            std::int64_t column) const;
};

struct Flow
{
    std::vector<FlowPanel> panels; // of as many pictures as there is room for
    double cell = 0;               // px
    double bottom = 0;
};

// Panels are larger than the area only if there is no room for the first picture.
[[nodiscard]] Flow flowOf(const std::vector<ArrayPicture>& pictures, Rect area);

// The axes of the grid that have several points, one a line, with the current one. Returns the y
// below them.
double paintAxes(Canvas& canvas, const GridMoment& moment, Rect area);

void paintFlow(Canvas& canvas, const GridMoment& moment, const std::vector<ArrayPicture>& pictures,
               const Flow& flow);

} // namespace pallascope::layout
