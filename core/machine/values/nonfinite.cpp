#include "core/machine/values/nonfinite.h"

#include <algorithm>
#include <cmath>

namespace pallascope::machine {

namespace {

NonFinite classOf(double number)
{
    return {std::isnan(number), std::isinf(number)};
}

// Formats whose codes above that of infinity are NaN, sign aside. Block by block, so that the loop
// over a block needs no branch.
template<class Word>
NonFinite scan(const Word* codes, const std::uint8_t* defined, std::int64_t count, Word infinity)
{
    constexpr Word kMagnitude = static_cast<Word>(~(Word{1} << (8 * sizeof(Word) - 1)));
    constexpr std::int64_t kBlock = 4096;
    NonFinite found;
    for (std::int64_t begin = 0; begin < count && !(found.nan && found.inf); begin += kBlock) {
        const std::int64_t end = std::min(count, begin + kBlock);
        Word nan = 0, inf = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            const auto magnitude = static_cast<Word>(codes[i] & kMagnitude);
            const Word counts = defined == nullptr ? Word{1} : defined[i];
            nan = static_cast<Word>(nan | (magnitude > infinity ? counts : Word{0}));
            inf = static_cast<Word>(inf | (magnitude == infinity ? counts : Word{0}));
        }
        found = {found.nan || nan != 0, found.inf || inf != 0};
    }
    return found;
}

NonFinite scanBytes(DType type, const std::uint8_t* codes, const std::uint8_t* defined,
                    std::int64_t count)
{
    const std::array<float, 256>& values = narrowFloatValues(type);
    NonFinite found;
    for (std::int64_t i = 0; i < count; ++i) {
        const NonFinite here = classOf(static_cast<double>(values[codes[i]]));
        if (here.any() && (defined == nullptr || defined[i] != 0)) {
            found = {found.nan || here.nan, found.inf || here.inf};
        }
    }
    return found;
}

} // namespace

NonFinite nonFiniteIn(const RuntimeValue& value)
{
    if (!isFloat(value.dtype) || value.shadow.none()) {
        return {};
    }
    if (value.isScalar()) {
        return classOf(value.scalar);
    }
    const std::uint8_t* const defined = value.shadow.all() ? nullptr : value.shadow.bytes();
    const std::int64_t count = value.elements();
    switch (value.dtype) {
    case DType::F32:
        return scan<std::uint32_t>(value.as<std::uint32_t>(), defined, count, 0x7f80'0000U);
    case DType::BF16:
        return scan<std::uint16_t>(value.as<std::uint16_t>(), defined, count, 0x7f80U);
    case DType::F16:
        return scan<std::uint16_t>(value.as<std::uint16_t>(), defined, count, 0x7c00U);
    default:
        return scanBytes(value.dtype, value.as<std::uint8_t>(), defined, count);
    }
}

std::int64_t countNonFinite(const RuntimeValue& value, bool nan)
{
    const auto is = [nan](double number) {
        const NonFinite kind = classOf(number);
        return nan ? kind.nan : kind.inf;
    };
    if (!isFloat(value.dtype) || value.shadow.none()) {
        return 0;
    }
    if (value.isScalar()) {
        return is(value.scalar) ? 1 : 0;
    }
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < value.elements(); ++i) {
        const bool defined = value.shadow.defines(i);
        found += defined && is(readElement(value.dtype, value.data.get(), i)) ? 1 : 0;
    }
    return found;
}

} // namespace pallascope::machine
