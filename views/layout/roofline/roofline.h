// Lays out the roofline: how much of what the chip allows the run has reached.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

namespace pallascope::layout {

[[nodiscard]] Scene layoutRoofline(const RunView& run, const ViewState& state, Size size);

} // namespace pallascope::layout
