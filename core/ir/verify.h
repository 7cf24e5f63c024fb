// Checks that a program is well formed: every operand is defined before its use; every operation
// has the operands, parameters and regions that its opcode demands; types agree; pipelines are
// consistent.
#pragma once

#include "core/base/result.h"
#include "core/ir/program.h"

namespace pallascope::ir {

// An error is a user error: a sentence that starts with the source line.
[[nodiscard]] Status verify(const Program& program);

} // namespace pallascope::ir
