// The tiles in which on-chip memory stores arrays, and the padding to whole tiles.
#include "core/cost/tiling.h"

#include <gtest/gtest.h>

namespace pallascope::cost {

namespace {

const std::vector<std::int64_t> kNative = {8, 128};

using Tile = std::vector<Extent>;

} // namespace

TEST(Tiling, rowsGrowInPowersOfTwoFromThePackingToTheTile)
{
    // f32 has 1 element in 32 bits, so tiles have 1, 2, 4 or 8 rows.
    EXPECT_EQ(tiling(DType::F32, {1, 128}, kNative), (Tile{1, 128}));
    EXPECT_EQ(tiling(DType::F32, {2, 128}, kNative), (Tile{2, 128}));
    EXPECT_EQ(tiling(DType::F32, {3, 100}, kNative), (Tile{4, 128}));
    EXPECT_EQ(tiling(DType::F32, {5, 1}, kNative), (Tile{8, 128}));
    EXPECT_EQ(tiling(DType::F32, {512, 512}, kNative), (Tile{8, 128}));
    // bf16 has 2 elements in 32 bits, so tiles have at least 2 rows.
    EXPECT_EQ(tiling(DType::BF16, {1, 128}, kNative), (Tile{2, 128}));
    EXPECT_EQ(tiling(DType::BF16, {3, 128}, kNative), (Tile{4, 128}));
    EXPECT_EQ(tiling(DType::BF16, {512, 512}, kNative), (Tile{8, 128}));
}

TEST(Tiling, leadingAxesAreNotTiledAndVectorsFillLanes)
{
    EXPECT_EQ(tiling(DType::F32, {3, 2, 16, 300}, kNative), (Tile{1, 1, 8, 128}));
    EXPECT_EQ(tiling(DType::F32, {100}, kNative), (Tile{128}));
    EXPECT_EQ(tiling(DType::BF16, {100}, kNative), (Tile{256}));
    EXPECT_EQ(tiling(DType::F32, Shape{}, kNative), Tile{});
}

TEST(Tiling, aMemoryWithoutATileDoesNotPad)
{
    EXPECT_EQ(tiling(DType::F32, {3, 100}, {}), (Tile{1, 1}));
    EXPECT_EQ(paddedBytes(DType::Int32, {5}, {}), Bytes(20));
}

TEST(Padding, everyAxisRoundsUpToItsTile)
{
    EXPECT_EQ(padded({3, 2, 5, 130}, {1, 1, 8, 128}), Shape({3, 2, 8, 256}));
    EXPECT_EQ(paddedBytes(DType::F32, {3, 100}, kNative), Bytes(4 * 128 * 4));
    EXPECT_EQ(paddedBytes(DType::BF16, {1, 1}, kNative), Bytes(2 * 128 * 2));
    EXPECT_EQ(paddedBytes(DType::BF16, {512, 512}, kNative), Bytes(512 * 512 * 2));
    EXPECT_EQ(paddedBytes(DType::F32, {7, 9, 200}, kNative), Bytes(7 * 16 * 256 * 4));
    EXPECT_EQ(paddedBytes(DType::F32, Shape{}, kNative), Bytes(4));
}

// Of (3, 200) in tiles of (4, 128): whole rows are 256 lanes wide, all rows are 4; a slice of
// either axis is what it is.
TEST(Padding, aCopyMovesThatOfTheAxesThatItTakesWhole)
{
    const Tile tile{4, 128};
    EXPECT_DOUBLE_EQ(movedWithPadding({3, 200}, {3, 200}, tile), 4.0 * 256 / (3 * 200));
    EXPECT_DOUBLE_EQ(movedWithPadding({3, 200}, {1, 200}, tile), 256.0 / 200);
    EXPECT_DOUBLE_EQ(movedWithPadding({3, 200}, {3, 128}, tile), 4.0 / 3);
    EXPECT_DOUBLE_EQ(movedWithPadding({3, 200}, {2, 100}, tile), 1);
    EXPECT_DOUBLE_EQ(movedWithPadding({8, 256}, {8, 256}, tile), 1);
    EXPECT_DOUBLE_EQ(movedWithPadding({0, 256}, {0, 256}, tile), 1);
    EXPECT_DOUBLE_EQ(movedWithPadding({3, 200}, {3, 200}, {1, 1}), 1) << "no tiles";
}

} // namespace pallascope::cost
