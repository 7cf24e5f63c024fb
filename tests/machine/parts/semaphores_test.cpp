// Tests counting, waiting and waking, without an engine.
#include "tests/machine/parts/bare_run.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

using ir::OpCode;

// A run whose agent has the semaphore of its program.
struct Counting
{
    Counting() { run.semaphores.allocate(run.ref("counter"), owned); }

    [[nodiscard]] std::int32_t index() const { return owned.semaphores[0].second.first; }

    void wait(std::int64_t amount, bool decrement = true)
    {
        run.semaphores.wait(run.operation(OpCode::SemaphoreWait), index(), amount, decrement);
    }

    // Signals as a copy does that lands at this time.
    void signal(std::int64_t amount, std::int64_t time)
    {
        run.semaphores.deliver({.at = Picoseconds(time), .semaphore = index(), .amount = amount});
    }

    BareRun run;
    machine::Owned owned;
};

} // namespace

TEST(Semaphores, aWaitForWhatIsThereGoesOn)
{
    Counting of;
    of.signal(3, 0);
    of.wait(2);
    EXPECT_FALSE(of.run.agent().waiting);
    EXPECT_EQ(of.run.semaphores.countOf(of.index()), 1);
}

TEST(Semaphores, aWaitThatDoesNotTakeLeavesTheCount)
{
    Counting of;
    of.signal(3, 0);
    of.wait(3, false);
    EXPECT_FALSE(of.run.agent().waiting);
    EXPECT_EQ(of.run.semaphores.countOf(of.index()), 3);
}

TEST(Semaphores, aSignalWakesWhoWaitsForAsMuch)
{
    Counting of;
    of.wait(3);
    ASSERT_TRUE(of.run.agent().waiting);
    of.signal(2, 10);
    EXPECT_TRUE(of.run.agent().waiting) << "one is still missing";
    of.signal(1, 25);
    EXPECT_FALSE(of.run.agent().waiting);
    EXPECT_EQ(of.run.agent().time, Picoseconds(25));
    EXPECT_EQ(of.run.semaphores.countOf(of.index()), 0);
    of.run.recorder().closeRows();
    const trace::Waits& waits = of.run.recorder().builder.waits;
    ASSERT_EQ(waits.size(), 1U);
    EXPECT_EQ(waits.begin[0], 0);
    EXPECT_EQ(waits.end[0], 25);
}

TEST(Semaphores, whatIsLeftOverIsFound)
{
    Counting of;
    of.signal(3, 0);
    of.wait(2);
    of.run.semaphores.close(of.owned.semaphores[0].second);
    ASSERT_EQ(of.run.found().size(), 1U);
    EXPECT_EQ(of.run.found()[0].kind, "semaphore_left_over");
    EXPECT_EQ(of.run.found()[0].operand, "counter");
    EXPECT_NE(of.run.found()[0].message.find("left at 1"), std::string::npos);
}

TEST(Semaphores, whatAddsUpTo0IsNoFinding)
{
    Counting of;
    of.signal(2, 0);
    of.wait(2);
    of.run.semaphores.close(of.owned.semaphores[0].second);
    EXPECT_TRUE(of.run.found().empty());
}

TEST(Semaphores, aSignalOnItsWayCountsWhenItsSemaphoreGoes)
{
    Counting of;
    of.run.semaphores.expect({.at = Picoseconds(50), .semaphore = of.index(), .amount = 7}, {});
    EXPECT_EQ(of.run.turn().horizon(), Picoseconds(0)) << "no later than it was";
    of.run.semaphores.close(of.owned.semaphores[0].second);
    ASSERT_EQ(of.run.found().size(), 1U);
    EXPECT_NE(of.run.found()[0].message.find("left at 7"), std::string::npos);
}

} // namespace pallascope::machine_test
