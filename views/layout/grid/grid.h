// Lays out the grid view: every block of every operand, and where in them the kernel is.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

namespace pallascope::layout {

[[nodiscard]] Scene layoutGrid(const RunView& run, const ViewState& state, Size size);

} // namespace pallascope::layout
