// Ticks and scales of axes.
#include "views/layout/scene/axis.h"
#include "views/layout/scene/canvas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

using namespace pallascope;
using namespace pallascope::layout;

namespace {

bool isNice(double value)
{
    const double power = std::pow(10.0, std::floor(std::log10(value) + 1e-9));
    const double digit = value / power;
    return std::fabs(digit - 1) < 1e-6 || std::fabs(digit - 2) < 1e-6
           || std::fabs(digit - 5) < 1e-6;
}

} // namespace

TEST(Ticks, niceValuesEncloseTheirArgument)
{
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> exponent(-9, 15);
    for (int i = 0; i < 2000; ++i) {
        const double value = std::pow(10.0, exponent(random));
        SCOPED_TRACE(value);
        const double above = niceAbove(value);
        const double below = niceBelow(value);
        ASSERT_TRUE(isNice(above));
        ASSERT_TRUE(isNice(below));
        ASSERT_GE(above, value * (1 - 1e-8));
        ASSERT_LE(below, value * (1 + 1e-8));
        // The next of 1, 2, 5 is at most 2.5 times as large.
        ASSERT_LE(above, value * 2.5 * (1 + 1e-8));
        ASSERT_GE(below, value / 2.5 * (1 - 1e-8));
    }
}

TEST(Ticks, timeTicksAreAllMultiplesOfANiceStepInTheRange)
{
    std::mt19937_64 random(2);
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        const auto magnitude = static_cast<int>(random() % 12);
        const auto span = static_cast<std::int64_t>(
            1 + random() % static_cast<std::uint64_t>(std::pow(10, magnitude) + 1));
        const auto begin = static_cast<std::int64_t>(random() % 1'000'000'000'000);
        const double width = 50 + static_cast<double>(random() % 2000);
        const TimeTicks ticks = timeTicks(Picoseconds(begin), Picoseconds(begin + span), width);
        const std::int64_t step = ticks.step.value();
        ASSERT_TRUE(isNice(static_cast<double>(step)));
        // Ticks lie at least 90 px apart, unless a picosecond is wider than that.
        ASSERT_TRUE(static_cast<double>(step) / static_cast<double>(span) * width >= 90 * (1 - 1e-6)
                    || width < 90 || step == 1);
        std::vector<Picoseconds> brute;
        for (std::int64_t t = (begin + step - 1) / step * step; t <= begin + span; t += step) {
            brute.emplace_back(t);
        }
        ASSERT_EQ(ticks.at, brute);
    }
}

TEST(Ticks, ofTheLongestRunLieWithinIt)
{
    const Picoseconds end(((std::int64_t{1} << 53) - 1) * 1000);
    for (const double width : {90.0, 300.0, 900.0}) {
        for (const Picoseconds begin : {Picoseconds(0), end - Picoseconds(1'000'000)}) {
            const TimeTicks ticks = timeTicks(begin, end, width);
            ASSERT_FALSE(ticks.at.empty());
            EXPECT_GE(ticks.at.front(), begin);
            EXPECT_LE(ticks.at.back(), end);
            EXPECT_TRUE(std::is_sorted(ticks.at.begin(), ticks.at.end()));
        }
    }
}

TEST(Ticks, timeLabelsTellNeighboursApartAndSayTheTime)
{
    for (const std::int64_t span :
         {3'000LL, 40'000LL, 900'000LL, 8'000'000LL, 945'000'000LL, 70'000'000'000LL}) {
        for (const std::int64_t begin : {0LL, 561'000'000LL, 3'000'000'000LL}) {
            const TimeTicks ticks = timeTicks(Picoseconds(begin), Picoseconds(begin + span), 900);
            std::set<std::string> labels;
            const double unit = ticks.unit == "ns"   ? 1e3
                                : ticks.unit == "µs" ? 1e6
                                : ticks.unit == "ms" ? 1e9
                                                     : 1e12;
            for (const Picoseconds t : ticks.at) {
                std::string label = ticks.label(t);
                EXPECT_TRUE(labels.insert(label).second) << label << ticks.unit;
                EXPECT_LE(textWidth(label, 10), 60) << label;
                for (std::size_t at; (at = label.find("\u2009")) != std::string::npos;) {
                    label.erase(at, 3);
                }
                EXPECT_NEAR(std::stod(label) * unit, static_cast<double>(t.value()), 1e-6 * unit);
            }
        }
    }
}

TEST(Ticks, logTicksAreExactlyTheOneTwoFives)
{
    EXPECT_EQ(logTicks(32, 1024), (std::vector<double>{50, 100, 200, 500, 1000}));
    const std::vector<double> small = logTicks(0.02, 0.2);
    ASSERT_EQ(small.size(), 4U);
    EXPECT_DOUBLE_EQ(small[0], 0.02);
    EXPECT_DOUBLE_EQ(small[3], 0.2);
}

TEST(Ticks, logTicksKeepTheirDistance)
{
    for (const double high : {100.0, 1e4, 1e9, 1e14}) {
        for (const double width : {80.0, 311.0, 900.0}) {
            const LogScale scale = {0.03, high, 0, width};
            const std::vector<double> ticks = logTicks(0.03, high, width, 34);
            for (std::size_t i = 1; i < ticks.size(); ++i) {
                EXPECT_GE(scale.at(ticks[i]) - scale.at(ticks[i - 1]), 34 * (1 - 1e-9));
            }
        }
    }
}

TEST(Ticks, tickTextsArePlainNumbers)
{
    EXPECT_EQ(tickText(0.05), "0.05");
    EXPECT_EQ(tickText(20), "20");
    EXPECT_EQ(tickText(1000), "1\u2009000");
    EXPECT_EQ(tickText(5'000'000), "5\u2009000\u2009000");
}

TEST(LogScale, valueAtUndoesAt)
{
    const LogScale scale = {32, 1024, 40, 351};
    EXPECT_DOUBLE_EQ(scale.at(32), 40);
    EXPECT_DOUBLE_EQ(scale.at(1024), 351);
    for (double px = 40; px < 351; px += 7.3) {
        EXPECT_NEAR(scale.at(scale.valueAt(px)), px, 1e-9);
    }
}
