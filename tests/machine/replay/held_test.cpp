// What a replay says of the elements of a ref while copies are under way.
#include "core/machine/replay.h"
#include "tests/machine/replay/replay_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace pallascope::machine_test {

namespace {

using machine::Replay;

bool flag(const SharedBytes& flags, std::int64_t element)
{
    return flags && flags[element] != std::byte{0};
}

bool isDefined(const Replay::Held& held, std::int64_t element)
{
    return held.elements.data && (!held.defined || flag(held.defined, element));
}

bool isEqual(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

// When the last copy that is under way lands.
Picoseconds allLanded(const Replay& replay)
{
    Picoseconds landed = replay.time();
    for (const Replay::InFlight& copy : replay.inFlight()) {
        landed = std::max(landed, copy.end);
    }
    return landed;
}

struct Seen
{
    std::int64_t arriving = 0, becameDefined = 0;
};

// Compares one ref now, as contents() has it, and as it will be once all copies have landed.
void compare(Replay& replay, std::size_t agent, ir::ValueId ref, Seen& seen)
{
    const Replay::Contents contents = replay.contents(agent, ref);
    const Replay::Held now = replay.held(agent, ref, replay.time());
    const Replay::Held later = replay.held(agent, ref, allLanded(replay));
    ASSERT_EQ(now.elements.shape, contents.elements.shape);
    ASSERT_EQ(now.elements.dtype, contents.elements.dtype);
    for (std::int64_t i = 0; i < contents.elements.shape.elements(); ++i) {
        const bool arriving = flag(now.arriving, i);
        ASSERT_EQ(isDefined(now, i), contents.defined[static_cast<std::size_t>(i)] != 0);
        ASSERT_FALSE(flag(later.arriving, i)) << "nothing is under way any more";
        if (isDefined(now, i)) {
            ASSERT_TRUE(isEqual(now.elements.at(i), contents.elements.at(i)));
        }
        if (!arriving) { // landing does not touch it
            ASSERT_EQ(isDefined(now, i), isDefined(later, i));
            ASSERT_TRUE(!isDefined(now, i) || isEqual(now.elements.at(i), later.elements.at(i)));
        }
        seen.arriving += arriving ? 1 : 0;
        seen.becameDefined += arriving && !isDefined(now, i) && isDefined(later, i) ? 1 : 0;
    }
}

} // namespace

class Held : public testing::TestWithParam<std::string>
{};

TEST_P(Held, saysWhichElementsACopyUnderWayWillChange)
{
    const ReplayCase one = replayCase(GetParam());
    Result<std::unique_ptr<Replay>> replay =
        Replay::start(one.program, one.inputs, *one.chip, one.options);
    ASSERT_TRUE(replay);
    Seen seen;
    for (int i = 0; i < 60 && !(*replay)->isAtEnd(); ++i) {
        ASSERT_TRUE((*replay)->step(Replay::Unit::Copy, true));
        const std::uint64_t before = (*replay)->hash();
        const std::vector<Replay::AgentPlace> places = (*replay)->places();
        for (std::size_t agent = 0; agent < places.size(); ++agent) {
            for (const ir::ValueId ref : places[agent].refs) {
                ASSERT_NO_FATAL_FAILURE(compare(**replay, agent, ref, seen));
            }
        }
        ASSERT_EQ((*replay)->hash(), before) << "a look changes nothing";
    }
    EXPECT_GT(seen.arriving, 0);
    if (GetParam() == "matmul") { // whose output is undefined at first
        EXPECT_GT(seen.becameDefined, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Replay, Held,
                         testing::Values("matmul", "manual_dma", "nested", "indirect", "ring",
                                         "fusions"),
                         [](const auto& cases) { return cases.param; });

} // namespace pallascope::machine_test
