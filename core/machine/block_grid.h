// What a trace says about the blocks of a kernel for GPUs.
#pragma once

#include "core/cost/block_grid.h"
#include "core/trace/info.h"

namespace pallascope::machine {

// `source` is the place of the core_map.
[[nodiscard]] trace::BlockGrid recorded(const cost::BlockGrid& grid, trace::SourceLine source);

} // namespace pallascope::machine
