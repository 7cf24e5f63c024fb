// Which arrays of a program anything writes to: of the others no two accesses can conflict.
#pragma once

#include "core/ir/program.h"

#include <vector>

namespace pallascope::machine {

// By ValueId, of refs that are no views: a store, a copy or a pipeline's write-back goes there, at
// most.
[[nodiscard]] std::vector<bool> writtenRefs(const ir::Program& program);

} // namespace pallascope::machine
