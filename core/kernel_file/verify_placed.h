// The verifier on a program from a file: its errors name the place in the file. Private to
// core/kernel_file.
#pragma once

#include "core/base/result.h"
#include "core/ir/program.h"

namespace pallascope::kernel_file {

// In program order, as a builder numbers them.
void numberOperations(ir::Program& program);

// Runs ir::verify, and limits the work of one operation.
[[nodiscard]] Status verifyPlaced(const ir::Program& program);

} // namespace pallascope::kernel_file
