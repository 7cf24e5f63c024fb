// Checks that a pipeline's grid, block specs and schedule go together; part of ir::verify.
#pragma once

#include "core/base/result.h"
#include "core/ir/program.h"

namespace pallascope::ir {

// The caller has checked that `pipeline` has PipelineParams, and the operands, regions and block
// refs that they ask for.
[[nodiscard]] Status checkPipeline(const Program& program, const Operation& pipeline);

} // namespace pallascope::ir
