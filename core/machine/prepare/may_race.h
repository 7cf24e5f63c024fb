// Whether two accesses of a program can be without order, told from the program alone. Where they
// cannot, a run need not keep track of them.
#pragma once

#include "core/ir/program.h"
#include "core/machine/needed.h"

namespace pallascope::machine {

// False only where no run can have a race: one pipeline, on one core, whose schedule waits for each
// slot, whose arrays are each read or written by one operand, whose index maps load nothing that
// the pipeline writes, and of which no two write-backs that are on their way together touch the
// same elements.
[[nodiscard]] bool mayRace(const ir::Program& program, const NeededSet& refs);

} // namespace pallascope::machine
