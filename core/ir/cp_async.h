// Which copies into SMEM a warpgroup makes itself.
#pragma once

#include "core/ir/program.h"

namespace pallascope::ir {

// Whether it is a copy of cp.async, which wait_gmem_to_smem waits for, and not one of the TMA,
// which arrives on a barrier.
[[nodiscard]] inline bool isCpAsync(const Operation& operation)
{
    return operation.code == OpCode::CopyGmemToSmem && operation.operands.size() == 2;
}

} // namespace pallascope::ir
