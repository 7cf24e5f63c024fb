// What the sources of the kernel view share.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"

#include <string>

namespace pallascope::layout {

[[nodiscard]] inline TextStyle smallText(Role role, Align align = Align::Left)
{
    return {10, role, Weight::Regular, align};
}

// A line across the view, the title of what follows, and a note at the right. Returns the y below.
double paintHeading(Canvas& canvas, double y, const std::string& title, const std::string& note);

// The table of alternatives from `y` down, with the current run highlighted in it, or where nothing
// ran those that fit, the nearest first. Paints nothing if fewer than two rows would fit. Returns
// the y below it.
double paintChoices(Canvas& canvas, const RunView& run, double y);

// How many blocks of a kernel for a GPU an SM runs at a time and what limits them, from y down if
// there is room. Returns the y below it.
double paintOccupancy(Canvas& canvas, const RunView& run, const ViewState& state, double y);

// The loops of the kernel under the playhead from y down, as many as have room; each row leads to
// the loop's next round. Returns the y below them. Then what they would like to have.
double paintLoops(Canvas& canvas, const RunView& run, const ViewState& state, double y);
[[nodiscard]] double loopsHeight(const RunView& run, const ViewState& state);

} // namespace pallascope::layout
