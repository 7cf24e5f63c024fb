// Values as NumPy reads them: as text to be pasted into Python, or as a .npy file.
#pragma once

#include "core/base/result.h"
#include "views/layout/values/plane.h"
#include "views/layout/values/scan.h"

#include <string>

namespace pallascope::app {

// "np.array([[1.0, np.nan]], dtype=np.float32)" with a comment above it that says which elements
// they are. An undefined element, or one that has not arrived, is nan in an array of floats, and is
// masked in others.
[[nodiscard]] std::string numpyText(const layout::ValuesView& view,
                                    const layout::values::Plane& plane,
                                    const layout::values::Region& region);

// The bytes of a .npy file with the whole ref. NumPy has no way to say that an element is
// undefined: in an array of floats it is NaN; for others this is an error.
[[nodiscard]] Result<std::string> npyBytes(const layout::ValuesView& view);

} // namespace pallascope::app
