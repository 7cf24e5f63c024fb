// How many blocks of a kernel for a GPU an SM runs at a time.
#pragma once

#include "views/layout/run/run_view.h"

namespace pallascope::layout {

// Those of the kernel under the playhead; null where none is known.
[[nodiscard]] const trace::BlockGrid* blocksAt(const RunView& run, const ViewState& state);

} // namespace pallascope::layout
