// The pieces of the grid view: arrays, odometer, path, guides, legend. Used by grid.cpp alone.
#pragma once

#include "views/layout/grid/arrangement.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"

#include <vector>

namespace pallascope::layout {

// Everything about "now" that the pieces need.
struct GridMoment
{
    const RunView& run;
    Picoseconds now;
    std::int32_t pipeline = 0;
    std::int32_t step = trace::kNone; // row of Steps
    std::vector<Extent> index;        // of the grid
    bool finished = false;            // at the end of the run: nothing is current
};

// The rows x columns of an array that are shown: the slice at the current leading indices.
struct ShownSlice
{
    std::vector<Extent> leading; // of the axes before the last two
    std::int64_t firstCell = 0;
    std::int64_t current = -1; // current cell within the slice, -1: none, or several
};

[[nodiscard]] ShownSlice shownSlice(const GridMoment& moment, const ArrayShape& shape);

void paintHeading(Canvas& canvas, const GridMoment& moment, const ArrayPanel& panel, double right);
void paintArray(Canvas& canvas, const GridMoment& moment, const ArrayPanel& panel);
void paintPath(Canvas& canvas, const GridMoment& moment, const ArrayPanel& panel);
void paintGuides(Canvas& canvas, const GridMoment& moment, const GridArrangement& arrangement);
void paintOdometer(Canvas& canvas, const GridMoment& moment, Rect area, double tick);
void paintLegend(Canvas& canvas, const GridMoment& moment, Rect area);

// Widths of an array's heading: whole, and without its shape.
[[nodiscard]] HeadWidths headWidths(const trace::Info& info, std::int32_t pipeline);

} // namespace pallascope::layout
