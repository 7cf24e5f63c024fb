// The lowest part of the kernel view. Used by kernel.cpp alone.
#pragma once

#include "views/layout/canvas.h"
#include "views/layout/run_view.h"

namespace pallascope::layout {

// The table of alternatives from `y` down, the current run highlighted in it; nothing where fewer
// than two rows would fit.
void paintChoices(Canvas& canvas, const RunView& run, double y);

} // namespace pallascope::layout
