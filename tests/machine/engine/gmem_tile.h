// The tiles of f32 that blocks of a GPU bring from GMEM in tests of its caches.
#pragma once

#include "core/base/shape.h"
#include "core/base/units.h"

namespace pallascope::machine_test {

inline constexpr Extent kTileRows = 64, kTileColumns = 64;
inline constexpr Bytes kTile{kTileRows * kTileColumns * 4};

} // namespace pallascope::machine_test
