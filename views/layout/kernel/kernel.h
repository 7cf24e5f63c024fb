// Lays out the kernel view: the form of its parameters, the budget of its memory, and what other
// blocks would do.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

namespace pallascope::layout {

[[nodiscard]] Scene layoutKernel(const RunView& run, const ViewState& state, Size size);
// The same without the form, for the window, which has widgets for it.
[[nodiscard]] Scene layoutBudget(const RunView& run, const ViewState& state, Size size);

// How high that must be to show the budget and, where nothing ran, the choices that fit.
[[nodiscard]] double budgetHeight(const RunView& run, double width);

} // namespace pallascope::layout
