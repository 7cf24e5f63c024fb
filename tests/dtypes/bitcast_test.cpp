// Bitcasts between dtypes of different widths.
#include "core/base/bitcast.h"
#include "core/base/element.h"
#include "tests/dtypes/tables.h"

#include <gtest/gtest.h>

namespace pallascope::dtype_test {

namespace {

TEST(BitcastTest, theSecondAxisFromTheEndScalesWithTheWidth)
{
    EXPECT_EQ(*bitcastShape({2, 16, 128}, DType::BF16, DType::UInt32), (Shape{2, 8, 128}));
    EXPECT_EQ(*bitcastShape({8, 128}, DType::Int32, DType::Int8), (Shape{32, 128}));
    EXPECT_EQ(*bitcastShape({64, 128}, DType::UInt4, DType::Int32), (Shape{8, 128}));
    EXPECT_EQ(*bitcastShape({5}, DType::F32, DType::Int32), (Shape{5}));
}

TEST(BitcastTest, whatCannotBeCastIsNamed)
{
    EXPECT_EQ(bitcastShape({3, 128}, DType::BF16, DType::UInt32).error().message,
              "A bitcast of bf16[3,128] to uint32: 3 rows of 16 bits do not fill whole elements of "
              "32 bits.");
    EXPECT_EQ(bitcastShape({128}, DType::BF16, DType::UInt32).error().message,
              "A bitcast of bf16[128] to uint32 changes the number of rows; expected an array of "
              "rank 2 or more.");
    EXPECT_FALSE(bitcastShape({8, 128}, DType::Bool, DType::Int8));
}

// The example of JAX's pltpu.bitcast: neighbouring rows share a word, and the lower row is its low
// half.
TEST(BitcastTest, narrowRowsPackLowestFirst)
{
    Array rows =
        arrayOf(DType::UInt16, {0x1111, 0x2222, 0x3333, 0x4444, 0x5555, 0x6666, 0x7777, 0x8888});
    rows.shape = {4, 2};
    const Array words = bitcast(rows, DType::UInt32);
    EXPECT_EQ(words.shape, (Shape{2, 2}));
    EXPECT_EQ(codesIn(DType::UInt32, words.data.get(), 4),
              (Codes{0x33331111, 0x44442222, 0x77775555, 0x88886666}));
    const Array halves = bitcast(words, DType::BF16);
    EXPECT_EQ(readCode(DType::BF16, halves.data.get(), 2), 0x3333U);
}

TEST(BitcastTest, thereAndBackIsTheSameForEveryPairOfDtypes)
{
    for (const DTypeEntry& from : kDTypes) {
        for (const DTypeEntry& to : kDTypes) {
            if (from.type == DType::Bool || to.type == DType::Bool) {
                continue;
            }
            const Array array = normalArray(from.type, {2, 16, 3}, 1);
            const Array there = bitcast(array, to.type);
            const Array back = bitcast(there, from.type);
            ASSERT_EQ(back.shape, array.shape);
            for (std::int64_t i = 0; i < array.shape.elements(); ++i) {
                ASSERT_EQ(readCode(from.type, back.data.get(), i),
                          readCode(from.type, array.data.get(), i))
                    << from.name << " to " << to.name;
            }
        }
    }
}

} // namespace

} // namespace pallascope::dtype_test
