// Tiles: how arrays are padded on chip, and how copies are rounded at array edges. The rule is
// JAX's infer_tiling (jax/_src/pallas/mosaic/pipeline.py, COMPACT): the last axis is padded to
// whole lanes, and the axis before it to a power of two of rows, from the packing up to the tile's
// rows.
#pragma once

#include "core/base/dtype.h"
#include "core/base/shape.h"
#include "core/base/units.h"
#include "core/chip/chip.h"

#include <vector>

namespace pallascope::cost {

// The extents of a tile for an array of this dtype and shape, one for each axis (1 on leading
// axes). `native` is the memory's tile of 32-bit elements, for example {8, 128}; if it is empty
// there is no tiling.
[[nodiscard]] std::vector<Extent> tiling(DType dtype, const Shape& shape,
                                         const std::vector<std::int64_t>& native);

// The shape with every axis rounded up to its tile.
[[nodiscard]] Shape padded(const Shape& shape, const std::vector<Extent>& tile);

[[nodiscard]] Bytes paddedBytes(DType dtype, const Shape& shape,
                                const std::vector<std::int64_t>& native);

// The same, but with the axis in the lanes that needs the least padding.
[[nodiscard]] Bytes compactBytes(DType dtype, const Shape& shape,
                                 const std::vector<std::int64_t>& native);

// What a copy moves of an array whose last tiles are filled up: along an axis that it takes whole
// it moves the padding too, because a row of lanes is moved as a whole. Memory that pads a last
// axis of 64 elements to 128 lanes is read at half of its useful rate. Returns the ratio of what is
// moved to what is useful. `part` has the extents of what is copied, one for each axis of the
// array, as `tile` has.
[[nodiscard]] double movedWithPadding(const Shape& array, const std::vector<Extent>& part,
                                      const std::vector<Extent>& tile);

// The tile of the first memory of a chip that has one; empty if none has.
[[nodiscard]] const std::vector<std::int64_t>& nativeTile(const chip::Chip& chip);

} // namespace pallascope::cost
