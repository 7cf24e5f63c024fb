// Elements as numbers. A double holds every value of every dtype exactly, so scalars, literals and
// the general paths work in doubles; loops over whole arrays are in core/machine/arith.
#pragma once

#include "core/base/dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pallascope {

// The range of an integer type or bool.
[[nodiscard]] constexpr std::int64_t lowestInteger(DType type)
{
    return dtypeEntry(type).kind == DTypeKind::Signed ? -(std::int64_t{1} << (dtypeBits(type) - 1))
                                                      : 0;
}

[[nodiscard]] constexpr std::int64_t highestInteger(DType type)
{
    switch (dtypeEntry(type).kind) {
    case DTypeKind::Signed:
        return (std::int64_t{1} << (dtypeBits(type) - 1)) - 1;
    case DTypeKind::Bool:
        return 1;
    case DTypeKind::Unsigned:
    case DTypeKind::Float:
        break;
    }
    return (std::int64_t{1} << dtypeBits(type)) - 1;
}

// The low bits of an integer, as a number of an integer type.
[[nodiscard]] constexpr std::int64_t wrapInteger(DType type, std::int64_t value)
{
    const std::int64_t span = std::int64_t{1} << dtypeBits(type);
    const std::int64_t low = value & (span - 1);
    return low > highestInteger(type) ? low - span : low;
}

// The least and greatest values: infinities where a float has them. What max and min over nothing
// return.
[[nodiscard]] double lowestNumber(DType type);
[[nodiscard]] double highestNumber(DType type);

// The value of each 8-bit code of a float of 8 bits or fewer.
[[nodiscard]] const std::array<float, 256>& narrowFloatValues(DType type);

// One element of dtypeBytes(type) bytes. Writing rounds to the nearest float (ties to even; doubles
// are rounded to binary32 first), wraps whole numbers to integers and makes all but 0 true.
[[nodiscard]] double readElement(DType type, const std::byte* data, std::int64_t index);
void writeElement(DType type, std::byte* data, std::int64_t index, double value);

// What reading returns after writing.
[[nodiscard]] double roundTo(DType type, double value);

// As JAX's convert_element_type: floats to integers towards zero, saturating, NaN to 0; integers to
// narrower ones wrap; all but 0 is true; floats round to the nearest, ties to even.
[[nodiscard]] double convertNumber(DType from, DType to, double value);

// The code of an element in the low dtypeBits(type) bits, zeros above.
[[nodiscard]] std::uint32_t readCode(DType type, const std::byte* data, std::int64_t index);
void writeCode(DType type, std::byte* data, std::int64_t index, std::uint32_t code);

// What memory holds before it is written: JAX's uninitialized_memory of the TPU interpreter ("nan":
// NaN, the largest integer, true; "zero"), and the least or greatest integers. "min" is what
// interpret=True shows: NaN, the least integer, false. Floats are NaN for all but "zero".
enum class Fill : std::uint8_t
{
    Nan,
    Zero,
    Min,
    Max
};

[[nodiscard]] std::string_view fillName(Fill fill);
[[nodiscard]] std::optional<Fill> fillFromName(std::string_view name);
[[nodiscard]] double fillNumber(DType type, Fill fill); // a value of the dtype

} // namespace pallascope
