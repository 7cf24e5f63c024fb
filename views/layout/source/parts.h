// The two panes of the source view. Only the sources of the source view use them.
#pragma once

#include "core/trace/mark_time.h"
#include "core/trace/row.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/source/source.h"

#include <optional>
#include <string>

namespace pallascope::layout {

// Where in the program the run is at a time.
struct SourceMoment
{
    trace::OptionalRow<trace::StepRow> step;
    trace::OptionalRow<trace::OperationRow>
        operation; // none in a pipeline's waits and step overhead
    trace::SourceLine line;
    std::string doing;
    Picoseconds elapsed, length;    // of the operation
    std::int32_t sm = trace::kNone; // where; kNone: the run has none
};

// In shown_lines.cpp: the file that is shown, and the first of its lines, of which `fit` have room.
[[nodiscard]] std::int32_t shownFile(const RunView& run, const ViewState& state,
                                     const SourceMoment& moment);
[[nodiscard]] std::int64_t firstShownLine(const RunView& run, const ViewState& state,
                                          const SourceMoment& moment, std::int32_t file,
                                          std::int64_t lines, std::int64_t fit);

void paintSourceLines(Canvas& canvas, const RunView& run, const ViewState& state,
                      const SourceMoment& moment, Rect area);
// What stands left of the lines that paintSourceLines paints.
[[nodiscard]] SourceGutter gutterOfShown(const RunView& run, const ViewState& state,
                                         const SourceMoment& moment);
void paintListing(Canvas& canvas, const RunView& run, const SourceMoment& moment, Rect area);

} // namespace pallascope::layout
