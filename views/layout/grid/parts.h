// The pieces of the grid view: arrays, odometer, path, guides, legend. Only the sources of the grid
// view use them.
#pragma once

#include "core/trace/row.h"
#include "views/layout/grid/arrangement.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::layout {

// Everything that the pieces need to know about the moment shown.
struct GridMoment
{
    const RunView& run;
    Picoseconds now;
    std::int32_t device = 0; // whose manual DMA is shown
    std::int32_t sm = -1;    // whose copies are listed; kNone: the run has no SMs
    trace::PipelineRow pipeline;
    trace::OptionalRow<trace::StepRow> step;
    std::vector<Extent> index; // in the grid
    bool finished = false;     // at the end of the run, when nothing is current
    bool hasPipeline = true;   // whether there is one at all
};

// The part of an array that is shown as rows x columns: the slice at the current indices of the
// axes before them.
struct ShownSlice
{
    std::int64_t firstCell = 0;
    std::optional<std::int64_t> current; // the current cell within the slice, if it is one
};

[[nodiscard]] ShownSlice shownSlice(const GridMoment& moment, const ArrayShape& shape);

void paintHeading(Canvas& canvas, const GridMoment& moment, const ArrayPanel& panel, double right);
void paintArray(Canvas& canvas, const GridMoment& moment, const ArrayPanel& panel);
void paintPath(Canvas& canvas, const GridMoment& moment, const ArrayPanel& panel);
void paintGuides(Canvas& canvas, const GridMoment& moment, const GridArrangement& arrangement);
void paintOdometer(Canvas& canvas, const GridMoment& moment, Rect area, double tick);

struct ArrayPicture; // picture.h

void paintLegend(Canvas& canvas, const GridMoment& moment,
                 const std::vector<ArrayPicture>& pictures, Rect area);

// The copies by manual DMA on the device, or of the SM, that are under way, then those that are
// queued, then those that have brought what nobody has waited for so far: rows of Copies, each kind
// in the order of issue. Of the last kind, those among the last few thousand copies.
[[nodiscard]] std::vector<std::uint32_t> manualCopiesNow(const GridMoment& moment);
// A list of them from y down to `bottom`, with what, from where to where, state and line.
void paintCopiesNow(Canvas& canvas, const GridMoment& moment, Rect area);
inline constexpr double kCopiesHead = 20, kCopyLine = 17; // px

// "kv_cache(38) |61 %| on its way, |1| queued · |2.70 MiB| read": of the arrays in these pictures.
[[nodiscard]] std::string manualCaption(const GridMoment& moment,
                                        const std::vector<ArrayPicture>& pictures);

// The widths of the headings of a pipeline's arrays.
[[nodiscard]] HeadWidths headWidths(const RunView& run, trace::PipelineRow pipeline);

} // namespace pallascope::layout
