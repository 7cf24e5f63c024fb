// Arrays: the limit on their memory, memory that is used again, and reproducible random numbers.
#include "core/base/array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace pallascope {

namespace {

bool sameBits(const Array& a, const Array& b)
{
    return a.dtype == b.dtype && a.shape == b.shape
           && std::memcmp(a.data.get(), b.data.get(), static_cast<std::size_t>(a.byteCount())) == 0;
}

TEST(MemoryLimit, countsTheArraysThatExistAndIsPerScope)
{
    const MemoryLimit outer(Bytes(100'000));
    Array kept = makeArray(DType::Int8, {40'000});
    {
        const MemoryLimit inner(Bytes(50'000));
        Array first = makeArray(DType::F32, {10'000});
        EXPECT_THROW((void)makeArray(DType::F32, {10'000}), MemoryLimitReached);
        first.data.reset();
        kept = makeArray(DType::F32, {10'000}); // there is room again; it outlives the limit
    }
    EXPECT_NO_THROW((void)makeArray(DType::F32, {25'000}));
    EXPECT_THROW((void)makeArray(DType::F32, {25'001}), std::bad_alloc);
    EXPECT_EQ(kept.byteCount(), 40'000);
}

// Small arrays count with the memory that sharing them takes.
TEST(MemoryLimit, countsSmallArraysAsWell)
{
    for (const std::int64_t size : {0, 1, 4, 15, 16, 17, 1000, 1024, 1025}) {
        std::vector<SharedBytes> last; // outlives its limit
        for (int round = 0; round < 2; ++round) {
            const MemoryLimit limit(Bytes(100'000));
            std::vector<SharedBytes> arrays;
            try {
                while (arrays.size() < 100'000) {
                    arrays.push_back(allocateBytes(size));
                    std::memset(arrays.back().get(), round, static_cast<std::size_t>(size));
                    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arrays.back().get()) % 16, 0U);
                }
                ADD_FAILURE() << "no limit for arrays of " << size;
            } catch (const MemoryLimitReached&) {
            }
            const auto count = static_cast<std::int64_t>(arrays.size());
            EXPECT_LE(count * size, 100'000);
            // Not much more than their own bytes.
            EXPECT_GE(count * (size + 64), 100'000 - 2000) << size;
            if (round > 0) {
                EXPECT_EQ(arrays.size(), last.size());
            }
            last = std::move(arrays);
        }
    }
}

// A large array reuses the memory of a freed one of its size, but never that of an array that is
// still in use.
TEST(ArrayTest, memoryOfLargeArraysIsTakenAgain)
{
    const Shape shape{3 << 20}, other{4 << 20};
    Array first = makeArray(DType::F32, shape);
    const std::byte* const memory = first.data.get();
    EXPECT_NE(makeArray(DType::F32, shape).data.get(), memory);
    first.data.reset();
    EXPECT_NE(makeArray(DType::F32, other).data.get(), memory);
    EXPECT_EQ(makeArray(DType::F32, shape).data.get(), memory);
}

TEST(ArrayTest, normalNumbersHaveMeanZeroAndVarianceOne)
{
    const Array array = normalArray(DType::F32, {1000, 1000}, 0);
    double sum = 0, squares = 0, fourths = 0;
    for (std::int64_t i = 0; i < array.shape.elements(); ++i) {
        const double value = array.at(i);
        sum += value;
        squares += value * value;
        fourths += value * value * value * value;
    }
    EXPECT_NEAR(sum / 1e6, 0, 4e-3); // within four standard errors
    EXPECT_NEAR(squares / 1e6, 1, 6e-3);
    // A sum of eight uniform numbers has a kurtosis of 3 - 1.2/8 = 2.85. A coin or one uniform
    // number would be far off.
    EXPECT_NEAR(fourths / 1e6, 2.85, 0.04);
}

TEST(ArrayTest, piecesGiveTheSameBitsAsTheWhole)
{
    for (const DType dtype : {DType::F32, DType::BF16, DType::Int32, DType::Bool}) {
        const Array whole = normalArray(dtype, {777}, 5);
        Array pieces = makeArray(dtype, {777});
        fillNormal(pieces, 5, 300, 777);
        fillNormal(pieces, 5, 0, 299);
        fillNormal(pieces, 5, 299, 300);
        EXPECT_TRUE(sameBits(whole, pieces)) << dtypeName(dtype);
    }
}

TEST(ArrayTest, seedsDiffer)
{
    const Array zero = normalArray(DType::F32, {4096}, 0), one = normalArray(DType::F32, {4096}, 1);
    double product = 0;
    int equal = 0;
    for (std::int64_t i = 0; i < 4096; ++i) {
        product += zero.at(i) * one.at(i);
        equal += zero.at(i) == one.at(i) ? 1 : 0;
    }
    EXPECT_LT(equal, 5);
    EXPECT_LT(std::fabs(product / 4096), 4.0 / 64); // uncorrelated, within four standard errors
    EXPECT_TRUE(sameBits(zero, normalArray(DType::F32, {4096}, 0)));
}

TEST(ArrayTest, theNumbersAreTheSameOnEveryMachine)
{
    // The same run gives the same bytes everywhere only if these bits never change.
    const Array array = normalArray(DType::F32, {4}, 0);
    const std::uint32_t expected[] = {0x3fa1b41b, 0xbfb69615, 0xbee0a4be, 0x3aa41d5f};
    const Array rounded = normalArray(DType::BF16, {4}, 0);
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(array.as<float>()[i]), expected[i]);
        EXPECT_EQ(rounded.as<std::uint16_t>()[i], floatToBf16(array.as<float>()[i]));
    }
    const Array integers = normalArray(DType::Int32, {6}, 0);
    const std::int32_t expectedIntegers[] = {7, 2, -5, 6, -4, 4};
    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(integers.as<std::int32_t>()[i], expectedIntegers[i]);
    }
}

TEST(ArrayTest, integersAndCoinsStayInTheirRange)
{
    const Array integers = normalArray(DType::Int32, {10000}, 3);
    const Array coins = normalArray(DType::Bool, {10000}, 3);
    double least = 0, most = 0, heads = 0;
    for (std::int64_t i = 0; i < 10000; ++i) {
        least = std::min(least, integers.at(i));
        most = std::max(most, integers.at(i));
        heads += coins.at(i);
    }
    EXPECT_EQ(least, -8);
    EXPECT_EQ(most, 8);
    EXPECT_NEAR(heads, 5000, 200);
}

TEST(ArrayTest, elementsReadAsDoublesWhateverTheirType)
{
    Array array = makeArray(DType::BF16, {2});
    array.as<std::uint16_t>()[0] = floatToBf16(-1.5F);
    array.as<std::uint16_t>()[1] = 0x7fc0;
    EXPECT_EQ(array.at(0), -1.5);
    EXPECT_TRUE(std::isnan(array.at(1)));
    EXPECT_EQ(array.byteCount(), 4);
}

} // namespace

} // namespace pallascope
