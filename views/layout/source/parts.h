// The two panes of the source view. Used by source.cpp alone.
#pragma once

#include "core/trace/mark_time.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"

#include <string>

namespace pallascope::layout {

// Where the program is at a time.
struct SourceMoment
{
    std::int32_t step = trace::kNone;      // row of Steps
    std::int32_t operation = trace::kNone; // none in a pipeline's waits and step overhead
    trace::SourceLine line;
    std::string doing;
    Picoseconds elapsed, length; // of the operation
};

void paintSourceLines(Canvas& canvas, const RunView& run, const ViewState& state,
                      const SourceMoment& moment, Rect area);
void paintListing(Canvas& canvas, const RunView& run, const SourceMoment& moment, Rect area);

} // namespace pallascope::layout
