// What products of an SM lose to what goes on beside them.
#include "core/machine/state/hindrances.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

using machine::Hindrances;

Picoseconds ps(std::int64_t value)
{
    return Picoseconds(value);
}

} // namespace

TEST(Hindrances, costNothingWhenThereAreNone)
{
    Hindrances hindrances;
    EXPECT_EQ(hindrances.lengthOf(ps(100), ps(40)), ps(40));
}

// It meets a quarter of the one, and in the time that this adds another part of it.
TEST(Hindrances, makeAProductLongerForAsLongAsTheyLast)
{
    Hindrances hindrances;
    hindrances.add({ps(100), ps(500), ps(200)}, ps(0));
    EXPECT_EQ(hindrances.lengthOf(ps(200), ps(100)), ps(200)); // half of that time is lost
    EXPECT_EQ(hindrances.lengthOf(ps(400), ps(100)), ps(150)); // 100 until its end, half of it lost
}

TEST(Hindrances, addUp)
{
    Hindrances hindrances;
    hindrances.add({ps(0), ps(1000), ps(250)}, ps(0));
    hindrances.add({ps(0), ps(1000), ps(250)}, ps(0));
    EXPECT_EQ(hindrances.lengthOf(ps(0), ps(300)), ps(600));
}

// What is past is forgotten, and what comes later does not count.
TEST(Hindrances, countOnlyWhileTheProductRuns)
{
    Hindrances hindrances;
    hindrances.add({ps(0), ps(100), ps(100)}, ps(0));
    hindrances.add({ps(300), ps(400), ps(50)}, ps(0));
    EXPECT_EQ(hindrances.lengthOf(ps(100), ps(200)), ps(200));
    EXPECT_EQ(hindrances.lengthOf(ps(400), ps(200)), ps(200));
}

// Those that no product meets do not pile up.
TEST(Hindrances, areForgottenWhenTheyArePast)
{
    Hindrances hindrances;
    hindrances.add({ps(0), ps(100), ps(50)}, ps(0));
    hindrances.add({ps(100), ps(300), ps(100)}, ps(100));
    EXPECT_EQ(hindrances.lengthOf(ps(0), ps(100)), ps(100)); // the first is gone
    EXPECT_EQ(hindrances.lengthOf(ps(100), ps(50)), ps(100));
}

// One that takes all of its time is over at last.
TEST(Hindrances, endEvenIfTheyLeaveNothing)
{
    Hindrances hindrances;
    hindrances.add({ps(0), ps(100), ps(1000)}, ps(0));
    EXPECT_EQ(hindrances.lengthOf(ps(0), ps(50)), ps(150));
}

} // namespace pallascope::machine_test
