// What a pipeline's grid, block specs and schedule allow together; part of ir::verify.
#pragma once

#include "core/base/result.h"
#include "core/ir/program.h"

namespace pallascope::ir {

// `pipeline` holds PipelineParams and as many operands, regions and block refs as they ask for.
[[nodiscard]] Status checkPipeline(const Program& program, const Operation& pipeline);

} // namespace pallascope::ir
