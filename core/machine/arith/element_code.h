// How the products of dot.h read each dtype.
#pragma once

#include "core/base/dtype.h"
#include "core/machine/arith/kernels.h"

namespace pallascope::arith {

// Of dtypes that products read (see dot.h), and int32.
[[nodiscard]] const ElementCode& elementCode(DType dtype);

} // namespace pallascope::arith
