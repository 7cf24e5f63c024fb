// Floats narrower than binary32, described by a few numbers. Widening and rounding need only that
// description, so a new format needs no code.
#pragma once

#include <bit>
#include <cstdint>

namespace pallascope {

// Which codes stand for infinities and NaN. A value beyond the largest finite number (after
// rounding to nearest, ties to even) becomes infinity if the format has one, otherwise NaN,
// otherwise the largest finite number. These are the rules of ml_dtypes and of JAX's astype.
enum class Specials : std::uint8_t
{
    Ieee,         // exponent all ones: infinity; with any mantissa bit set: NaN
    OneNan,       // "fn": exponent and mantissa all ones is NaN, no infinity
    NegativeZero, // "fnuz": the code of -0 is the only NaN, no infinity, zero has no sign
    None          // finite numbers only; NaN becomes -0
};

// A format has at most 8 exponent bits and 22 mantissa bits. Its bias is 127, as in binary32, or
// from 1 up to a number so small that every subnormal is a normal binary32. Codes are in the low
// bits.
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

    // The quiet NaN, with this sign (signBit() or 0) if the format's NaN have signs.
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

// The value of a code, exactly. Bits above the code are ignored.
[[nodiscard]] constexpr float widen(const FloatFormat& format, std::uint32_t code)
{
    const std::uint32_t magnitude = code & (format.signBit() - 1);
    // Written without a branch, because signs cannot be predicted.
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
    // No arithmetic uses a subnormal binary32: the processor may be set to treat it as 0.
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

// The code nearest to the value, ties to even.
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
        // A subnormal result: adding a number whose last place is the format's smallest step rounds
        // to that step.
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
