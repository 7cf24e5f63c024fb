#include "core/base/bitcast.h"

#include "core/base/check.h"
#include "core/base/element.h"

#include <algorithm>

namespace pallascope {

Result<Shape> bitcastShape(const Shape& shape, DType from, DType to)
{
    const std::string what =
        std::string(dtypeName(from)) + toString(shape) + " to " + std::string(dtypeName(to));
    if (from == DType::Bool || to == DType::Bool) {
        return userError("A bitcast of " + what + ": bool has no bits to cast; use numbers.");
    }
    if (dtypeBits(from) == dtypeBits(to)) {
        return shape;
    }
    if (shape.rank() < 2) {
        return userError("A bitcast of " + what
                         + " changes the number of rows; expected an array of rank 2 or more.");
    }
    Shape result = shape;
    Extent& rows = result[shape.rank() - 2];
    const std::int64_t bits = rows * dtypeBits(from);
    if (bits % dtypeBits(to) != 0) {
        return userError("A bitcast of " + what + ": " + std::to_string(rows) + " rows of "
                         + std::to_string(dtypeBits(from)) + " bits do not fill whole elements of "
                         + std::to_string(dtypeBits(to)) + " bits.");
    }
    rows = bits / dtypeBits(to);
    return result;
}

Array bitcast(const Array& array, DType to)
{
    const Result<Shape> shape = bitcastShape(array.shape, array.dtype, to);
    PALLASCOPE_CHECK(shape.has_value());
    Array result = makeArray(to, *shape);
    const int fromBits = dtypeBits(array.dtype), toBits = dtypeBits(to);
    const bool packs = fromBits < toBits;
    const auto ratio = std::int64_t{std::max(fromBits, toBits) / std::min(fromBits, toBits)};
    // Walks the wide array; its row i holds the narrow rows i * ratio to i * ratio + ratio - 1.
    const Shape& wide = packs ? result.shape : array.shape;
    const Extent columns = wide.rank() == 0 ? 1 : wide[wide.rank() - 1];
    const auto narrowBits = static_cast<unsigned>(std::min(fromBits, toBits));
    const std::uint32_t mask = 0xffff'ffffU >> (32U - narrowBits);
    for (std::int64_t element = 0; element < wide.elements(); ++element) {
        const std::int64_t row = element / columns, column = element % columns;
        std::uint32_t code = packs ? 0 : readCode(array.dtype, array.data.get(), element);
        for (std::int64_t part = 0; part < ratio; ++part) {
            const std::int64_t narrow = (row * ratio + part) * columns + column;
            const auto shift = static_cast<unsigned>(part) * narrowBits;
            if (packs) {
                code |= readCode(array.dtype, array.data.get(), narrow) << shift;
            } else {
                writeCode(to, result.data.get(), narrow, (code >> shift) & mask);
            }
        }
        if (packs) {
            writeCode(to, result.data.get(), element, code);
        }
    }
    return result;
}

} // namespace pallascope
