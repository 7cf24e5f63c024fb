#include "core/base/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pallascope {

namespace {

float floatOf(std::uint32_t bits)
{
    return std::bit_cast<float>(bits);
}

TEST(DTypeTest, everyBf16SurvivesTheWayThroughFloat)
{
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto value = static_cast<std::uint16_t>(bits);
        const float wide = bf16ToFloat(value);
        if (std::isnan(wide)) {
            EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(wide)))) << std::hex << bits;
            EXPECT_EQ(floatToBf16(wide) >> 15U, bits >> 15U) << "the sign of a NaN is kept";
        } else {
            EXPECT_EQ(floatToBf16(wide), value) << std::hex << bits;
        }
    }
}

TEST(DTypeTest, midpointsGoToTheEvenNeighbourAndNothingElseDoes)
{
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        if ((bits & 0x7f80U) == 0x7f80U) {
            continue; // infinities and NaN have no neighbour above
        }
        const std::uint32_t below = bits << 16U;
        const auto even = static_cast<std::uint16_t>((bits & 1U) == 0 ? bits : bits + 1);
        ASSERT_EQ(floatToBf16(floatOf(below | 0x8000U)), even) << std::hex << bits;
        ASSERT_EQ(floatToBf16(floatOf(below | 0x7fffU)), bits) << std::hex << bits;
        ASSERT_EQ(floatToBf16(floatOf(below | 0x8001U)), bits + 1) << std::hex << bits;
    }
}

TEST(DTypeTest, theLargestFloatsRoundToInfinityAndNanStaysNan)
{
    EXPECT_EQ(floatToBf16(std::numeric_limits<float>::max()), 0x7f80);
    EXPECT_EQ(floatToBf16(-std::numeric_limits<float>::infinity()), 0xff80);
    // A NaN whose payload lies in the lower half only must not become infinity.
    EXPECT_EQ(floatToBf16(floatOf(0x7f80'0001U)), 0x7fc0);
    EXPECT_EQ(floatToBf16(floatOf(0xff80'ffffU)), 0xffc0);
    EXPECT_EQ(floatToBf16(-0.0F), 0x8000);
}

TEST(DTypeTest, floatsConvertToInt32AsXlaDoes)
{
    EXPECT_EQ(floatToInt32(2.9F), 2);
    EXPECT_EQ(floatToInt32(-2.9F), -2);
    EXPECT_EQ(floatToInt32(std::nanf("")), 0);
    EXPECT_EQ(floatToInt32(2147483648.0F), 2147483647);
    EXPECT_EQ(floatToInt32(2147483520.0F), 2147483520); // the last float below
    EXPECT_EQ(floatToInt32(-2147483648.0F), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(floatToInt32(-3e9F), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(floatToInt32(std::numeric_limits<float>::infinity()), 2147483647);
}

TEST(DTypeTest, namesGoBothWays)
{
    for (const DType type : {DType::F32, DType::BF16, DType::Int32, DType::Bool}) {
        EXPECT_EQ(dtypeFromName(dtypeName(type)), type);
        EXPECT_EQ(dtypeFromName(jaxprName(type)), type);
    }
    EXPECT_EQ(dtypeFromName("f16"), std::nullopt);
    EXPECT_EQ(dtypeFromName(""), std::nullopt);
    EXPECT_EQ(dtypeBytes(DType::BF16), 2);
    EXPECT_EQ(dtypeBytes(DType::Bool), 1);
    EXPECT_EQ(dtypeBits(DType::Int32), 32);
    EXPECT_TRUE(isFloat(DType::BF16));
    EXPECT_FALSE(isFloat(DType::Int32));
}

} // namespace

} // namespace pallascope
