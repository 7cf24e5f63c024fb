// The kernel: its form, the budget of its memory, what other blocks would do.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

namespace pallascope::layout {

[[nodiscard]] Scene layoutKernel(const RunView& run, const ViewState& state, Size size);
// The same without the form, which the window has as widgets.
[[nodiscard]] Scene layoutBudget(const RunView& run, const ViewState& state, Size size);

} // namespace pallascope::layout
