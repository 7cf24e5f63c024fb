// Widening and rounding of every narrow float, compared with ml_dtypes. They use only the
// description of the format, so formats that are not dtypes are tested, too.
#include "core/base/element.h"
#include "tests/dtypes/tables.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <map>

namespace pallascope::dtype_test {

namespace {

constexpr FloatFormat kF32{};

std::map<std::string, FloatFormat> formats()
{
    std::map<std::string, FloatFormat> all = {
        {"f8e4m3", {4, 3, 7, Specials::Ieee}},
        {"f8e3m4", {3, 4, 3, Specials::Ieee}},
        {"f8e4m3fnuz", {4, 3, 8, Specials::NegativeZero}},
        {"f8e5m2fnuz", {5, 2, 16, Specials::NegativeZero}},
        {"f6e2m3fn", {2, 3, 1, Specials::None}},
        {"f6e3m2fn", {3, 2, 3, Specials::None}},
    };
    for (const DTypeEntry& entry : kDTypes) {
        if (entry.kind == DTypeKind::Float && entry.type != DType::F32) {
            all[std::string(entry.name)] = entry.format;
        }
    }
    return all;
}

class FloatFormats : public testing::TestWithParam<std::string>
{
protected:
    FloatFormat m_format = formats().at(GetParam());
    const nlohmann::json& m_table = tables().at("floats").at(GetParam());
    int m_bits = m_format.exponentBits + m_format.mantissaBits + 1;
    int m_bytes = m_bits <= 8 ? 1 : 2;

    [[nodiscard]] Codes narrowed(const std::vector<float>& values) const
    {
        Codes codes;
        for (const float value : values) {
            codes.push_back(narrow(m_format, value));
        }
        return codes;
    }

    // `wanted` is a list of codes, or checksums of `part` codes each.
    void expectEqual(const Codes& found, const nlohmann::json& wanted, std::size_t part) const
    {
        if (wanted.is_string()) {
            const int bytes = static_cast<int>(wanted.get<std::string>().size() / 2 / found.size());
            EXPECT_EQ(found, codesOf(wanted.get<std::string>(), bytes));
            return;
        }
        ASSERT_EQ(wanted.size(), (found.size() + part - 1) / part);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const auto begin = found.begin() + static_cast<std::ptrdiff_t>(i * part);
            const auto end =
                found.begin() + static_cast<std::ptrdiff_t>(std::min((i + 1) * part, found.size()));
            EXPECT_EQ(checksum(Codes(begin, end)), wanted[i].get<std::string>())
                << "part " << i << " of " << wanted.size();
        }
    }
};

TEST_P(FloatFormats, everyCodeWidensAsInMlDtypes)
{
    Codes wide;
    for (std::uint32_t code = 0; code < 1U << static_cast<unsigned>(m_bits); ++code) {
        wide.push_back(quieted(kF32, std::bit_cast<std::uint32_t>(widen(m_format, code))));
    }
    expectEqual(wide, m_table.at("widen"), 256);
}

TEST_P(FloatFormats, everyCodeButNanSurvivesTheWayThroughF32)
{
    for (std::uint32_t code = 0; code < 1U << static_cast<unsigned>(m_bits); ++code) {
        const float wide = widen(m_format, code);
        if (!std::isnan(wide)) {
            ASSERT_EQ(narrow(m_format, wide), code);
        }
    }
}

// The same numbers as in `midpoints` in the script.
TEST_P(FloatFormats, midpointsAndTheirNeighboursRoundAsInMlDtypes)
{
    std::vector<double> values;
    for (std::uint32_t code = 0; code <= m_format.largestFinite(); ++code) {
        values.push_back(static_cast<double>(widen(m_format, code)));
    }
    values.push_back(2 * values.back() - values[values.size() - 2]);
    std::vector<float> points;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        const auto half = static_cast<float>((values[i] + values[i + 1]) / 2);
        constexpr float kUpwards = std::numeric_limits<float>::infinity();
        points.insert(points.end(), {static_cast<float>(values[i]), std::nextafter(half, 0.0F),
                                     half, std::nextafter(half, kUpwards)});
    }
    const std::size_t positive = points.size();
    for (std::size_t i = 0; i < positive; ++i) {
        points.push_back(-points[i]);
    }
    expectEqual(narrowed(points), m_table.at("midpoints"), 1024);
}

TEST_P(FloatFormats, infinitiesNanZerosAndExtremesRoundAsInMlDtypes)
{
    std::vector<float> values;
    for (const std::uint32_t bits :
         {0x00000000U, 0x80000000U, 0x00000001U, 0x80000001U, 0x007fffffU, 0x7f7fffffU, 0xff7fffffU,
          0x7f800000U, 0xff800000U, 0x7fc00000U, 0xffc00000U, 0x7f800001U, 0xff912345U}) {
        values.push_back(std::bit_cast<float>(bits));
    }
    EXPECT_EQ(narrowed(values), codesOf(m_table.at("special").get<std::string>(), m_bytes));
}

TEST_P(FloatFormats, floatsOfEverySizeRoundAsInMlDtypes)
{
    Codes codes;
    for (std::uint32_t i = 0; i < 1U << 20U; ++i) {
        codes.push_back(narrow(m_format, std::bit_cast<float>(i << 12U)));
    }
    expectEqual(codes, m_table.at("sweep"), 1U << 16U);
}

std::vector<std::string> names()
{
    std::vector<std::string> all;
    for (const auto& [name, format] : formats()) {
        all.push_back(name);
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, FloatFormats, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(FloatFormatTest, bf16IsTheUpperHalfOfF32AndRoundsAsItsFormatSays)
{
    const FloatFormat& format = dtypeEntry(DType::BF16).format;
    for (std::uint32_t i = 0; i < 1U << 20U; ++i) {
        const auto value = std::bit_cast<float>((i << 12U) + 0x777U);
        const std::uint32_t code = floatToBf16(value);
        if (std::isnan(value)) {
            ASSERT_EQ(quieted(format, code), narrow(format, value));
        } else {
            ASSERT_EQ(code, narrow(format, value)) << i;
        }
    }
}

TEST(FloatFormatTest, theTableHoldsEveryFormatOfTheScript)
{
    EXPECT_EQ(tables().at("floats").size(), formats().size());
}

} // namespace

} // namespace pallascope::dtype_test
