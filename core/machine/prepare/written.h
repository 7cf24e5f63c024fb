// Which arrays a program, or one operation of it, writes to. No two accesses of any other array can
// conflict.
#pragma once

#include "core/ir/program.h"
#include "core/machine/needed.h"

#include <cstdint>
#include <vector>

namespace pallascope::machine {

// By ValueId, for roots of refs (NeededSet::root): whether a store, a copy or a pipeline's
// write-back may write there.
[[nodiscard]] std::vector<bool> writtenRoots(const ir::Program& program, const NeededSet& refs);
// The same for one operation and everything nested in it.
[[nodiscard]] std::vector<bool> writtenRoots(const ir::Program& program,
                                             const ir::Operation& operation, const NeededSet& refs);

// By ValueId, for roots of refs: how many operations copy to them from nearer memory. If only one
// does, nothing else can write the parts that it leaves out.
[[nodiscard]] std::vector<std::int32_t> broughtTo(const ir::Program& program,
                                                  const NeededSet& refs);

} // namespace pallascope::machine
