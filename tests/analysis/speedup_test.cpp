// Which of two runs is faster, judged by the error of ratios or by the bands of both.
#include "core/analysis/band.h"
#include "core/analysis/speedup.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pallascope::analysis_test {

using analysis::Band;
using analysis::Speedup;
using analysis::Timed;

namespace {

chip::Residual support(const std::string& work, std::optional<double> ratio)
{
    return {.work = work, .rows = 20, .low = -0.1, .high = 0.2, .ratio = ratio, .source = "a test"};
}

Timed taking(std::int64_t picoseconds, std::optional<double> ratio,
             const std::string& chip = "one chip", const std::string& work = "products")
{
    const Picoseconds time(picoseconds);
    return {chip, time, analysis::bandOf(time, work, support(work, ratio))};
}

Speedup::Range rangeOf(const Timed& one, const Timed& other)
{
    const std::optional<Speedup> found = analysis::speedup(one, other);
    EXPECT_TRUE(found && found->range);
    return found && found->range ? *found->range : Speedup::Range{};
}

} // namespace

TEST(Speedups, onOneChipOfOneKindOfWorkAreOffByTheErrorOfRatios)
{
    const Timed slow = taking(1'100, 0.05), fast = taking(1'000, 0.05);
    const Speedup speedup = analysis::speedup(fast, slow).value();
    EXPECT_DOUBLE_EQ(speedup.times, 1.1);
    const Speedup::Range range = rangeOf(fast, slow);
    EXPECT_DOUBLE_EQ(range.low, 1.1 / 1.05);
    EXPECT_DOUBLE_EQ(range.high, 1.1 * 1.05);
    EXPECT_EQ(range.ratio, 0.05);
    // The bands overlap all the same: 990 to 1320 and 900 to 1200.
    EXPECT_LT(slow.band->low, fast.band->high);
    EXPECT_TRUE(speedup.isSure());
    EXPECT_TRUE(analysis::speedup(slow, fast)->isSure());
    EXPECT_FALSE(analysis::speedup(taking(1'000, 0.05), taking(1'049, 0.05))->isSure());
    EXPECT_TRUE(analysis::speedup(taking(1'000, 0.05), taking(1'051, 0.05))->isSure());
}

TEST(Speedups, ofRunsThatShareNoTimingsAreOffByBothBands)
{
    const Timed fast = taking(1'000, 0.05);
    const double times = 1.3;
    for (const Timed& slow :
         {taking(1'300, 0.05, "another chip"), taking(1'300, 0.05, "one chip", "attention"),
          taking(1'300, 0.06), taking(1'300, std::nullopt)}) {
        const Speedup::Range range = rangeOf(fast, slow);
        EXPECT_DOUBLE_EQ(range.low, times * 0.9 / 1.2);
        EXPECT_DOUBLE_EQ(range.high, times * 1.2 / 0.9);
        EXPECT_FALSE(range.ratio);
    }
    // The range is that of the ends of the bands: 1170 to 1560 against 900 to 1200.
    const Timed slow = taking(1'300, std::nullopt), other = taking(1'000, std::nullopt);
    EXPECT_NEAR(rangeOf(other, slow).low, ratio(slow.band->low, other.band->high), 1e-3);
    EXPECT_NEAR(rangeOf(other, slow).high, ratio(slow.band->high, other.band->low), 1e-3);
    EXPECT_FALSE(analysis::speedup(other, slow)->isSure());
    EXPECT_TRUE(analysis::speedup(other, taking(1'400, std::nullopt))->isSure());
}

// Both get the band of other work, which says nothing about how far their ratio is off.
TEST(Speedups, ofDifferentKindsOfWorkWithTheSameSupportAreOffByBothBands)
{
    const Picoseconds time(1'000);
    const Timed products{"one chip", time,
                         analysis::bandOf(time, "products", support("other", 0.1))},
        attention{"one chip", time, analysis::bandOf(time, "attention", support("other", 0.1))};
    EXPECT_FALSE(rangeOf(products, attention).ratio);
    EXPECT_EQ(rangeOf(products, products).ratio, 0.1);
}

TEST(Speedups, haveNoRangeWithoutBandsAndAreAbsentWithoutTime)
{
    const Timed known = taking(1'000, 0.05);
    const Timed unknown{"one chip", Picoseconds(2'000), std::nullopt};
    const Speedup speedup = analysis::speedup(known, unknown).value();
    EXPECT_DOUBLE_EQ(speedup.times, 2);
    EXPECT_FALSE(speedup.range);
    EXPECT_FALSE(speedup.isSure());
    EXPECT_FALSE(analysis::speedup(known, {"one chip", Picoseconds(0), std::nullopt}));
    EXPECT_FALSE(analysis::speedup({"one chip", Picoseconds(0), std::nullopt}, known));
}

// Times may come from files that somebody changed.
TEST(Speedups, ofAlternativesSayWhetherTheyAreSure)
{
    const auto of = [](std::int64_t picoseconds, std::optional<double> ratio) {
        analysis::Report report;
        report.chip = "one chip";
        report.time = Picoseconds(1'000);
        report.band = taking(1'000, ratio).band;
        analysis::Alternative alternative;
        alternative.time = Picoseconds(picoseconds);
        alternative.band = taking(picoseconds, ratio).band;
        const std::string known = analysis::certaintyText(alternative, report);
        alternative.band.reset();
        EXPECT_EQ(analysis::certaintyText(alternative, report), "");
        return known;
    };
    EXPECT_EQ(of(900, 0.05), "surely faster");
    EXPECT_EQ(of(1'100, 0.05), "surely slower");
    EXPECT_EQ(of(960, 0.05), "too close for the model to tell");
    // The times lie within both bands.
    EXPECT_EQ(of(900, std::nullopt), "too close for the model to tell");
}

TEST(Bands, ofTimesBeyondAllBoundsEndAtThem)
{
    constexpr std::int64_t kMost = 9'000'000'000'000'000'000;
    for (const std::int64_t time : {kMost, -kMost}) {
        EXPECT_EQ(analysis::bandOf(Picoseconds(time), "products", support("products", {})).high,
                  Picoseconds(time));
    }
}

TEST(Bands, sayWhatTheyRestOn)
{
    chip::Residual of = support("attention", {});
    const auto text = [&](const std::string& work) {
        return analysis::supportText(analysis::bandOf(Picoseconds(1'000), work, of), "My Chip");
    };
    EXPECT_EQ(text("attention"), "9 of 10 of 20 timings of attention on My Chip lie within");
    of.rows = 9; // 9 of 10 of these are more than 8
    EXPECT_EQ(text("attention"), "all of 9 timings of attention on My Chip lie within");
    of.work = "other";
    EXPECT_EQ(text("other"), "all of 9 timings of other work lie as near");
    EXPECT_EQ(text("products"),
              "all of 9 timings of other work lie as near; none on My Chip is of products");
    const Band band = analysis::bandOf(Picoseconds(1'000'000), "products", support("other", 0.5));
    EXPECT_EQ(analysis::bandText(band), "0.90 µs to 1.20 µs");
    const auto json = nlohmann::json::parse(analysis::supportJson(band));
    EXPECT_EQ(json, (nlohmann::json{{"kind", "products"},
                                    {"work", "other"},
                                    {"timings", 20},
                                    {"low", -0.1},
                                    {"high", 0.2},
                                    {"ratio", 0.5},
                                    {"source", "a test"}}));
    EXPECT_EQ(analysis::supportJson(std::nullopt), "null");
}

} // namespace pallascope::analysis_test
