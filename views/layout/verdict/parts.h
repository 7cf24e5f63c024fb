// The sections of the verdict view. Each paints from `y` and returns the y below it, so that
// painting on a scratch canvas measures it. Used by verdict.cpp alone.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"

namespace pallascope::layout {

// The time split as a bar and a table that sum to the run.
double paintTimeSplit(Canvas& canvas, const RunView& run, double y);
// What would help most, as an action with its modelled time; nothing when nothing would.
double paintHelp(Canvas& canvas, const RunView& run, double y);
// From the roofline to the run, a bar for each loss, and which of them a kernel could save.
double paintLosses(Canvas& canvas, const RunView& run, double y);
double paintTraffic(Canvas& canvas, const RunView& run, double y);
// One row per finding down to `bottom`; then how many more there are.
double paintFindings(Canvas& canvas, const RunView& run, const ViewState& state, double y,
                     double bottom);
// What the kernel printed, some lines about the playhead; nothing where it printed nothing.
double paintPrints(Canvas& canvas, const RunView& run, const ViewState& state, double y);
// No findings: which checks ran; then what the comparison with the reference and JAX's own lowering
// for a TPU said.
double paintChecks(Canvas& canvas, const RunView& run, double y);

// The checks that every run makes, and those that need values full.
[[nodiscard]] const std::vector<std::string>& structuralChecks();
[[nodiscard]] const std::vector<std::string>& valueChecks();
// How many a run without findings has passed, the comparison with the reference among them.
[[nodiscard]] std::size_t passedChecks(const trace::Info& info);

} // namespace pallascope::layout
