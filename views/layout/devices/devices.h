// Lays out the devices of a run: where they stand in their mesh, what the links between them carry
// now, what each does, and for which one the others wait.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

namespace pallascope::layout {

[[nodiscard]] Scene layoutDevices(const RunView& run, const ViewState& state, Size size);

} // namespace pallascope::layout
