// How numbers are written. There is one rule per quantity, the same in reports, captions, axes and
// tooltips.
#include "core/base/format.h"

#include <gtest/gtest.h>

#include <limits>

namespace pallascope {

namespace {

TEST(Format, timesChooseTheirUnit)
{
    EXPECT_EQ(timeText(Picoseconds(0)), "0 µs");
    EXPECT_EQ(timeText(Picoseconds(43'000)), "43 ns");
    EXPECT_EQ(timeText(Picoseconds(99'400)), "99 ns");
    EXPECT_EQ(timeText(Picoseconds(99'900)), "0.10 µs"); // not "100 ns"
    EXPECT_EQ(timeText(Picoseconds(330'000)), "0.33 µs");
    EXPECT_EQ(timeText(Picoseconds(1'365'334)), "1.37 µs");
    EXPECT_EQ(timeText(Picoseconds(9'996'000)), "10.0 µs"); // not "10.00 µs"
    EXPECT_EQ(timeText(Picoseconds(945'100'000)), "945.1 µs");
    EXPECT_EQ(timeText(Picoseconds(999'960'000)), "1.00 ms"); // not "1000.0 µs"
    EXPECT_EQ(timeText(Picoseconds(2'060'000'000)), "2.06 ms");
    EXPECT_EQ(timeText(Picoseconds(999'999'000'000)), "1.00 s");
}

TEST(Format, bytesAreBinaryAndExactWhenWhole)
{
    EXPECT_EQ(bytesText(Bytes(0)), "0 B");
    EXPECT_EQ(bytesText(Bytes(1000)), "1000 B");
    EXPECT_EQ(bytesText(Bytes(524'288)), "512 KiB");
    EXPECT_EQ(bytesText(Bytes(1'572'864)), "1.50 MiB");
    EXPECT_EQ(bytesText(Bytes(1'897'923)), "1.81 MiB");
    EXPECT_EQ(bytesText(Bytes(16'777'216)), "16 MiB");
    EXPECT_EQ(bytesText(Bytes(17'179'869'184)), "16 GiB");
    EXPECT_EQ(bytesText(Bytes(1'048'575)), "1.00 MiB"); // not "1024 KiB"
    EXPECT_EQ(bytesText(Bytes(10'480'000)), "9.99 MiB");
    EXPECT_EQ(bytesText(Bytes(10'485'759)), "10.0 MiB"); // three digits, not "10.00"
}

TEST(Format, countsGetThinSpacesFromTenThousand)
{
    EXPECT_EQ(countText(0), "0");
    EXPECT_EQ(countText(9999), "9999");
    EXPECT_EQ(countText(10'000), "10\u2009000");
    EXPECT_EQ(countText(123'456), "123\u2009456");
    EXPECT_EQ(countText(262'144), "262\u2009144");
    EXPECT_EQ(countText(67'108'864), "67\u2009108\u2009864");
    EXPECT_EQ(countText(-12'345), "\u221212\u2009345");
    EXPECT_EQ(countText(std::numeric_limits<std::int64_t>::min()),
              "\u22129\u2009223\u2009372\u2009036\u2009854\u2009775\u2009808");
}

TEST(Format, ratesAreDecimalAsDatasheetsAre)
{
    EXPECT_EQ(bandwidthText(655.2e9), "655 GB/s");
    EXPECT_EQ(bandwidthText(819e9), "819 GB/s");
    EXPECT_EQ(flopRateText(145.4e12), "145.4 TFLOP/s");
    EXPECT_EQ(flopRateText(53.2e9), "53.2 GFLOP/s");
    EXPECT_EQ(intensityText(227.5556), "227.6");
    EXPECT_EQ(intensityText(1.0 / 12), "0.0833");
}

TEST(Format, aShareBelowOneIsNeverAHundredPercent)
{
    EXPECT_EQ(percentText(0.61, 0), "61 %");
    EXPECT_EQ(percentText(0.738, 1), "73.8 %");
    EXPECT_EQ(percentText(1.0, 0), "100 %");
    EXPECT_EQ(percentText(1.0, 1), "100.0 %");
    EXPECT_EQ(percentText(0.9996, 1), "99.9 %");
    EXPECT_EQ(percentText(0.9996, 0), "99.9 %");
    EXPECT_EQ(percentText(0.996, 0), "99.6 %"); // not "99.0 %", which would be wrong
    EXPECT_EQ(percentText(0.9999999, 0), "99.9 %");
    EXPECT_EQ(percentText(0.0, 1), "0.0 %");
}

TEST(Format, significantDigitsHaveNoExponent)
{
    EXPECT_EQ(significant(1.6, 3), "1.60");
    EXPECT_EQ(significant(14.68, 3), "14.7");
    EXPECT_EQ(significant(945.1, 3), "945");
    EXPECT_EQ(significant(123'456, 3), "123456");
    EXPECT_EQ(significant(9.999, 3), "10.0"); // rounding adds a digit, but there are still three
    EXPECT_EQ(significant(0.00123, 2), "0.0012");
    EXPECT_EQ(significant(0, 3), "0");
    EXPECT_EQ(significant(std::numeric_limits<double>::infinity(), 3), "inf");
    EXPECT_EQ(significant(std::numeric_limits<double>::quiet_NaN(), 2), "nan");
}

} // namespace

} // namespace pallascope
