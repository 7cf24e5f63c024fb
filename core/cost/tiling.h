// Tiles: how arrays are padded on chip and how copies are rounded at array edges. The rule is JAX's
// infer_tiling (jax/_src/pallas/mosaic/pipeline.py, COMPACT): the last axis in whole lanes, the one
// before it in a power of two of rows that grows from the packing to the tile's rows.
#pragma once

#include "core/base/dtype.h"
#include "core/base/shape.h"
#include "core/base/units.h"
#include "core/chip/chip.h"

#include <vector>

namespace pallascope::cost {

// Tile extents for an array of this dtype and shape, one per axis (1 on leading axes). `native` is
// the memory's tile of 32-bit elements, {8, 128} for example; empty: no tiling.
[[nodiscard]] std::vector<Extent> tiling(DType dtype, const Shape& shape,
                                         const std::vector<std::int64_t>& native);

// Every axis rounded up to its tile.
[[nodiscard]] Shape padded(const Shape& shape, const std::vector<Extent>& tile);

[[nodiscard]] Bytes paddedBytes(DType dtype, const Shape& shape,
                                const std::vector<std::int64_t>& native);

// The same with the axis in the lanes that pads least.
[[nodiscard]] Bytes compactBytes(DType dtype, const Shape& shape,
                                 const std::vector<std::int64_t>& native);

// Of the first memory of a chip that has one; empty: none has.
[[nodiscard]] const std::vector<std::int64_t>& nativeTile(const chip::Chip& chip);

} // namespace pallascope::cost
