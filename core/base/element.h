// Reads, writes and converts single elements as numbers. A double holds every value of every dtype
// exactly, so scalars, literals and the general paths use doubles. Loops over whole arrays are in
// core/machine/arith.
#pragma once

#include "core/base/dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pallascope {

// The smallest and the largest value of an integer type or bool.
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

// The low bits of `value`, read as a number of the integer type.
[[nodiscard]] constexpr std::int64_t wrapInteger(DType type, std::int64_t value)
{
    const std::int64_t span = std::int64_t{1} << dtypeBits(type);
    const std::int64_t low = value & (span - 1);
    return low > highestInteger(type) ? low - span : low;
}

// The smallest and the largest value: infinities if the float type has them. They are what max and
// min over no elements return.
[[nodiscard]] double lowestNumber(DType type);
[[nodiscard]] double highestNumber(DType type);

// The value of each 8-bit code of a float of 8 bits or fewer.
[[nodiscard]] const std::array<float, 256>& narrowFloatValues(DType type);

// Element `index` of an array of dtypeBytes(type) bytes each. Writing to a float rounds to nearest
// (ties to even; the double is first rounded to binary32). Writing a whole number to an integer
// type wraps it. For bool everything but 0 is true.
[[nodiscard]] inline double readElement(DType type, const std::byte* data, std::int64_t index);
inline void writeElement(DType type, std::byte* data, std::int64_t index, double value);

// The value that readElement returns after writeElement.
[[nodiscard]] inline double roundTo(DType type, double value);

// As JAX's convert_element_type. Floats become integers by rounding towards zero; they saturate,
// and NaN becomes 0. Integers wrap to narrower types. For bool everything is true but 0 and floats
// that are subnormal in f32. Floats round to the nearest, ties to even.
[[nodiscard]] double convertNumber(DType from, DType to, double value);

// The bits of an element in the low dtypeBits(type) bits, with zeros above.
[[nodiscard]] inline std::uint32_t readCode(DType type, const std::byte* data, std::int64_t index);
inline void writeCode(DType type, std::byte* data, std::int64_t index, std::uint32_t code);

// What memory holds before it is written. "nan" and "zero" are JAX's uninitialized_memory of the
// TPU interpreter ("nan": NaN, the largest integer, true). "min" and "max" are the smallest and the
// largest integer; "min" is what interpret=True shows: NaN, the smallest integer, false. Floats are
// NaN for all but "zero".
enum class Fill : std::uint8_t
{
    Nan,
    Zero,
    Min,
    Max
};

[[nodiscard]] double fillNumber(DType type, Fill fill); // a value of the dtype

namespace detail {

// These handle every dtype. The inline functions below do the same faster for the most frequent
// dtypes.
[[nodiscard]] double numberOf(DType type, std::uint32_t code);
[[nodiscard]] std::uint32_t codeOf(DType type, double value);

} // namespace detail

inline double readElement(DType type, const std::byte* data, std::int64_t index)
{
    if (type == DType::F32) {
        float value;
        std::memcpy(&value, data + index * 4, sizeof(value));
        return static_cast<double>(value);
    }
    return detail::numberOf(type, readCode(type, data, index));
}

inline void writeElement(DType type, std::byte* data, std::int64_t index, double value)
{
    if (type == DType::F32) {
        const auto single = static_cast<float>(value);
        std::memcpy(data + index * 4, &single, sizeof(single));
        return;
    }
    writeCode(type, data, index, detail::codeOf(type, value));
}

inline double roundTo(DType type, double value)
{
    if (type == DType::F32) {
        return static_cast<double>(static_cast<float>(value));
    }
    return detail::numberOf(type, detail::codeOf(type, value));
}

inline std::uint32_t readCode(DType type, const std::byte* data, std::int64_t index)
{
    const int bytes = dtypeBytes(type);
    const std::byte* at = data + index * bytes;
    if (bytes == 4) {
        std::uint32_t code;
        std::memcpy(&code, at, sizeof(code));
        return code;
    }
    if (bytes == 2) {
        std::uint16_t code;
        std::memcpy(&code, at, sizeof(code));
        return code;
    }
    return static_cast<std::uint32_t>(*at) & ((1U << static_cast<unsigned>(dtypeBits(type))) - 1);
}

inline void writeCode(DType type, std::byte* data, std::int64_t index, std::uint32_t code)
{
    const int bytes = dtypeBytes(type);
    std::byte* at = data + index * bytes;
    if (bytes == 4) {
        std::memcpy(at, &code, sizeof(code));
    } else if (bytes == 2) {
        const auto half = static_cast<std::uint16_t>(code);
        std::memcpy(at, &half, sizeof(half));
    } else {
        *at = static_cast<std::byte>(code);
    }
}

} // namespace pallascope
