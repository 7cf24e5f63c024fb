// The kernels of the level that runs now (see DotLevel in dot.h).
#pragma once

#include "core/machine/arith/kernels.h"

namespace pallascope::arith {

[[nodiscard]] const Kernels& activeKernels();

} // namespace pallascope::arith
