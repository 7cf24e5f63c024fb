// Lays out the strip of the whole run in the transport bar, and the strip with the verdict below
// it.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

namespace pallascope::layout {

// The latest time on the strip of the whole run: with a kept run, both have one scale.
[[nodiscard]] Picoseconds overviewEnd(const RunView& run, const ViewState& state);
[[nodiscard]] Scene layoutOverview(const RunView& run, const ViewState& state, Size size);
[[nodiscard]] Scene layoutVerdictStrip(const RunView& run, const ViewState& state, Size size);

} // namespace pallascope::layout
