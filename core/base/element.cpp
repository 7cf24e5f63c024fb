#include "core/base/element.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace pallascope {

namespace {

constexpr std::array<std::string_view, 4> kFillNames{"nan", "zero", "min", "max"};

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

template<class T>
T read(const std::byte* data, std::int64_t index)
{
    T value;
    std::memcpy(&value, data + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return value;
}

template<class T>
void write(std::byte* data, std::int64_t index, T value)
{
    std::memcpy(data + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

std::uint32_t lowBits(DType type)
{
    return 0xffff'ffffU >> static_cast<unsigned>(32 - dtypeBits(type));
}

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

} // namespace

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

double readElement(DType type, const std::byte* data, std::int64_t index)
{
    return numberOf(type, readCode(type, data, index));
}

void writeElement(DType type, std::byte* data, std::int64_t index, double value)
{
    writeCode(type, data, index, codeOf(type, value));
}

double roundTo(DType type, double value)
{
    return numberOf(type, codeOf(type, value));
}

double convertNumber(DType from, DType to, double value)
{
    if (!isFloat(from) || !isInteger(to)) {
        return roundTo(to, value);
    }
    if (std::isnan(value)) {
        return 0;
    }
    return std::trunc(std::fmin(std::fmax(value, lowestNumber(to)), highestNumber(to))) + 0.0;
}

std::uint32_t readCode(DType type, const std::byte* data, std::int64_t index)
{
    switch (dtypeBytes(type)) {
    case 4:
        return read<std::uint32_t>(data, index);
    case 2:
        return read<std::uint16_t>(data, index);
    default:
        return read<std::uint8_t>(data, index) & lowBits(type);
    }
}

void writeCode(DType type, std::byte* data, std::int64_t index, std::uint32_t code)
{
    switch (dtypeBytes(type)) {
    case 4:
        write(data, index, code);
        return;
    case 2:
        write(data, index, static_cast<std::uint16_t>(code));
        return;
    default:
        write(data, index, static_cast<std::uint8_t>(code));
        return;
    }
}

std::string_view fillName(Fill fill)
{
    return kFillNames[static_cast<std::size_t>(fill)];
}

std::optional<Fill> fillFromName(std::string_view name)
{
    for (std::size_t i = 0; i < kFillNames.size(); ++i) {
        if (kFillNames[i] == name) {
            return static_cast<Fill>(i);
        }
    }
    return std::nullopt;
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
