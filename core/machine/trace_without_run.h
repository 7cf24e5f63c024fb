// The trace of a program that is not run: what a trace says before anything happens, and no event.
// It shows what a program would occupy and how it would cut its arrays, also where that does not
// fit the chip.
#pragma once

#include "core/base/result.h"
#include "core/chip/chip.h"
#include "core/ir/program.h"
#include "core/trace/trace.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pallascope::machine {

// `parameters` and their order: what the trace says about how the run was asked for.
// Errors: a user error for programs and chips that do not fit each other (a dtype, a memory that
// the chip lacks). Memories that are too small are none: what the blocks need is in the trace.
[[nodiscard]] Result<std::shared_ptr<const trace::Trace>>
traceWithoutRun(const ir::Program& program, const chip::Chip& chip,
                std::map<std::string, std::string> parameters,
                std::vector<std::string> parameterOrder);

} // namespace pallascope::machine
