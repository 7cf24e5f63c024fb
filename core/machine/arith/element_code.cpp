#include "core/machine/arith/element_code.h"

#include "core/machine/arith/dot.h"

#include <array>

namespace pallascope::arith {

namespace {

// Of a dtype that the kernels read.
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
    const bool ieee = format.specials == Specials::Ieee;
    const bool zeroNan = format.specials == Specials::NegativeZero;
    const auto mantissa = static_cast<unsigned>(format.mantissaBits);
    return {.kind = entry.bits > 8 ? ElementKind::Float16 : ElementKind::Float8,
            .wholeMask = 0,
            .wholeSign = 0,
            .floats = {.sign = format.signBit(),
                       .signUp = 31U - static_cast<unsigned>(format.exponentBits) - mantissa,
                       .fieldsUp = 23U - mantissa,
                       .biasUp = static_cast<std::uint32_t>(127 - format.bias) << 23U,
                       .leastNormal = 1U << mantissa,
                       .step = powerOfTwo(1 - format.bias - format.mantissaBits),
                       .specialMask = zeroNan ? 2 * format.signBit() - 1 : format.signBit() - 1,
                       .leastSpecial = zeroNan ? format.signBit() : format.largestFinite() + 1,
                       .specials = zeroNan ? 1 : format.signBit() - 1 - format.largestFinite(),
                       .specialKeeps = ieee ? ~0U : 0U,
                       .specialBits = ieee ? 0x7f80'0000U : 0x7fc0'0000U}};
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
