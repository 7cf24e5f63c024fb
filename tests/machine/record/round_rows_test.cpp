// The rows of rounds, by themselves: two agents, loops in loops, and a run that stops in between.
#include "core/machine/record/round_rows.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

constexpr std::int32_t kOuterLoop = 0, kInnerLoop = 1;

} // namespace

TEST(RoundRows, countFromZeroEachTimeThatTheLoopIsEntered)
{
    machine::RoundRows rows(2, 1);
    for (std::int64_t i = 0; i < 2; ++i) {
        EXPECT_TRUE(rows.next(kOuterLoop, 0, Picoseconds(100 * i)));
        EXPECT_TRUE(rows.next(kInnerLoop, 0, Picoseconds(100 * i + 10)));
        EXPECT_TRUE(rows.next(kInnerLoop, 0, Picoseconds(100 * i + 20)));
        rows.endLoop(kInnerLoop, 0, Picoseconds(100 * i + 30));
    }
    rows.endLoop(kOuterLoop, 0, Picoseconds(200));
    EXPECT_EQ(rows.size(), 6U);
    const trace::Rounds all = rows.take(Picoseconds(1000));
    EXPECT_EQ(all.loop, (std::vector<std::int32_t>{0, 1, 1, 0, 1, 1}));
    EXPECT_EQ(all.round, (std::vector<std::int64_t>{0, 0, 1, 1, 0, 1}));
    EXPECT_EQ(all.begin, (std::vector<std::int64_t>{0, 10, 20, 100, 110, 120}));
    EXPECT_EQ(all.end, (std::vector<std::int64_t>{100, 20, 30, 200, 120, 130}));
}

TEST(RoundRows, endWithTheRunWhereAgentsAreStillInThem)
{
    machine::RoundRows rows(2, 2);
    EXPECT_TRUE(rows.next(kOuterLoop, 0, Picoseconds(0)));
    EXPECT_TRUE(rows.next(kOuterLoop, 1, Picoseconds(5)));
    EXPECT_TRUE(rows.next(kInnerLoop, 1, Picoseconds(6)));
    rows.endLoop(kOuterLoop, 0, Picoseconds(50));
    rows.endLoop(kInnerLoop, 0, Picoseconds(50)); // which agent 0 never entered
    const trace::Rounds all = rows.take(Picoseconds(70));
    EXPECT_EQ(all.agent, (std::vector<std::int32_t>{0, 1, 1}));
    EXPECT_EQ(all.end, (std::vector<std::int64_t>{50, 70, 70}));
}

} // namespace pallascope::machine_test
