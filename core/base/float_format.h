// Floats narrower than binary32, described by a few numbers: widening and rounding work from the
// description alone, so a new format needs no code.
#pragma once

#include <bit>
#include <cstdint>

namespace pallascope {

// What stands where IEEE 754 has infinities and NaN. Beyond the largest finite number (after
// rounding to nearest, ties to even) a format goes to infinity if it has one, else to NaN, else it
// saturates: the rules of ml_dtypes and of JAX's astype.
enum class Specials : std::uint8_t
{
    Ieee,         // exponent all ones: infinity, or NaN with any mantissa
    OneNan,       // "fn": exponent and mantissa all ones is NaN, no infinity
    NegativeZero, // "fnuz": the code of -0 is the only NaN, no infinity, zero has no sign
    None          // finite numbers only; NaN becomes -0
};

// At most 8 exponent bits and 22 mantissa bits. The bias is that of binary32, 127, or from 1 on and
// so small that every subnormal is a normal binary32. Codes are in the low bits.
struct FloatFormat
{
    int exponentBits = 8;
    int mantissaBits = 23;
    int bias = 127;
    Specials specials = Specials::Ieee;

    [[nodiscard]] constexpr std::uint32_t signBit() const
    {
        return 1U << static_cast<unsigned>(exponentBits + mantissaBits);
    }

    [[nodiscard]] constexpr std::uint32_t infinity() const // Ieee only
    {
        return signBit() - (1U << static_cast<unsigned>(mantissaBits));
    }

    [[nodiscard]] constexpr std::uint32_t largestFinite() const
    {
        switch (specials) {
        case Specials::Ieee:
            return infinity() - 1;
        case Specials::OneNan:
            return signBit() - 2;
        case Specials::NegativeZero:
        case Specials::None:
            break;
        }
        return signBit() - 1;
    }

    // The quiet NaN with this sign (signBit() or 0) where NaN have one.
    [[nodiscard]] constexpr std::uint32_t nan(std::uint32_t sign) const
    {
        switch (specials) {
        case Specials::Ieee:
            return sign | infinity() | (1U << static_cast<unsigned>(mantissaBits - 1));
        case Specials::OneNan:
            return sign | (signBit() - 1);
        case Specials::NegativeZero:
        case Specials::None:
            break;
        }
        return signBit();
    }
};

// 2^exponent, from -126 to 127.
[[nodiscard]] constexpr float powerOfTwo(int exponent)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23U);
}

// Exact. Bits above the code are ignored.
[[nodiscard]] constexpr float widen(const FloatFormat& format, std::uint32_t code)
{
    const std::uint32_t magnitude = code & (format.signBit() - 1);
    // Without a branch: signs are not predictable.
    const std::uint32_t sign = (code & format.signBit()) << static_cast<unsigned>(
                                   31 - format.exponentBits - format.mantissaBits);
    if (format.specials == Specials::Ieee && magnitude >= format.infinity()) {
        const std::uint32_t fraction = magnitude - format.infinity();
        const auto up = static_cast<unsigned>(23 - format.mantissaBits);
        return std::bit_cast<float>(sign | 0x7f80'0000U | (fraction << up));
    }
    const bool isNan = format.specials == Specials::NegativeZero
                           ? sign != 0 && magnitude == 0
                           : magnitude > format.largestFinite();
    if (isNan) {
        return std::bit_cast<float>(sign | 0x7fc0'0000U);
    }
    // Nothing is computed with a binary32 that is subnormal: it might be taken for 0.
    const std::uint32_t fields = magnitude << static_cast<unsigned>(23 - format.mantissaBits);
    const auto up = static_cast<std::uint32_t>(127 - format.bias);
    std::uint32_t value = fields + (up << 23U);
    if (up != 0 && magnitude < 1U << static_cast<unsigned>(format.mantissaBits)) { // a subnormal
        const float steps = static_cast<float>(static_cast<std::int32_t>(magnitude));
        const float step = powerOfTwo(1 - format.bias - format.mantissaBits);
        value = std::bit_cast<std::uint32_t>(steps * step);
    }
    return std::bit_cast<float>(value | sign);
}

// To nearest, ties to even.
[[nodiscard]] constexpr std::uint32_t narrow(const FloatFormat& format, float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 31U)
                               << static_cast<unsigned>(format.exponentBits + format.mantissaBits);
    const std::uint32_t magnitude = bits & 0x7fff'ffffU;
    if (magnitude > 0x7f80'0000U) {
        return format.nan(sign);
    }
    const auto drop = static_cast<unsigned>(23 - format.mantissaBits);
    std::uint32_t code = 0;
    if (magnitude < static_cast<std::uint32_t>(128 - format.bias) << 23U) {
        // Subnormal: added to a number whose last place is the format's smallest step.
        const float step = powerOfTwo(24 - format.bias - format.mantissaBits);
        code = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + step)
               - std::bit_cast<std::uint32_t>(step);
    } else {
        const std::uint32_t odd = (magnitude >> drop) & 1U;
        code = ((magnitude + (1U << (drop - 1)) - 1 + odd) >> drop)
               - (static_cast<std::uint32_t>(127 - format.bias)
                  << static_cast<unsigned>(format.mantissaBits));
    }
    if (code > format.largestFinite()) {
        switch (format.specials) {
        case Specials::Ieee:
            return sign | format.infinity();
        case Specials::OneNan:
        case Specials::NegativeZero:
            return format.nan(sign);
        case Specials::None:
            code = format.largestFinite();
            break;
        }
    }
    return format.specials == Specials::NegativeZero && code == 0 ? 0 : sign | code;
}

} // namespace pallascope
