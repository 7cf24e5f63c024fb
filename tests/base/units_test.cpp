// Units as types: which arithmetic they allow, and how they are converted.
#include "core/base/check.h"
#include "core/base/units.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace pallascope {

namespace {

template<class A, class B>
concept Addable = requires(A a, B b)
{
    a + b;
};

template<class A, class B>
concept Comparable = requires(A a, B b)
{
    a < b;
};
template<class To, class From>
concept Converts = std::is_convertible_v<From, To>;

static_assert(Addable<Cycles, Cycles>);
static_assert(!Addable<Cycles, Bytes>);
static_assert(!Addable<Picoseconds, Cycles>);
static_assert(!Addable<Picoseconds, std::int64_t>);
static_assert(!Comparable<Flops, Bytes>);
static_assert(!Converts<Bytes, std::int64_t>);
static_assert(!Converts<std::int64_t, Bytes>);
static_assert(!Converts<Picoseconds, Seconds>);

TEST(Units, countInTheirOwnUnit)
{
    EXPECT_EQ(Bytes(3) + Bytes(4), Bytes(7));
    EXPECT_EQ(Bytes(3) - Bytes(4), Bytes(-1));
    EXPECT_EQ(Cycles(5) * 3, 3 * Cycles(5));
    EXPECT_LT(Picoseconds(1), Picoseconds(2));
    EXPECT_DOUBLE_EQ(ratio(Bytes(1), Bytes(4)), 0.25);
    Flops sum;
    sum += Flops(2);
    sum -= Flops(5);
    EXPECT_EQ(sum.value(), -3);
}

TEST(Units, cyclesBecomePicosecondsRoundedUpOnce)
{
    const Hertz clock(1'500'000'000); // 666.67 ps per cycle
    EXPECT_EQ(toPicoseconds(Cycles(0), clock), Picoseconds(0));
    EXPECT_EQ(toPicoseconds(Cycles(1), clock), Picoseconds(667));
    EXPECT_EQ(toPicoseconds(Cycles(2), clock), Picoseconds(1334));
    EXPECT_EQ(toPicoseconds(Cycles(3), clock), Picoseconds(2000)); // exact, not 2001
    EXPECT_EQ(toPicoseconds(Cycles(2048), clock), Picoseconds(1'365'334));
    // The computation must not overflow: 10^12 times these cycles does not fit in 64 bits.
    EXPECT_EQ(toPicoseconds(Cycles(1'500'000'000'000'000), clock),
              Picoseconds(1'000'000'000'000'000'000));
}

TEST(Units, secondsBecomeTheNearestPicosecond)
{
    EXPECT_EQ(toPicoseconds(Seconds(0.33e-6)), Picoseconds(330'000));
    EXPECT_EQ(toPicoseconds(Seconds(0.4e-12)), Picoseconds(0));
    EXPECT_EQ(toPicoseconds(Seconds(0.6e-12)), Picoseconds(1));
    EXPECT_DOUBLE_EQ(toSeconds(Picoseconds(1'500'000)).value(), 1.5e-6);
    EXPECT_DOUBLE_EQ(toSeconds(Cycles(3), Hertz(2)).value(), 1.5);
}

TEST(Check, aBrokenInvariantThrowsWithItsPlace)
{
    EXPECT_NO_THROW(PALLASCOPE_CHECK(1 + 1 == 2));
    try {
        PALLASCOPE_CHECK(1 + 1 == 3);
        FAIL() << "the check passed";
    } catch (const std::logic_error& error) {
        EXPECT_NE(std::string(error.what()).find("1 + 1 == 3"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("units_test.cpp"), std::string::npos);
    }
}

} // namespace

} // namespace pallascope
