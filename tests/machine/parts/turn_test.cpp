// Tests when a turn ends, and what its agent names, without an engine.
#include "tests/machine/parts/bare_run.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

TEST(Turn, endsWhenSomebodyElseComesFirst)
{
    BareRun run;
    run.turn().endAt(Picoseconds(100));
    run.agent().time = Picoseconds(99);
    EXPECT_FALSE(run.turn().yields());
    run.turn().endBy(Picoseconds(200));
    EXPECT_EQ(run.turn().horizon(), Picoseconds(100)) << "the first counts";
    run.turn().endBy(Picoseconds(50));
    EXPECT_TRUE(run.turn().isOvertaken());
    EXPECT_TRUE(run.turn().yields());
}

TEST(Turn, pausesAfterSoManyEventsOrWithinASegment)
{
    BareRun run;
    run.turn().endAt(Picoseconds(1000));
    run.turn().runUntil({.events = 2});
    EXPECT_FALSE(run.turn().isAtPause());
    run.recorder().countEvents(2);
    EXPECT_TRUE(run.turn().isAtPause());
    EXPECT_TRUE(run.turn().yields()) << "though nobody else comes first";
    run.turn().runUntil({.events = 3});
    EXPECT_FALSE(run.turn().isAtPause());
    run.turn().pauseWithin(true);
    EXPECT_TRUE(run.turn().isAtPause());
}

TEST(Turn, haltsWhereTheRunEnds)
{
    BareRun run;
    run.turn().endAt(Picoseconds(1000));
    EXPECT_FALSE(run.turn().halts());
    run.ending.stop("deadlock");
    EXPECT_TRUE(run.turn().halts());
    EXPECT_TRUE(run.turn().yields());
    EXPECT_FALSE(run.turn().isAtPause()) << "nothing asked the run to pause";
}

TEST(Turn, givesTheShapeBehindARefAndOfASemaphoreThatOfItsArray)
{
    BareRun run;
    machine::Owned owned;
    run.scopes.allocate({run.ref("tile"), run.ref("counter")}, owned);
    EXPECT_EQ(run.turn().memoryShape(run.ref("tile")), (Shape{8, 128}));
    EXPECT_EQ(run.turn().memoryShape(run.ref("counter")), Shape());
    EXPECT_EQ(run.turn().semaphoreOf(run.ref("counter")), owned.semaphores[0].second.first);
}

} // namespace pallascope::machine_test
