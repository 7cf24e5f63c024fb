// Where an element of a ref is in memory, and the other way round, held to what a load yields.
#include "core/machine/memory/positions.h"
#include "tests/machine/chance.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <set>

namespace pallascope::machine_test {

namespace {

using machine::Buffer;
using machine::RefBinding;
using machine::Window;

// Memory whose elements are their own numbers.
Buffer numbered(const Shape& shape)
{
    return {DType::Int32, shape, Fill::Zero, counting(DType::Int32, shape).data};
}

RefBinding someView(Chance& chance, const RefBinding& ref, const Shape& memory)
{
    const Shape shape = machine::shapeOf(ref, memory);
    switch (chance.below(3)) {
    case 0: {
        std::vector<Window> windows;
        for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
            const std::int64_t start = chance.below(shape[axis]), stride = 1 + chance.below(2);
            const std::int64_t most = (shape[axis] - 1 - start) / stride + 1;
            windows.push_back({start, 1 + chance.below(most), stride, true});
        }
        return narrowed(ref, memory, windows);
    }
    case 1:
        return transposed(ref, memory, {1, 0});
    default:
        return reshaped(ref, memory, DType::Int32, Shape{shape[1], shape[0]});
    }
}

} // namespace

TEST(Positions, areWhereALoadFindsTheElements)
{
    const Shape memory{6, 8};
    const Buffer buffer = numbered(memory);
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Chance chance(seed);
        RefBinding ref;
        for (int views = 0; views < 3; ++views) {
            ref = someView(chance, ref, memory);
        }
        const machine::RuntimeValue loaded = loadThrough(ref, buffer);
        std::set<std::int64_t> reached;
        for (std::int64_t position = 0; position < loaded.elements(); ++position) {
            const auto element = static_cast<std::int64_t>(
                loaded.isScalar() ? loaded.scalar : loaded.as<std::int32_t>()[position]);
            EXPECT_EQ(elementAt(ref, memory, position), element);
            EXPECT_EQ(positionIn(ref, memory, element), position);
            reached.insert(element);
        }
        for (std::int64_t element = 0; element < memory.elements(); ++element) {
            EXPECT_EQ(positionIn(ref, memory, element).has_value(), reached.contains(element));
        }
    }
}

TEST(Positions, ofPackedRowsAreThoseOfTheWordThatHoldsThem)
{
    const Shape memory{4, 8}; // of int32
    RefBinding whole;
    const RefBinding halves = bitcasted(whole, memory, DType::Int16, Shape{8, 8});
    EXPECT_EQ(elementAt(halves, memory, 5 * 8 + 3), 2 * 8 + 3);
    EXPECT_EQ(positionIn(halves, memory, 2 * 8 + 3), 4 * 8 + 3);
    // A part with only the upper halves of the words of one row.
    const std::vector<Window> upper{{5, 1, 1, true}, {0, 8, 1, true}};
    const RefBinding part = narrowed(halves, memory, upper);
    EXPECT_EQ(positionIn(part, memory, 2 * 8 + 3), 3);
    EXPECT_EQ(positionIn(part, memory, 1 * 8 + 3), std::nullopt);
    const RefBinding words = bitcasted(whole, Shape{8, 8}, DType::Int32, Shape{4, 8});
    EXPECT_EQ(positionIn(words, Shape{8, 8}, 5 * 8 + 3), 2 * 8 + 3);
}

} // namespace pallascope::machine_test
