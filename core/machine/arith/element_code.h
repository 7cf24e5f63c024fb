// How the products of dot.h read each dtype.
#pragma once

#include "core/base/dtype.h"
#include "core/machine/arith/kernels.h"

namespace pallascope::arith {

// For int32 and the dtypes that products read (see dot.h).
[[nodiscard]] const ElementCode& elementCode(DType dtype);

} // namespace pallascope::arith
