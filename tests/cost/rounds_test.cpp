// How many rounds over registers reshapes and sorts take.
#include "core/cost/rounds.h"

#include <gtest/gtest.h>

namespace pallascope::cost {

namespace {

const std::vector<std::int64_t> kRegister{8, 128};

std::pair<std::int64_t, std::int64_t> sorted(const Shape& shape, std::size_t axis)
{
    const SortRounds rounds = sortRounds(shape, axis, kRegister);
    return {rounds.all, rounds.within};
}

} // namespace

TEST(Reshapes, areFreeWhereWholeTilesStay)
{
    EXPECT_EQ(reshapeRounds({16, 128}, {1, 16, 1, 128}, kRegister), 0);
    EXPECT_EQ(reshapeRounds({4, 8, 128}, {32, 128}, kRegister), 0);
    EXPECT_EQ(reshapeRounds({6, 5, 128}, {2, 3, 5, 128}, kRegister), 0);
    EXPECT_EQ(reshapeRounds({8, 128}, {1024}, {}), 0); // no tiles
}

TEST(Reshapes, thatMoveRowsTakeARoundAndOnesThatMakeLanesOfRowsThree)
{
    EXPECT_EQ(reshapeRounds({8, 4, 128}, {32, 128}, kRegister), 1);
    EXPECT_EQ(reshapeRounds({32, 128}, {8, 4, 128}, kRegister), 1);
    EXPECT_EQ(reshapeRounds({256, 8, 512}, {256, 4096}, kRegister), 3);
    EXPECT_EQ(reshapeRounds({16, 128}, {2048}, kRegister), 3);
    EXPECT_EQ(reshapeRounds({256, 4096}, {256, 8, 512}, {4, 128}), 2); // a tile has 4 rows
}

using Rounds = std::pair<std::int64_t, std::int64_t>;

TEST(Sorts, takeARoundForEachStepOfEachStage)
{
    EXPECT_EQ(sorted({8, 1}, 1), (Rounds{0, 0}));
    EXPECT_EQ(sorted({8, 2}, 1), (Rounds{1, 1}));
    EXPECT_EQ(sorted({8, 128}, 1), (Rounds{28, 28})); // 1 + 2 + ... + 7
    EXPECT_EQ(sorted({8, 100}, 1), (Rounds{28, 28}));
    // Of 9 steps the first two work on whole registers, and of 10 steps the first three.
    EXPECT_EQ(sorted({8, 1024}, 1), (Rounds{55, 28 + 3 * 7}));
    EXPECT_EQ(sorted({64, 128}, 0), (Rounds{21, 6 + 3 * 3}));
    EXPECT_EQ(sorted({64, 8, 128}, 0), (Rounds{21, 0}));
    EXPECT_EQ(sorted({1024}, 0), (Rounds{55, 55}));
    EXPECT_EQ(sorted({4096}, 0), (Rounds{78, 55 + 2 * 10}));
    EXPECT_EQ(sortRounds({8, 4}, 1, {}).within, 0);
}

} // namespace pallascope::cost
