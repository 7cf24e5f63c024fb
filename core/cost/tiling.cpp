// Computes tiles and padded sizes of arrays.
#include "core/cost/tiling.h"

#include <algorithm>

namespace pallascope::cost {

std::vector<Extent> tiling(DType dtype, const Shape& shape, const std::vector<std::int64_t>& native)
{
    std::vector<Extent> tile(shape.rank(), 1);
    if (native.size() != 2 || shape.rank() == 0) {
        return tile;
    }
    const Extent rows = native[0], lanes = native[1];
    const Extent packing = std::max<Extent>(1, 32 / dtypeBits(dtype));
    if (shape.rank() == 1) {
        tile[0] = packing * lanes;
        return tile;
    }
    Extent factor = packing;
    while (factor < std::min(shape[shape.rank() - 2], rows)) {
        factor *= 2;
    }
    tile[shape.rank() - 2] = factor;
    tile[shape.rank() - 1] = lanes;
    return tile;
}

Shape padded(const Shape& shape, const std::vector<Extent>& tile)
{
    Shape result = shape;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        result[axis] = alignTo(shape[axis], tile[axis]);
    }
    return result;
}

Bytes paddedBytes(DType dtype, const Shape& shape, const std::vector<std::int64_t>& native)
{
    return packedBytes(dtype, padded(shape, tiling(dtype, shape, native)).elements());
}

Bytes compactBytes(DType dtype, const Shape& shape, const std::vector<std::int64_t>& native)
{
    Bytes least = paddedBytes(dtype, shape, native);
    for (std::size_t lanes = 0; lanes + 1 < shape.rank(); ++lanes) {
        Shape turned = shape;
        for (std::size_t axis = lanes; axis + 1 < shape.rank(); ++axis) {
            turned[axis] = shape[axis + 1];
        }
        turned[shape.rank() - 1] = shape[lanes];
        least = std::min(least, paddedBytes(dtype, turned, native));
    }
    return least;
}

double movedWithPadding(const Shape& array, const std::vector<Extent>& part,
                        const std::vector<Extent>& tile)
{
    double ratio = 1;
    for (std::size_t axis = 0; axis < array.rank(); ++axis) {
        if (part[axis] == array[axis] && array[axis] > 0) {
            ratio *= static_cast<double>(alignTo(array[axis], tile[axis]))
                     / static_cast<double>(array[axis]);
        }
    }
    return ratio;
}

const std::vector<std::int64_t>& nativeTile(const chip::Chip& chip)
{
    static const std::vector<std::int64_t> kNone;
    const auto tiled =
        std::find_if(chip.memories.begin(), chip.memories.end(),
                     [](const chip::Memory& memory) { return !memory.tile.empty(); });
    return tiled == chip.memories.end() ? kNone : tiled->tile;
}

} // namespace pallascope::cost
