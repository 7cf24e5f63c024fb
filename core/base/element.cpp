#include "core/base/element.h"

#include <cmath>
#include <limits>

namespace pallascope {

namespace {

using FloatValues = std::array<float, 256>;

constexpr std::array<FloatValues, kDTypes.size()> allFloatValues()
{
    std::array<FloatValues, kDTypes.size()> all{};
    for (const DTypeEntry& entry : kDTypes) {
        if (entry.kind != DTypeKind::Float || entry.bits > 8) {
            continue;
        }
        for (std::uint32_t code = 0; code < 256; ++code) {
            all[static_cast<std::size_t>(entry.type)][code] = widen(entry.format, code);
        }
    }
    return all;
}

constexpr auto kFloatValues = allFloatValues();

std::uint32_t lowBits(DType type)
{
    return 0xffff'ffffU >> static_cast<unsigned>(32 - dtypeBits(type));
}

} // namespace

namespace detail {

double numberOf(DType type, std::uint32_t code)
{
    if (type == DType::F32) {
        return static_cast<double>(std::bit_cast<float>(code));
    }
    if (type == DType::BF16) {
        return static_cast<double>(bf16ToFloat(static_cast<std::uint16_t>(code)));
    }
    if (isFloat(type)) {
        return static_cast<double>(widen(dtypeEntry(type).format, code));
    }
    return type == DType::Bool ? (code != 0 ? 1 : 0) : static_cast<double>(wrapInteger(type, code));
}

std::uint32_t codeOf(DType type, double value)
{
    if (isFloat(type)) {
        const auto single = static_cast<float>(value);
        return type == DType::F32    ? std::bit_cast<std::uint32_t>(single)
               : type == DType::BF16 ? floatToBf16(single)
                                     : narrow(dtypeEntry(type).format, single);
    }
    return type == DType::Bool
               ? (value != 0 ? 1U : 0U)
               : static_cast<std::uint32_t>(static_cast<std::int64_t>(value)) & lowBits(type);
}

} // namespace detail

double lowestNumber(DType type)
{
    if (!isFloat(type)) {
        return static_cast<double>(lowestInteger(type));
    }
    const FloatFormat& format = dtypeEntry(type).format;
    return format.specials == Specials::Ieee
               ? -std::numeric_limits<double>::infinity()
               : -static_cast<double>(widen(format, format.largestFinite()));
}

double highestNumber(DType type)
{
    return isFloat(type) ? -lowestNumber(type) : static_cast<double>(highestInteger(type));
}

const std::array<float, 256>& narrowFloatValues(DType type)
{
    return kFloatValues[static_cast<std::size_t>(type)];
}

double convertNumber(DType from, DType to, double value)
{
    if (isFloat(from) && to == DType::Bool) { // compared with 0, where f32 subnormals count as 0
        return std::fabs(value) < 0x1p-126 ? 0 : 1;
    }
    if (!isFloat(from) || !isInteger(to)) {
        return roundTo(to, value);
    }
    if (std::isnan(value)) {
        return 0;
    }
    return std::trunc(std::fmin(std::fmax(value, lowestNumber(to)), highestNumber(to))) + 0.0;
}

double fillNumber(DType type, Fill fill)
{
    if (fill == Fill::Zero) {
        return 0;
    }
    if (isFloat(type)) {
        return roundTo(type, std::numeric_limits<double>::quiet_NaN());
    }
    return fill == Fill::Min ? lowestNumber(type) : highestNumber(type);
}

} // namespace pallascope
