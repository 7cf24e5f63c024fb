// Bytes per second against each link, where a kernel computes no FLOPs.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"

namespace pallascope::layout::roofline {

// Bytes per second that the links of the roofline's memory have moved by then.
double memoryRate(const RunView& run, Picoseconds now);

// Paints as many links as fit from y to the bottom; returns the y below them.
double paintLinkRates(Canvas& canvas, const RunView& run, Picoseconds now, double y, double bottom);

} // namespace pallascope::layout::roofline
