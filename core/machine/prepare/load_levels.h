// What of a GPU's straight-line code waits for what it loads.
#pragma once

#include "core/ir/program.h"

#include <vector>

namespace pallascope::machine {

// Divides these operations at their loads from GMEM: each part needs nothing that it loads itself,
// and the parts before it load what it needs. Compilers issue loads as early as what they load is
// known, so a part has all operations that need no later load. Loads keep their order with stores.
[[nodiscard]] std::vector<std::vector<const ir::Operation*>>
dividedByLoads(const ir::Program& program, const std::vector<const ir::Operation*>& operations);

} // namespace pallascope::machine
