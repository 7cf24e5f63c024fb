// Conversions between dtypes, bit by bit.
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
            continue; // infinities and NaN have no neighbour above them
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
    // A NaN whose payload lies only in the lower half must not become infinity.
    EXPECT_EQ(floatToBf16(floatOf(0x7f80'0001U)), 0x7fc0);
    EXPECT_EQ(floatToBf16(floatOf(0xff80'ffffU)), 0xffc0);
    EXPECT_EQ(floatToBf16(-0.0F), 0x8000);
}

TEST(DTypeTest, everyDtypeGoesByThreeNames)
{
    for (const DTypeEntry& entry : kDTypes) {
        EXPECT_EQ(dtypeFromName(entry.name), entry.type);
        EXPECT_EQ(dtypeFromName(entry.jaxpr), entry.type);
        EXPECT_EQ(dtypeFromName(entry.numpy), entry.type);
    }
    EXPECT_EQ(dtypeFromName("f8"), std::nullopt);
    EXPECT_EQ(dtypeFromName(""), std::nullopt);
    EXPECT_EQ(dtypeNames(),
              "f32, bf16, f16, f8e4m3fn, f8e5m2, f8e4m3b11fnuz, f4e2m1fn, int2, uint2, int4, "
              "uint4, int8, uint8, int16, uint16, int32, uint32 or bool");
}

TEST(DTypeTest, elementsBelowAByteArePackedInTheModelAndApartInArrays)
{
    EXPECT_EQ(dtypeBits(DType::Int4), 4);
    EXPECT_EQ(dtypeBytes(DType::Int4), 1);
    EXPECT_EQ(packedBytes(DType::Int4, 8), Bytes(4));
    EXPECT_EQ(packedBytes(DType::F4E2M1FN, 7), Bytes(4));
    EXPECT_EQ(packedBytes(DType::UInt4, 0), Bytes(0));
    EXPECT_EQ(packedBytes(DType::BF16, 7), Bytes(14));
    EXPECT_EQ(packedBytes(DType::Bool, 7), Bytes(7));
    EXPECT_EQ(packedBytes(DType::UInt4, std::int64_t{1} << 62U), Bytes(std::int64_t{1} << 61U));
}

} // namespace

} // namespace pallascope
