// Compares the heap of agents that can go on with a scan of all of them.
#include "core/machine/state/ready_agents.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace pallascope::machine_test {

namespace {

using machine::ReadyAgents;
using Keys = std::vector<std::optional<ReadyAgents::Key>>;

constexpr Picoseconds kAtNoTime(std::numeric_limits<std::int64_t>::max());

std::optional<std::int32_t> scannedFirst(const Keys& keys)
{
    std::optional<std::int32_t> first;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i] && (!first || *keys[i] < *keys[static_cast<std::size_t>(*first)])) {
            first = static_cast<std::int32_t>(i);
        }
    }
    return first;
}

Picoseconds scannedNext(const Keys& keys)
{
    const std::optional<std::int32_t> first = scannedFirst(keys);
    Picoseconds time = kAtNoTime;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i] && static_cast<std::int32_t>(i) != first) {
            time = std::min(time, keys[i]->time);
        }
    }
    return time;
}

} // namespace

TEST(ReadyAgents, findTheSameAgentAsAScan)
{
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto below = [&](int most) { return static_cast<int>(random() >> 1U) % most; };
        const int agents = 1 + below(40);
        Keys keys(static_cast<std::size_t>(agents));
        ReadyAgents ready;
        ready.reset(keys.size());
        for (int change = 0; change < 200; ++change) {
            const int agent = below(agents);
            std::optional<ReadyAgents::Key>& key = keys[static_cast<std::size_t>(agent)];
            key.reset();
            if (below(4) != 0) { // often at the same time
                key = ReadyAgents::Key{Picoseconds(below(6)), below(3) == 0, agents - agent};
            }
            ready.set(agent, key);
            ASSERT_EQ(ready.first(), scannedFirst(keys));
            ASSERT_EQ(ready.nextTime(), scannedNext(keys));
        }
    }
}

TEST(ReadyAgents, goByTimeThenUnlessTheyYieldThenByOrder)
{
    ReadyAgents ready;
    ready.reset(3);
    EXPECT_FALSE(ready.first());
    EXPECT_EQ(ready.nextTime(), kAtNoTime);
    ready.set(0, ReadyAgents::Key{Picoseconds(5), true, 0});
    ready.set(1, ReadyAgents::Key{Picoseconds(5), false, 2});
    ready.set(2, ReadyAgents::Key{Picoseconds(5), false, 1});
    EXPECT_EQ(ready.first(), 2);
    ready.set(2, std::nullopt);
    EXPECT_EQ(ready.first(), 1);
    ready.set(1, ReadyAgents::Key{Picoseconds(6), false, 2});
    EXPECT_EQ(ready.first(), 0);
    EXPECT_EQ(ready.nextTime(), Picoseconds(6));
}

} // namespace pallascope::machine_test
