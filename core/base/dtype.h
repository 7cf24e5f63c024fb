// The element types of arrays and values, their names, sizes and rounding.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pallascope {

enum class DType : std::uint8_t
{
    F32,
    BF16,
    Int32,
    Bool
};

[[nodiscard]] std::string_view dtypeName(DType type); // "f32", "bf16", "int32", "bool"
[[nodiscard]] std::string_view jaxprName(DType type); // "f32", "bf16", "i32", "bool"
[[nodiscard]] std::optional<DType> dtypeFromName(std::string_view name);
[[nodiscard]] int dtypeBits(DType type);  // bits of one element as stored in an array
[[nodiscard]] int dtypeBytes(DType type); // bytes of one element as stored in an array
[[nodiscard]] bool isFloat(DType type);

// bfloat16 is the upper half of a binary32; rounding is to nearest, ties to even, NaN stays a NaN.
[[nodiscard]] constexpr float bf16ToFloat(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

[[nodiscard]] constexpr std::uint16_t floatToBf16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fff'ffffU) > 0x7f80'0000U) {
        return static_cast<std::uint16_t>((bits >> 16U) | 0x0040U); // quiet, sign and payload kept
    }
    const std::uint32_t rounding = 0x7fffU + ((bits >> 16U) & 1U);
    return static_cast<std::uint16_t>((bits + rounding) >> 16U);
}

// As XLA converts: towards zero, saturating, NaN to 0.
[[nodiscard]] std::int32_t floatToInt32(float value);

} // namespace pallascope
