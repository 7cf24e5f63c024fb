// What a tooltip says about a target.
#pragma once

#include "views/layout/run/run_view.h"

#include <string>
#include <vector>

namespace pallascope::layout {

// First line strong; the last one has exact picoseconds or bytes. None for what is not in the run.
[[nodiscard]] std::vector<std::string> tooltip(const RunView& run, const ViewState& state,
                                               const Target& target);

} // namespace pallascope::layout
