// The sections of the verdict view. Each is painted from `y` down and returns the y below it, so
// that painting it on a scratch canvas measures it. Only the sources of the verdict view use them.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/canvas.h"

namespace pallascope::layout {

// What differs from a kept run, down to `bottom`: where there is little room, numbers that are the
// same go first. Paints nothing if none is kept.
double paintDifferences(Canvas& canvas, const RunView& run, const ViewState& state, double y,
                        double bottom);
// The time split as a bar and as a table that sums to the run.
double paintTimeSplit(Canvas& canvas, const RunView& run, double y);
// What would help most, as an action with its modelled time. Paints nothing if nothing would help.
double paintHelp(Canvas& canvas, const RunView& run, double y);
// The way from the roofline to the run with a bar for each loss, and which losses a kernel could
// save.
double paintLosses(Canvas& canvas, const RunView& run, double y);
double paintTraffic(Canvas& canvas, const RunView& run, double y);
// One row per finding down to `bottom`, and then how many more there are.
double paintFindings(Canvas& canvas, const RunView& run, const ViewState& state, double y,
                     double bottom);
// What the kernel printed: some lines around the playhead. Paints nothing if the kernel printed
// nothing.
double paintPrints(Canvas& canvas, const RunView& run, const ViewState& state, double y);
// Which checks ran if there are no findings, and then the results of the comparison with the
// reference and of JAX's own lowering for a TPU.
double paintChecks(Canvas& canvas, const RunView& run, double y);

// The checks that every run makes, and the checks that need all values (values `full`).
[[nodiscard]] const std::vector<std::string>& structuralChecks(bool isGpu);
[[nodiscard]] const std::vector<std::string>& valueChecks();
// How many checks a run without findings has passed; the comparison with the reference is one of
// them.
[[nodiscard]] std::size_t passedChecks(const RunView& run);

} // namespace pallascope::layout
