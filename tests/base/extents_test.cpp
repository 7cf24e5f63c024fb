// Extents: a short list of numbers that lies in the object itself until it gets long.
#include "core/base/extents.h"

#include <gtest/gtest.h>

#include <numeric>

namespace pallascope {

namespace {

TEST(ExtentsTest, holdAsManyNumbersAsTheyAreGiven)
{
    Extents numbers;
    std::vector<Extent> wanted;
    for (Extent i = 0; i < 20; ++i) { // more than fit in the object itself
        numbers.push_back(i * i);
        wanted.push_back(i * i);
        EXPECT_EQ(numbers, Extents(wanted));
        EXPECT_EQ(numbers.size(), wanted.size());
        EXPECT_EQ(numbers.back(), wanted.back());
    }
    EXPECT_EQ(static_cast<std::vector<Extent>>(numbers), wanted);
    EXPECT_FALSE(numbers == Extents(wanted.data(), wanted.data() + 19));
}

TEST(ExtentsTest, copiesAreTheirOwnAndMovedOnesLeaveNothing)
{
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{3}, std::size_t{4}, std::size_t{9}}) {
        Extents first(count, 7);
        Extents copy = first;
        EXPECT_EQ(copy, first);
        if (count > 0) {
            copy[count - 1] = 8;
            EXPECT_EQ(first[count - 1], 7);
        }
        const Extents moved = std::move(first);
        EXPECT_EQ(moved, Extents(count, 7));
        first = {1, 2}; // NOLINT: a moved-from list can be assigned to
        EXPECT_EQ(first, (Extents{1, 2}));
        first = copy;
        EXPECT_EQ(first, copy);
        first = Extents{5};
        EXPECT_EQ(first, (Extents{5}));
    }
}

TEST(ExtentsTest, changeTheirSize)
{
    Extents numbers(7, 1);
    std::iota(numbers.begin(), numbers.end(), 0);
    numbers.erase(2);
    EXPECT_EQ(numbers, (Extents{0, 1, 3, 4, 5, 6}));
    numbers.resize(2, 9);
    numbers.resize(5, 9);
    EXPECT_EQ(numbers, (Extents{0, 1, 9, 9, 9}));
    numbers.assign(2, 4);
    EXPECT_EQ(numbers, (Extents{4, 4}));
}

} // namespace

} // namespace pallascope
