// The kernels of the instruction level that is in use (see DotLevel in dot.h).
#pragma once

#include "core/machine/arith/kernels.h"

namespace pallascope::arith {

[[nodiscard]] const Kernels& activeKernels();

} // namespace pallascope::arith
