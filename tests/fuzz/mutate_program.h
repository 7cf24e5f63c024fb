// Changes of kernels that keep their types in step, so that more of them are legal than of files
// with changed text.
#pragma once

#include "core/ir/program.h"
#include "tests/fuzz/mutate.h"

namespace pallascope::fuzz {

// One to five operations with other parameters, operands or codes, put in, taken out, repeated or
// inside loops and branches; other sizes, dtypes and literals.
[[nodiscard]] ir::Program mutatedProgram(ir::Program program, Random& random);

} // namespace pallascope::fuzz
