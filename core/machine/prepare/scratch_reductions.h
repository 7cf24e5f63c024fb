// Which reductions of a program go through a scratch that several warpgroups of a GPU share.
#pragma once

#include "core/chip/chip.h"
#include "core/ir/program.h"

#include <set>

namespace pallascope::machine {

// Those of an array to one number, in core_maps whose blocks several warpgroups run. Whether the
// elements along one axis alone lie in several warps depends on layouts, which a program does not
// have; those of all axes together do. An array that repeats one number needs no scratch.
[[nodiscard]] std::set<const ir::Operation*> scratchReductions(const ir::Program& program,
                                                               const chip::Chip& chip);

} // namespace pallascope::machine
