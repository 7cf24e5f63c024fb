// Which arrays a program, or one operation of it, writes to: of the others no two accesses can
// conflict.
#pragma once

#include "core/ir/program.h"
#include "core/machine/needed.h"

#include <cstdint>
#include <vector>

namespace pallascope::machine {

// By ValueId, of roots of refs (NeededSet::root): a store, a copy or a pipeline's write-back goes
// there, at most.
[[nodiscard]] std::vector<bool> writtenRoots(const ir::Program& program, const NeededSet& refs);
// The same of an operation with what is nested in it.
[[nodiscard]] std::vector<bool> writtenRoots(const ir::Program& program,
                                             const ir::Operation& operation, const NeededSet& refs);

// By ValueId, of roots of refs: how many operations copy to them from nearer memory. Of what a
// single one brings there nothing else can bring the rest.
[[nodiscard]] std::vector<std::int32_t> broughtTo(const ir::Program& program,
                                                  const NeededSet& refs);

} // namespace pallascope::machine
