// Lays out the verdict on the run, its findings, and what the kernel printed.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

namespace pallascope::layout {

[[nodiscard]] Scene layoutVerdict(const RunView& run, const ViewState& state, Size size);

} // namespace pallascope::layout
