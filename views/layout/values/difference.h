// The difference of what two refs hold, as a view of values of its own.
#pragma once

#include "views/layout/values/scan.h"

namespace pallascope::layout::values {

// Element by element, in f32, of two refs of one shape. An element that either ref does not define
// is undefined, and one that either waits for is on its way. Where both are the same Inf, the
// difference is NaN.
[[nodiscard]] ValuesView differenceOf(const ValuesView& from, const ValuesView& subtracted);

} // namespace pallascope::layout::values
