#include "core/machine/values/value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace pallascope::machine {

namespace {

struct Views
{
    StridedView from, to;
};

// Views into arrays of some thousand elements: axes in any order, with gaps, some that repeat
// elements of the source, some with one element or none.
Views randomViews(std::mt19937& random)
{
    const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random()) % n; };
    const std::size_t rank = static_cast<std::size_t>(below(5));
    std::vector<Extent> extents;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        extents.push_back(below(12) == 0 ? 0 : below(3) == 0 ? 1 : 1 + below(7));
    }
    Views views;
    for (StridedView* view : {&views.from, &views.to}) {
        view->shape = Shape(extents);
        view->offset = below(5);
        std::vector<std::size_t> order(rank);
        for (std::size_t axis = 0; axis < rank; ++axis) {
            order[axis] = axis;
        }
        if (below(2) == 0) {
            std::shuffle(order.begin(), order.end(), random);
        }
        std::vector<Extent> strides(rank);
        std::int64_t stride = 1 + (below(4) == 0 ? 1 : 0);
        for (std::size_t i = rank; i-- > 0;) {
            strides[order[i]] = view == &views.from && below(4) == 0 ? 0 : stride;
            stride *= std::max<Extent>(extents[order[i]], 1) + (below(3) == 0 ? 1 : 0);
        }
        view->strides = strides;
    }
    return views;
}

// The offsets of all elements in row-major order.
std::vector<std::size_t> offsetsOf(const StridedView& view)
{
    std::vector<std::size_t> offsets{static_cast<std::size_t>(view.offset)};
    for (std::size_t axis = 0; axis < view.shape.rank(); ++axis) {
        std::vector<std::size_t> next;
        for (const std::size_t offset : offsets) {
            for (Extent i = 0; i < view.shape[axis]; ++i) {
                next.push_back(offset + static_cast<std::size_t>(i * view.strides[axis]));
            }
        }
        offsets = next;
    }
    return offsets;
}

TEST(CopyStrided, movesEveryElementAndNothingElse)
{
    constexpr std::size_t kBytes = 80000;
    std::mt19937 random(7);
    std::vector<std::byte> source(kBytes);
    for (std::byte& byte : source) {
        byte = static_cast<std::byte>(random() % 200);
    }
    for (int round = 0; round < 3000; ++round) {
        const Views views = randomViews(random);
        const std::size_t bytes = std::size_t{1} << random() % 3;
        std::vector<std::byte> target(kBytes, std::byte{0xEE}), expected = target;
        const std::vector<std::size_t> from = offsetsOf(views.from), to = offsetsOf(views.to);
        for (std::size_t i = 0; i < from.size(); ++i) {
            std::memcpy(expected.data() + to[i] * bytes, source.data() + from[i] * bytes, bytes);
        }
        copyStrided(source.data(), views.from, target.data(), views.to, static_cast<int>(bytes));
        ASSERT_TRUE(target == expected) << "round " << round;
    }
}

TEST(CopyStrided, transposesAcrossItsSquares)
{
    const Extent rows = 70, columns = 45;
    std::vector<std::uint16_t> source(rows * columns), target(rows * columns);
    for (std::size_t i = 0; i < source.size(); ++i) {
        source[i] = static_cast<std::uint16_t>(i);
    }
    const Shape shape(std::vector<Extent>{rows, columns});
    copyStrided(reinterpret_cast<const std::byte*>(source.data()), {0, shape, {1, rows}},
                reinterpret_cast<std::byte*>(target.data()), StridedView::whole(shape), 2);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            ASSERT_EQ(target[row * columns + column], source[column * rows + row]);
        }
    }
}

} // namespace

} // namespace pallascope::machine
