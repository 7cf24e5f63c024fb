// The grid: every block of every operand, and where the kernel is in them.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

namespace pallascope::layout {

[[nodiscard]] Scene layoutGrid(const RunView& run, const ViewState& state, Size size);

} // namespace pallascope::layout
