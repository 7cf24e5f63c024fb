// Changes kernels and keeps their types consistent, so that more of them stay legal than of files
// with changed text.
#pragma once

#include "core/ir/program.h"
#include "tests/fuzz/mutate.h"

namespace pallascope::fuzz {

// Changes one to five operations: gives them other parameters, operands or codes; inserts, removes
// or repeats them; puts them into loops and branches. Also changes sizes, dtypes and literals.
[[nodiscard]] ir::Program mutatedProgram(ir::Program program, Random& random);

} // namespace pallascope::fuzz
