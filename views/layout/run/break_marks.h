// The tags that say where breakpoints stop the run: below the strip of the whole run, and on the
// ruler of the time line. Tags in the source are the source view's own.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"

#include <functional>
#include <vector>

namespace pallascope::layout {

inline constexpr double kBreakWide = 7, kBreakHigh = 7; // px

struct BreakMark
{
    double left = 0; // px
    Picoseconds time;
    bool isOn = true; // else it is an outline
};

// A tag for each stop in a range of time, with its middle where `toX` says, which ascends. Where
// tags would lie on one another, only the first is there, and those that are on go first.
[[nodiscard]] std::vector<BreakMark> breakMarks(const ViewState& state, TimeRange range,
                                                const std::function<double(Picoseconds)>& toX);

// With their tops at y, pointing up at what lies above them, or down.
void paintBreakMarks(Canvas& canvas, const std::vector<BreakMark>& marks, double y, bool pointsUp);

// The names of the breakpoints that stop at a moment.
[[nodiscard]] std::vector<std::string> breaksAt(const ViewState& state, Picoseconds time);

} // namespace pallascope::layout
