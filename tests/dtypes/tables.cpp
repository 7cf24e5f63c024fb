// Reads dtype_tables.json.
#include "tests/dtypes/tables.h"

#include "core/base/element.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <fmt/format.h>
#include <fstream>

namespace pallascope::dtype_test {

const nlohmann::json& tables()
{
    static const nlohmann::json kTables = nlohmann::json::parse(
        std::ifstream(std::string(PALLASCOPE_DTYPE_TESTS) + "/dtype_tables.json"));
    return kTables;
}

Codes codesOf(std::string_view digits, int bytes)
{
    const auto size = static_cast<std::size_t>(2 * bytes);
    Codes codes;
    for (std::size_t at = 0; at < digits.size(); at += size) {
        const auto code = std::stoul(std::string(digits.substr(at, size)), nullptr, 16);
        codes.push_back(static_cast<std::uint32_t>(code));
    }
    return codes;
}

std::string checksum(const Codes& codes)
{
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < codes.size(); ++i) {
        std::uint64_t x = codes[i] + (i << 32U);
        x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
        x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
        sum += x;
    }
    return fmt::format("{:016x}", sum);
}

std::uint32_t quieted(const FloatFormat& format, std::uint32_t code)
{
    const bool isNan =
        format.specials != Specials::None && format.specials != Specials::NegativeZero
        && (code & ~format.signBit()) > format.largestFinite()
        && !(format.specials == Specials::Ieee && (code & ~format.signBit()) == format.infinity());
    return isNan ? format.nan(code & format.signBit()) : code;
}

Array arrayOf(DType type, const Codes& codes)
{
    Array array = makeArray(type, {static_cast<Extent>(codes.size())});
    for (std::size_t i = 0; i < codes.size(); ++i) {
        writeCode(type, array.data.get(), static_cast<std::int64_t>(i), codes[i]);
    }
    return array;
}

Codes codesIn(DType type, const std::byte* data, std::int64_t count, bool signedNan)
{
    Codes codes;
    const FloatFormat& format = dtypeEntry(type).format;
    for (std::int64_t i = 0; i < count; ++i) {
        std::uint32_t code = readCode(type, data, i);
        if (isFloat(type)) {
            code = quieted(format, code);
            const bool isNan = std::isnan(readElement(type, data, i));
            code = isNan && !signedNan ? format.nan(0) : code;
        }
        codes.push_back(code);
    }
    return codes;
}

Codes allCodes(DType type)
{
    Codes codes(type == DType::Bool ? 2 : std::size_t{1} << static_cast<unsigned>(dtypeBits(type)));
    for (std::size_t i = 0; i < codes.size(); ++i) {
        codes[i] = static_cast<std::uint32_t>(i);
    }
    return codes;
}

} // namespace pallascope::dtype_test
