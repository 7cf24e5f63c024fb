// Names with an index, and the numbers of indices.
#include "core/base/indexed_name.h"
#include "core/base/shape.h"

#include <gtest/gtest.h>

namespace pallascope {

TEST(IndexedName, isANameWithNumbersInTheLastBrackets)
{
    EXPECT_EQ(parseIndexedName("out[3,5]", '[', ']'), (IndexedName{"out", {3, 5}}));
    EXPECT_EQ(parseIndexedName("x(0,3)", '(', ')'), (IndexedName{"x", {0, 3}}));
    EXPECT_EQ(parseIndexedName("args[1][2]", '[', ']'), (IndexedName{"args[1]", {2}}));
    EXPECT_EQ(parseIndexedName("total[]", '[', ']'), (IndexedName{"total", {}}));
    for (const char* text :
         {"", "out", "out[", "out]", "[1]", "out[1", "out[1]x", "out[-1]", "out[1,]", "out[,1]",
          "out[1,,2]", "out[a]", "out[ 1]", "out(1)", "out[99999999999999999999]"}) {
        EXPECT_EQ(parseIndexedName(text, '[', ']'), std::nullopt) << text;
    }
}

TEST(IndexedName, anIndexOfAnArrayHasANumber)
{
    const Shape shape{2, 3, 4};
    std::int64_t number = 0;
    for (Extent i = 0; i < 2; ++i) {
        for (Extent j = 0; j < 3; ++j) {
            for (Extent k = 0; k < 4; ++k) {
                EXPECT_EQ(rowMajorNumber(shape.extents(), std::vector<Extent>{i, j, k}), number++);
            }
        }
    }
    EXPECT_EQ(rowMajorNumber(Shape{}.extents(), std::vector<Extent>{}), 0);
    for (const std::vector<Extent>& index : {std::vector<Extent>{},
                                             {0, 0},
                                             {0, 0, 0, 0},
                                             {2, 0, 0},
                                             {0, 3, 0},
                                             {0, 0, 4},
                                             {0, -1, 0}}) {
        EXPECT_EQ(rowMajorNumber(shape.extents(), index), std::nullopt);
    }
}

} // namespace pallascope
