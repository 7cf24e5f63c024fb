// What comes next at a moment, and in which rounds of loops it is, must not depend on how a replay
// came there.
#include "core/machine/replay.h"
#include "tests/machine/replay/replay_cases.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

namespace pallascope::machine_test {

namespace {

using machine::Replay;

std::unique_ptr<Replay> mustStart(const ReplayCase& one)
{
    Result<std::unique_ptr<Replay>> replay =
        Replay::start(one.program, one.inputs, *one.chip, one.options);
    if (!replay) {
        throw std::runtime_error(replay.error().message);
    }
    return std::move(*replay);
}

std::vector<std::int64_t> roundsOf(const Replay& replay)
{
    std::vector<std::int64_t> rounds;
    for (std::size_t loop = 0; loop < replay.loops().size(); ++loop) {
        rounds.push_back(replay.begunRounds(static_cast<std::int32_t>(loop)));
    }
    return rounds;
}

} // namespace

TEST(Upcoming, roundsAreTheSameOnTheWayAndLookingBack)
{
    std::int64_t rounds = 0;
    for (const char* name : {"manual_dma", "turns"}) {
        const std::unique_ptr<Replay> replay = mustStart(replayCase(name));
        std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>> moments;
        while (!replay->isAtEnd()) {
            moments.emplace_back(replay->sequence(), roundsOf(*replay));
            ASSERT_TRUE(replay->step(Replay::Unit::Operation, true));
        }
        for (const auto& [moment, before] : moments) {
            ASSERT_TRUE(replay->seek(moment));
            EXPECT_EQ(roundsOf(*replay), before) << name << " " << moment;
        }
        for (std::int32_t loop = 0; loop < static_cast<std::int32_t>(replay->loops().size());
             ++loop) {
            for (std::int64_t round = 0; round < replay->knownRounds(loop); ++round) {
                ASSERT_TRUE(replay->seekToRound(loop, round));
                EXPECT_EQ(replay->begunRounds(loop), round + 1) << name << " " << round;
                ++rounds;
            }
        }
    }
    EXPECT_GT(rounds, 3);
}

// At the start of each round the first operation of the loop comes next, in later ones too, where
// the agent has not left the round before.
TEST(Upcoming, operationIsKnownAtTheEdgesOfLoops)
{
    const std::unique_ptr<Replay> replay = mustStart(replayCase("turns"));
    ASSERT_TRUE(replay->seek(std::numeric_limits<std::int64_t>::max()));
    ASSERT_EQ(replay->loops().size(), 1U);
    const std::int64_t rounds = replay->knownRounds(0);
    ASSERT_EQ(rounds, 8);
    ASSERT_TRUE(replay->seekToRound(0, 0));
    const std::optional<std::int32_t> first = replay->places()[0].next;
    ASSERT_TRUE(first);
    for (std::int64_t round = 1; round < rounds; ++round) {
        ASSERT_TRUE(replay->seekToRound(0, round));
        EXPECT_EQ(replay->places()[0].next, first) << round;
    }
}

} // namespace pallascope::machine_test
