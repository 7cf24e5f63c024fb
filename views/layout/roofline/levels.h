// How much has moved over what a ceiling of the roofline stands for.
#pragma once

#include "views/layout/run/run_view.h"

namespace pallascope::layout::roofline {

// Bytes by t over the links of a ceiling; 0 for load and store units, of which the trace has the
// busy time only.
[[nodiscard]] double movedOver(const RunView& run, const analysis::Ceiling& ceiling, Picoseconds t);

} // namespace pallascope::layout::roofline
