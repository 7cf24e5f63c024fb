// Lays out the verdict on the run, its findings, and what the kernel printed.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

namespace pallascope::layout {

[[nodiscard]] Scene layoutVerdict(const RunView& run, const ViewState& state, Size size);

// How high the view must be to show every finding, all of its text and its links; 0 if there are no
// findings.
[[nodiscard]] double findingsHeight(const RunView& run, double width);

} // namespace pallascope::layout
