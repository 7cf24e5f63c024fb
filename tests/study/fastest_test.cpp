// Which rows of a sweep can be told apart from the best one.
#include "core/analysis/band.h"
#include "core/study/fastest.h"

#include <gtest/gtest.h>

namespace pallascope::study {

namespace {

SweepRow taking(std::int64_t picoseconds, const std::string& chip = "one chip")
{
    const Picoseconds time(picoseconds);
    const chip::Residual support{
        .work = "products", .rows = 20, .low = -0.1, .high = 0.1, .ratio = 0.05, .source = ""};
    return {.chip = chip, .time = time, .band = analysis::bandOf(time, "products", support)};
}

} // namespace

TEST(Fastest, rowsWithinTheErrorOfRatiosAreNotToldApart)
{
    using enum Standing;
    const std::vector<SweepRow> rows{taking(1'051), taking(1'049), taking(1'000), taking(1'000),
                                     taking(2'000)};
    EXPECT_EQ(standings(rows), (std::vector{Slower, Perhaps, Best, Perhaps, Slower}));
}

TEST(Fastest, onAnotherChipTheBandsOfBothTell)
{
    using enum Standing;
    // 1.1 / 0.9 is 1.222.
    const std::vector<SweepRow> rows{taking(1'000), taking(1'221, "another"),
                                     taking(1'223, "another")};
    EXPECT_EQ(standings(rows), (std::vector{Best, Perhaps, Slower}));
}

TEST(Fastest, rowsThatFailedHaveFindingsOrNoBandHaveNoStanding)
{
    using enum Standing;
    std::vector<SweepRow> rows{taking(10), taking(10), taking(10), taking(1'010), taking(1'000)};
    rows[0].error = "it cannot run";
    rows[1].fits = false;
    rows[2].findings = {"a"};
    rows[3].band.reset();
    EXPECT_EQ(standings(rows), (std::vector{None, None, None, None, Best}));
    rows[4].band.reset(); // it still has the least time
    rows.push_back(taking(1'020));
    EXPECT_EQ(standings(rows), (std::vector{None, None, None, None, Shortest, None}));
    EXPECT_STREQ(nameOf(Shortest), "");
    rows.resize(3);
    EXPECT_EQ(standings(rows), (std::vector{None, None, None}));
    EXPECT_TRUE(standings({}).empty());
}

} // namespace pallascope::study
