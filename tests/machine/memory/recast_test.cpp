// Parts of refs that are bitcast and reshaped: what they load and store, and which elements they
// access.
#include "core/machine/memory/known_reaches.h"
#include "core/machine/memory/refs.h"
#include "tests/machine/chance.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::machine_test {

namespace {

using machine::Buffer;
using machine::RefBinding;
using machine::RuntimeValue;
using machine::Window;

Buffer randomBuffer(DType dtype, const Shape& shape, Chance& chance)
{
    Array array = makeArray(dtype, shape);
    for (std::int64_t i = 0; i < array.byteCount(); ++i) {
        array.data.get()[i] = static_cast<std::byte>(chance.below(256));
    }
    return {dtype, shape, Fill::Zero, array.data};
}

std::vector<double> numbers(const RuntimeValue& value)
{
    std::vector<double> all;
    for (std::int64_t i = 0; i < value.elements(); ++i) {
        all.push_back(value.isScalar() ? value.scalar
                                       : readElement(value.dtype, value.data.get(), i));
    }
    return all;
}

// The elements that windows select of an array of this shape, in row-major order.
std::vector<std::int64_t> selected(const Shape& shape, const std::vector<Window>& windows)
{
    std::vector<std::int64_t> all{0};
    for (std::size_t axis = 0; axis < windows.size(); ++axis) {
        std::vector<std::int64_t> more;
        for (const std::int64_t before : all) {
            for (std::int64_t i = 0; i < windows[axis].size; ++i) {
                more.push_back(before * shape[axis] + windows[axis].start
                               + i * windows[axis].stride);
            }
        }
        all = std::move(more);
    }
    return all;
}

std::vector<Window> randomWindows(const Shape& shape, Chance& chance)
{
    std::vector<Window> windows;
    for (const Extent extent : shape) {
        Window window{0, extent, 1, true};
        if (const std::int64_t kind = chance.below(5); kind == 0) {
            window = {chance.below(extent), 1, 1, false};
        } else if (kind <= 2) {
            window.start = chance.below(extent);
            window.size = 1 + chance.below(extent - window.start);
        } else if (kind == 3 && extent > 2) {
            window = {chance.below(2), (extent - 1) / 2, 2, true};
        }
        windows.push_back(window);
    }
    return windows;
}

// Another shape with the same number of elements.
Shape reshapedOnce(const Shape& shape, Chance& chance)
{
    Extents extents = shape.extents();
    const auto axis =
        static_cast<std::size_t>(chance.below(static_cast<std::int64_t>(shape.rank())));
    if (chance.below(2) == 0 && axis > 0) { // two axes become one
        extents[axis - 1] *= extents[axis];
        extents.erase(axis);
        return Shape(extents);
    }
    const Extent factor = extents[axis] % 2 == 0 ? 2 : 1; // or one becomes two
    std::vector<Extent> split(extents.begin(), extents.end());
    split[axis] /= factor;
    split.insert(split.begin() + static_cast<std::ptrdiff_t>(axis) + 1, factor);
    return Shape(Extents(split));
}

RefBinding recastOnce(const RefBinding& ref, const Buffer& memory, Chance& chance)
{
    const RuntimeValue seen = loadThrough(ref, memory);
    if (chance.below(2) == 0 && seen.shape.rank() > 1) {
        const DType dtypes[] = {DType::UInt8, DType::Int16, DType::Int32};
        const DType dtype = dtypes[chance.below(3)];
        Shape shape = seen.shape;
        Extent& rows = shape[shape.rank() - 2];
        if (rows * dtypeBits(seen.dtype) % dtypeBits(dtype) == 0) {
            rows = rows * dtypeBits(seen.dtype) / dtypeBits(dtype);
            return bitcasted(ref, memory.shape(), dtype, shape);
        }
    }
    return seen.shape.rank() == 0
               ? ref
               : reshaped(ref, memory.shape(), seen.dtype, reshapedOnce(seen.shape, chance));
}

bool covers(const machine::Reach& reach, const Shape& memory, std::int64_t element)
{
    if (reach.parts) {
        return std::any_of(
            reach.parts->all.begin(), reach.parts->all.end(),
            [&](const machine::Reach& part) { return covers(part, memory, element); });
    }
    const Extents strides = rowMajorStrides(memory);
    for (std::size_t axis = 0; axis < strides.size(); ++axis) {
        const std::int64_t at = element / strides[axis];
        element %= strides[axis];
        if (at < reach.start[axis] || at >= reach.stop[axis]) {
            return false;
        }
    }
    return true;
}

// Compares loads, stores and the accessed elements of a part with those of the whole.
void expectPart(const RefBinding& ref, const Buffer& memory, const std::vector<Window>& windows,
                Chance& chance)
{
    const RefBinding part = narrowed(ref, memory.shape(), windows);
    const RuntimeValue before = loadThrough(ref, memory), loaded = loadThrough(part, memory);
    const std::vector<double> all = numbers(before);
    const std::vector<std::int64_t> elements = selected(before.shape, windows);
    std::vector<double> wanted;
    for (const std::int64_t element : elements) {
        wanted.push_back(all[static_cast<std::size_t>(element)]);
    }
    ASSERT_EQ(numbers(loaded), wanted);
    ASSERT_EQ(loaded.shape, machine::shapeOf(part, memory.shape()));

    RuntimeValue stored = loaded;
    if (stored.isScalar()) {
        stored.scalar = 7;
    } else {
        stored = randomBuffer(loaded.dtype, loaded.shape, chance).loadAll();
    }
    std::vector<double> changed = all;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        changed[static_cast<std::size_t>(elements[i])] = numbers(stored)[i];
    }
    Buffer after = memory;
    storeThrough(part, after, stored);
    ASSERT_EQ(numbers(loadThrough(ref, after)), changed);

    const machine::Reach reach = reachOf(part, memory.shape());
    const std::vector<double> old = numbers(memory.loadAll()), now = numbers(after.loadAll());
    for (std::size_t i = 0; i < old.size(); ++i) {
        ASSERT_TRUE(old[i] == now[i] || covers(reach, memory.shape(), static_cast<std::int64_t>(i)))
            << "element " << i << " was written";
    }
}

} // namespace

TEST(Recasts, partsLoadStoreAndReachTheirElements)
{
    for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
        SCOPED_TRACE(seed);
        Chance chance(seed);
        const DType dtypes[] = {DType::UInt8, DType::Int16, DType::Int32};
        const Shape shape{1 + chance.below(3), 4 * (1 + chance.below(3)), 2 + chance.below(3)};
        const Buffer memory = randomBuffer(dtypes[chance.below(3)], shape, chance);
        RefBinding ref{0};
        for (std::int64_t steps = 1 + chance.below(4); steps > 0; --steps) {
            ref = recastOnce(ref, memory, chance);
            const std::vector<Window> windows =
                randomWindows(machine::shapeOf(ref, memory.shape()), chance);
            expectPart(ref, memory, windows, chance);
            if (HasFatalFailure()) {
                return;
            }
            if (chance.below(2) == 0) {
                ref = narrowed(ref, memory.shape(), windows);
            }
        }
    }
}

// Consecutive elements that run over the ends of rows: a stretch covers exactly these.
TEST(Recasts, stretchesReachNoMoreThanTheirElements)
{
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        Chance chance(seed);
        Extents extents;
        for (std::int64_t rank = 1 + chance.below(4); rank > 0; --rank) {
            extents.push_back(1 + chance.below(4));
        }
        const Shape memory(extents);
        const std::int64_t all = memory.elements();
        const std::int64_t first = chance.below(all), count = 1 + chance.below(all - first);
        const RefBinding flat = reshaped(RefBinding{0}, memory, kInt, Shape{all});
        const machine::Reach reach =
            reachOf(narrowed(flat, memory, std::vector<Window>{{first, count}}), memory);
        for (std::int64_t i = 0; i < all; ++i) {
            ASSERT_EQ(covers(reach, memory, i), first <= i && i < first + count)
                << toString(memory) << ", " << count << " from " << first << ": element " << i;
        }
    }
}

// Words seen as bytes, one row of four for each row of words; and these seen as tokens of two rows.
TEST(Recasts, tokensOfBytesAreRowsOfWords)
{
    Chance chance(1);
    const Shape words{3, 8, 128};
    const Buffer memory = randomBuffer(kInt, words, chance);
    const RefBinding bytes = bitcasted(RefBinding{0}, words, DType::UInt8, {3, 32, 128});
    const RefBinding slabs = reshaped(bytes, words, DType::UInt8, {3, 8, 4, 128});
    const RefBinding tokens = reshaped(slabs, words, DType::UInt8, {12, 8, 128});
    const machine::Reach one =
        reachOf(narrowed(tokens, words, std::vector<Window>{{5, 2}, {0, 8}, {0, 128}}), words);
    EXPECT_EQ(one.start, (Extents{1, 2, 0}));
    EXPECT_EQ(one.stop, (Extents{2, 6, 128}));
    const machine::Reach row = reachOf(
        narrowed(slabs, words, std::vector<Window>{{2, 1, 1, false}, {3, 2}, {0, 4}, {0, 128}}),
        words);
    EXPECT_EQ(row.start, (Extents{2, 3, 0}));
    EXPECT_EQ(row.stop, (Extents{3, 5, 128}));
    const machine::Reach bytesOfOne = reachOf(
        narrowed(slabs, words, std::vector<Window>{{2, 1, 1, false}, {3, 1}, {1, 2}, {0, 128}}),
        words);
    EXPECT_EQ(bytesOfOne.start, (Extents{2, 3, 0}));
    EXPECT_EQ(bytesOfOne.stop, (Extents{3, 4, 128}));
}

// Views that share a place among the known ones, in memory of two shapes, and whole memory between.
TEST(KnownReaches, areThoseThatWouldBeFoundAnew)
{
    Chance chance(2);
    machine::KnownReaches known;
    const Shape shapes[] = {{4, 8, 16}, {8, 4, 16}};
    for (int time = 0; time < 20'000; ++time) {
        const Shape& memory = shapes[chance.below(2)];
        RefBinding ref{0};
        if (chance.below(8) != 0) {
            std::vector<Window> windows;
            for (const Extent extent : memory) {
                const std::int64_t start = chance.below(extent);
                const bool isKept = chance.below(3) != 0;
                windows.push_back({start, isKept ? extent - start : 1, 1, isKept});
            }
            ref = narrowed(ref, memory, windows);
        }
        EXPECT_EQ(*known.of(ref, memory), reachOf(ref, memory));
    }
}

} // namespace pallascope::machine_test
