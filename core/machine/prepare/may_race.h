// Decides from the program alone whether two of its accesses can be unordered. If they cannot, a
// run need not track races.
#pragma once

#include "core/ir/program.h"
#include "core/machine/needed.h"

namespace pallascope::machine {

// False only if no run can have a race. That needs one pipeline on one core whose schedule waits
// for each slot; each array is read or written by one operand only; the index maps do not load what
// the pipeline writes; and no two write-backs that are under way at the same time touch the same
// elements.
[[nodiscard]] bool mayRace(const ir::Program& program, const NeededSet& refs);

} // namespace pallascope::machine
