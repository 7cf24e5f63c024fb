// Makes the table that tells the kernels how to read each dtype.
#include "core/machine/arith/element_code.h"

#include "core/machine/arith/dot.h"

#include <array>
#include <bit>

namespace pallascope::arith {

namespace {

// Requires a dtype that the kernels read.
constexpr ElementCode codeOf(DType dtype)
{
    const DTypeEntry& entry = dtypeEntry(dtype);
    const FloatFormat& format = entry.format;
    const std::uint32_t codes = 0xffffffffU >> static_cast<unsigned>(32 - entry.bits);
    if (entry.bits == 32 || dtype == DType::BF16) {
        return {entry.bits == 32 ? ElementKind::Bits32 : ElementKind::Bf16, 0, 0, {}};
    }
    if (entry.kind != DTypeKind::Float) {
        const bool isSigned = entry.kind == DTypeKind::Signed;
        return {.kind = ElementKind::Whole,
                .wholeMask = codes,
                .wholeSign = isSigned ? codes / 2 + 1 : 0,
                .floats = {}};
    }
    if (entry.bits == 16) {
        return {ElementKind::Float16, 0, 0, {}};
    }
    constexpr FloatFormat kHalf = dtypeEntry(DType::F16).format;
    const int down = kHalf.exponentBits - format.exponentBits;
    const auto fields = static_cast<unsigned>(15 - down);
    FloatCode code{.up = static_cast<std::uint16_t>(16 - entry.bits),
                   .down = static_cast<std::uint16_t>(down),
                   .mask = static_cast<std::uint16_t>(0x8000U | ((1U << fields) - 1U)),
                   .nanMask = 0,
                   .nanBits = 1, // never matches
                   .scale = powerOfTwo(kHalf.bias - format.bias)};
    if (format.specials == Specials::OneNan) { // NaN has ones in all fields
        const std::uint32_t nan =
            (format.signBit() - 1U)
            << static_cast<unsigned>(kHalf.mantissaBits - format.mantissaBits);
        code.nanMask = 0x7fff'ffffU;
        code.nanBits = std::bit_cast<std::uint32_t>(widen(kHalf, nan));
    } else if (format.specials == Specials::NegativeZero) {
        code.nanMask = ~0U;
        code.nanBits = 0x8000'0000U;
    }
    return {ElementKind::Float8, 0, 0, code};
}

constexpr auto kCodes = [] {
    std::array<ElementCode, kDTypes.size()> codes{};
    for (const DTypeEntry& entry : kDTypes) {
        codes[static_cast<std::size_t>(entry.type)] = codeOf(entry.type);
    }
    return codes;
}();

} // namespace

const ElementCode& elementCode(DType dtype)
{
    return kCodes[static_cast<std::size_t>(dtype)];
}

bool isNarrowWhole(DType dtype)
{
    return isInteger(dtype) && dtypeBits(dtype) <= 8;
}

bool readByProducts(DType dtype)
{
    return isFloat(dtype) || isNarrowWhole(dtype);
}

} // namespace pallascope::arith
