// Which copies into SMEM a warpgroup makes itself, and how.
#pragma once

#include "core/ir/program.h"

namespace pallascope::ir {

// Whether it is a copy of cp.async, which wait_gmem_to_smem waits for, and not one of the TMA,
// which arrives on a barrier.
[[nodiscard]] inline bool isCpAsync(const Operation& operation)
{
    return operation.code == OpCode::CopyGmemToSmem && operation.operands.size() == 2;
}

// Whether it is a copy into SMEM with a mask, which says for each element whether it is copied.
[[nodiscard]] inline bool isMaskedCopy(const Program& program, const Operation& operation)
{
    if (operation.code != OpCode::CopyGmemToSmem) {
        return false;
    }
    const Type& last = program.type(operation.operands.back());
    return !last.isRef() && last.shape.rank() > 0;
}

} // namespace pallascope::ir
