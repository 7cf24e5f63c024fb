// Shapes, strided views, and the arithmetic of extents.
#include "core/base/shape.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace pallascope {

namespace {

TEST(ShapeTest, countsItsElements)
{
    EXPECT_EQ(Shape{}.elements(), 1); // a scalar has one
    EXPECT_EQ((Shape{3, 2, 128, 4}).elements(), 3072);
    EXPECT_EQ((Shape{5, 0, 7}).elements(), 0);
    EXPECT_EQ(toString(Shape{4096, 512}), "[4096,512]");
    EXPECT_EQ(toString(Shape{}), "[]");
    EXPECT_EQ(join({4096, 512}, "x"), "4096x512");
}

TEST(ShapeTest, aProductThatOverflowsIsAnErrorThatNamesTheShape)
{
    const Shape huge{std::int64_t{1} << 32, std::int64_t{1} << 31};
    const Result<std::int64_t> elements = checkedElements(huge);
    ASSERT_FALSE(elements);
    EXPECT_EQ(elements.error().kind, ErrorKind::User);
    EXPECT_NE(elements.error().message.find("[4294967296,2147483648]"), std::string::npos)
        << elements.error().message;
    EXPECT_THROW(static_cast<void>(huge.elements()), std::logic_error);
    const Shape large{std::int64_t{1} << 31, std::int64_t{1} << 31};
    EXPECT_EQ(*checkedElements(large), std::int64_t{1} << 62);
}

TEST(ShapeTest, stridesAreRowMajor)
{
    EXPECT_EQ(rowMajorStrides({2, 3, 4}), (std::vector<std::int64_t>{12, 4, 1}));
    EXPECT_EQ(rowMajorStrides({}), std::vector<std::int64_t>{});
    const StridedView whole = StridedView::whole({2, 3});
    EXPECT_EQ(whole, (StridedView{0, {2, 3}, {3, 1}}));
    EXPECT_TRUE(whole.isContiguous());
}

TEST(ShapeTest, aViewIsContiguousWhereverItStartsButNotWithGaps)
{
    EXPECT_TRUE((StridedView{7, {2, 3}, {3, 1}}).isContiguous());
    EXPECT_FALSE((StridedView{0, {2, 3}, {4, 1}}).isContiguous()); // only a part of each row
    EXPECT_FALSE((StridedView{0, {2, 3}, {3, 2}}).isContiguous());
    EXPECT_FALSE((StridedView{0, {2, 3}, {1, 2}}).isContiguous()); // transposed
    EXPECT_TRUE((StridedView{5, {}, {}}).isContiguous());
}

TEST(ShapeTest, divisionAndAlignmentRoundUp)
{
    EXPECT_EQ(ceilDiv(0, 8), 0);
    EXPECT_EQ(ceilDiv(8, 8), 1);
    EXPECT_EQ(ceilDiv(9, 8), 2);
    EXPECT_EQ(alignTo(600, 128), 640);
    EXPECT_EQ(alignTo(640, 128), 640);
}

} // namespace

} // namespace pallascope
