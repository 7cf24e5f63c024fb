// What a tooltip says about a target.
#pragma once

#include "views/layout/run/run_view.h"

#include <string>
#include <vector>

namespace pallascope::layout {

// The first line is shown strong; the last one has exact picoseconds or bytes. There are no lines
// for a target that is not in the run.
[[nodiscard]] std::vector<std::string> tooltip(const RunView& run, const ViewState& state,
                                               const Target& target);

} // namespace pallascope::layout
