// Compares blocks that share the memory of their array with blocks that have their own.
#include "core/machine/memory/memory.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace pallascope::machine_test {

namespace {

using machine::Box;
using machine::Buffer;

struct Cut
{
    Shape array, block;
    Box box;
};

// Boxes in arrays of rank 1 to 4. Some have squeezed axes, and some cover whole axes.
Cut randomCut(std::mt19937& random)
{
    const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random()) % n; };
    Extents array, block;
    Cut cut;
    for (std::int64_t rank = 1 + below(4); rank > 0; --rank) {
        const Extent extent = 1 + below(6), size = below(2) == 0 ? extent : 1 + below(extent);
        const bool squeezed = size == 1 && below(2) == 0;
        array.push_back(extent);
        cut.box.start.push_back(below(extent - size + 1));
        cut.box.size.push_back(size);
        cut.box.squeezed.push_back(squeezed);
        if (!squeezed) {
            block.push_back(size);
        }
    }
    cut.array = Shape(array);
    cut.block = Shape(block);
    return cut;
}

bool sameElements(const Array& a, const Array& b)
{
    return a.shape == b.shape
           && std::memcmp(a.data.get(), b.data.get(), static_cast<std::size_t>(a.byteCount())) == 0;
}

} // namespace

TEST(SharedBlock, holdsWhatOneOfItsOwnHolds)
{
    std::mt19937 random(1);
    int shared = 0, withGaps = 0;
    for (int i = 0; i < 3000; ++i) {
        const Cut cut = randomCut(random);
        const DType dtype = i % 2 == 0 ? kF32 : DType::BF16;
        const Array numbers = counting(dtype, cut.array);
        Buffer array(dtype, cut.array, Fill::Nan, numbers.data);
        const StridedView whole = StridedView::whole(cut.array);
        const Buffer own = array.cut(whole, cut.box, cut.block);
        array.freeze();
        Buffer block = array.cut(whole, cut.box, cut.block);
        const machine::RuntimeValue rows = block.loadRows();
        withGaps += rows.pitch != 0 ? 1 : 0;
        shared += rows.data.get() >= numbers.data.get()
                          && rows.data.get() < numbers.data.get() + numbers.byteCount()
                      ? 1
                      : 0;
        ASSERT_TRUE(block.shadow().all());
        ASSERT_TRUE(sameElements(block.contents(), own.contents())) << toString(cut.block);
        if (cut.block.rank() > 0) {
            ASSERT_TRUE(sameElements({dtype, cut.block, rows.dense().data}, own.contents()));
        }
        // A part of its rows, or all that they hold in one column.
        StridedView part = StridedView::whole(cut.block);
        if (cut.block.rank() > 0) {
            const std::size_t axis = random() % cut.block.rank();
            part.shape[axis] = (cut.block[axis] + 1) / 2;
            part.offset = cut.block[axis] / 2 * part.strides[axis];
            ASSERT_TRUE(sameElements({dtype, part.shape, block.load(part, part.shape).data},
                                     {dtype, part.shape, own.load(part, part.shape).data}));
        }
        // A store to the block must not change the array.
        block = array.cut(whole, cut.box, cut.block);
        StridedView first = StridedView::whole(cut.block);
        first.shape = Shape(Extents(cut.block.rank(), 1));
        block.store(first, cut.block.rank() == 0
                               ? machine::RuntimeValue::scalarOf(dtype, -1)
                               : Buffer(machine::RuntimeValue::zeros(dtype, first.shape), {})
                                     .load(StridedView::whole(first.shape), first.shape));
        ASSERT_TRUE(sameElements(array.contents(), counting(dtype, cut.array)));
    }
    EXPECT_GT(shared, 1000);
    EXPECT_GT(withGaps, 100);
}

// If a block that is all of its array is written back, its memory becomes the array's. Both keep
// their contents.
TEST(SharedBlock, writtenBackWholeIsTaken)
{
    const Shape shape{4, 8};
    const Box all{.start = {0, 0}, .size = {4, 8}, .squeezed = {false, false}};
    const StridedView whole = StridedView::whole(shape);
    const Array numbers = counting(kF32, shape);
    Buffer array(kF32, shape, Fill::Nan), block(kF32, shape, Fill::Nan, numbers.data);
    EXPECT_EQ(array.paste(whole, all, block), 0);
    EXPECT_EQ(array.data(), block.data());
    block.store({5, {1, 1}, {8, 1}}, machine::RuntimeValue::zeros(kF32, {1, 1}));
    EXPECT_EQ(block.contents().at(5), 0);
    EXPECT_EQ(array.contents().at(5), 5);
    Buffer half(kF32, shape, Fill::Nan); // nothing in it is defined
    EXPECT_EQ(array.paste(whole, all, half), 32);
    EXPECT_EQ(array.undefinedCount(), 32);
}

// The memory lives as long as the block, even without the array.
TEST(SharedBlock, outlivesItsArray)
{
    const Shape shape{64, 64};
    Box box{.start = {32, 32}, .size = {16, 16}, .squeezed = {false, false}};
    Buffer block;
    {
        const Array numbers = counting(kF32, shape);
        Buffer array(kF32, shape, Fill::Nan, numbers.data);
        array.freeze();
        block = array.cut(StridedView::whole(shape), box, Shape(box.size));
    }
    EXPECT_EQ(block.loadRows().pitch, 64);
    EXPECT_EQ(block.contents().at(17), 33 * 64 + 33);
}

} // namespace pallascope::machine_test
