// Lays out the memory view: what is in the slots, and what moves over the links.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

namespace pallascope::layout {

[[nodiscard]] Scene layoutMemory(const RunView& run, const ViewState& state, Size size);

} // namespace pallascope::layout
