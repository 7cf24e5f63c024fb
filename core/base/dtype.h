// The element types of arrays and values: one table with their names, sizes and encodings.
#pragma once

#include "core/base/float_format.h"
#include "core/base/units.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pallascope {

enum class DType : std::uint8_t
{
    F32,
    BF16,
    F16,
    F8E4M3FN,
    F8E5M2,
    F8E4M3B11FNUZ,
    F4E2M1FN,
    Int2,
    UInt2,
    Int4,
    UInt4,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Bool
};

enum class DTypeKind : std::uint8_t
{
    Float,
    Signed,
    Unsigned,
    Bool
};

struct DTypeEntry
{
    DType type;
    std::string_view name;  // what this project prints: "f8e4m3fn", "int8"
    std::string_view jaxpr; // in listings of operations: "f8_e4m3fn", "i8"
    std::string_view numpy; // of NumPy with ml_dtypes: "float8_e4m3fn", "int8"
    int bits;               // of one element, packed in the model's memories
    DTypeKind kind;
    FloatFormat format{}; // of floats; narrower ones widen to f32
};

// clang-format off
inline constexpr std::array<DTypeEntry, 18> kDTypes{{
    {DType::F32, "f32", "f32", "float32", 32, DTypeKind::Float, {8, 23, 127, Specials::Ieee}},
    {DType::BF16, "bf16", "bf16", "bfloat16", 16, DTypeKind::Float, {8, 7, 127, Specials::Ieee}},
    {DType::F16, "f16", "f16", "float16", 16, DTypeKind::Float, {5, 10, 15, Specials::Ieee}},
    {DType::F8E4M3FN, "f8e4m3fn", "f8_e4m3fn", "float8_e4m3fn", 8, DTypeKind::Float, {4, 3, 7, Specials::OneNan}},
    {DType::F8E5M2, "f8e5m2", "f8_e5m2", "float8_e5m2", 8, DTypeKind::Float, {5, 2, 15, Specials::Ieee}},
    {DType::F8E4M3B11FNUZ, "f8e4m3b11fnuz", "f8_e4m3b11fnuz", "float8_e4m3b11fnuz", 8, DTypeKind::Float, {4, 3, 11, Specials::NegativeZero}},
    {DType::F4E2M1FN, "f4e2m1fn", "f4_e2m1fn", "float4_e2m1fn", 4, DTypeKind::Float, {2, 1, 1, Specials::None}},
    {DType::Int2, "int2", "i2", "int2", 2, DTypeKind::Signed},
    {DType::UInt2, "uint2", "u2", "uint2", 2, DTypeKind::Unsigned},
    {DType::Int4, "int4", "i4", "int4", 4, DTypeKind::Signed},
    {DType::UInt4, "uint4", "u4", "uint4", 4, DTypeKind::Unsigned},
    {DType::Int8, "int8", "i8", "int8", 8, DTypeKind::Signed},
    {DType::UInt8, "uint8", "u8", "uint8", 8, DTypeKind::Unsigned},
    {DType::Int16, "int16", "i16", "int16", 16, DTypeKind::Signed},
    {DType::UInt16, "uint16", "u16", "uint16", 16, DTypeKind::Unsigned},
    {DType::Int32, "int32", "i32", "int32", 32, DTypeKind::Signed},
    {DType::UInt32, "uint32", "u32", "uint32", 32, DTypeKind::Unsigned},
    {DType::Bool, "bool", "bool", "bool", 8, DTypeKind::Bool},
}};

// clang-format on

[[nodiscard]] constexpr const DTypeEntry& dtypeEntry(DType type)
{
    return kDTypes[static_cast<std::size_t>(type)];
}

[[nodiscard]] constexpr std::string_view dtypeName(DType type)
{
    return dtypeEntry(type).name;
}

[[nodiscard]] constexpr std::string_view jaxprName(DType type)
{
    return dtypeEntry(type).jaxpr;
}

// The dtype with this name, which may be any of its three names.
[[nodiscard]] std::optional<DType> dtypeFromName(std::string_view name);
[[nodiscard]] std::string dtypeNames(); // "f32, bf16, ... or bool", for messages

// Bits of one element in the model's memories, where elements narrower than a byte are packed.
[[nodiscard]] constexpr int dtypeBits(DType type)
{
    return dtypeEntry(type).bits;
}

// Bytes of one element in this program's own arrays. Elements narrower than a byte have one each,
// with the code in the low bits and zeros above, as NumPy stores them.
[[nodiscard]] constexpr int dtypeBytes(DType type)
{
    return (dtypeBits(type) + 7) / 8;
}

// The bytes that this many elements occupy in the model's memories and on its links.
[[nodiscard]] constexpr Bytes packedBytes(DType type, std::int64_t elements)
{
    const std::int64_t bits = dtypeBits(type);
    return Bytes(bits >= 8 ? elements * (bits / 8)
                           : elements / 8 * bits + (elements % 8 * bits + 7) / 8);
}

[[nodiscard]] constexpr bool isFloat(DType type)
{
    return dtypeEntry(type).kind == DTypeKind::Float;
}

// Signed or unsigned integers, not bool.
[[nodiscard]] constexpr bool isInteger(DType type)
{
    return dtypeEntry(type).kind == DTypeKind::Signed
           || dtypeEntry(type).kind == DTypeKind::Unsigned;
}

// bfloat16 is the upper half of a binary32. It rounds to nearest, ties to even; NaN stays NaN.
[[nodiscard]] constexpr float bf16ToFloat(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

[[nodiscard]] constexpr std::uint16_t floatToBf16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fff'ffffU) > 0x7f80'0000U) {
        // A quiet NaN; sign and payload are kept.
        return static_cast<std::uint16_t>((bits >> 16U) | 0x0040U);
    }
    const std::uint32_t rounding = 0x7fffU + ((bits >> 16U) & 1U);
    return static_cast<std::uint16_t>((bits + rounding) >> 16U);
}

} // namespace pallascope
