// Cells of blocks that may overlap, against the elements of every block.
#include "core/trace/windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace pallascope::trace {

namespace {

// Rows anywhere, with padding before the array; columns in blocks of 128.
Operand windowOperand(Extent rows, Extent window, Extent pad)
{
    Operand operand;
    operand.array = Shape{rows, 256};
    operand.block = Shape{window, 128};
    operand.blockCounts = {rows + 2 * pad, 2};
    operand.gridAxes = {-1, -1};
    operand.elementAxes = {0};
    operand.elementPads = {pad};
    return operand;
}

// The rows of a cell, cut to the array.
std::pair<Extent, Extent> rowsOf(const Windows& windows, const Operand& operand, std::int64_t cell)
{
    const Extent row = cell / windows.counts()[1];
    return {row * windows.cell()[0], std::min((row + 1) * windows.cell()[0], operand.array[0])};
}

} // namespace

TEST(Windows, ofAConvolutionAreWholeCells)
{
    const Operand operand = windowOperand(264, 72, 0);
    const Windows windows(operand, {0, 2 * 64, 2 * 128, 2 * 192});
    EXPECT_EQ(windows.cell(), (std::vector<Extent>{8, 128}));
    EXPECT_EQ(windows.counts(), (std::vector<Extent>{33, 2}));
    EXPECT_EQ(windows.cellsOf(operand, 2 * 64),
              (std::vector<std::int64_t>{16, 18, 20, 22, 24, 26, 28, 30, 32}));
    const auto over = windows.over(16); // the last rows of the first window, the first of the next
    ASSERT_EQ(over.size(), 2U);
    EXPECT_EQ(over[0].block, 0);
    EXPECT_EQ(over[1].block, 2 * 64);
    EXPECT_TRUE(windows.over(1).empty()); // no step uses the columns on the right
}

TEST(Windows, ofOperandsWhoseBlocksLieSideBySideAreNone)
{
    Operand operand = windowOperand(64, 16, 0);
    operand.elementAxes.clear();
    operand.elementPads.clear();
    EXPECT_TRUE(Windows(operand, {0, 1}).empty());
    operand.blockCounts = {64 * 16, 2};
    operand.sliceAxes = {0};
    EXPECT_FALSE(Windows(operand, {0, 1}).empty());
    operand.pipeline = kNone;
    EXPECT_TRUE(Windows(operand, {0, 1}).empty());
}

TEST(Windows, touchTheCellsOfTheirElementsAndNoOthers)
{
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto upTo = [&](Extent most) { return static_cast<Extent>(random()) % (most + 1); };
        const Operand operand = windowOperand(1 + upTo(300), 1 + upTo(80), upTo(20));
        const Extent stride = 1 + upTo(40), pad = operand.elementPads[0];
        std::vector<std::int64_t> blocks;
        for (Extent first = 0; first < operand.array[0] + pad; first += stride) {
            blocks.push_back(2 * first + (first / stride) % 2);
        }
        const Windows windows(operand, blocks);
        ASSERT_FALSE(windows.empty());
        std::set<std::pair<std::int64_t, std::int64_t>> covers;
        for (const std::int64_t block : blocks) {
            const AxisRange range = rangeOf(operand, block, 0);
            std::set<Extent> rows; // of all its cells
            for (const std::int64_t cell : windows.cellsOf(operand, block)) {
                EXPECT_EQ(cell % 2, block % 2);
                const auto [from, to] = rowsOf(windows, operand, cell);
                for (Extent row = from; row < to; ++row) {
                    EXPECT_TRUE(rows.insert(row).second);
                }
                covers.emplace(cell, block);
            }
            const auto size = static_cast<std::size_t>(std::max<Extent>(range.to - range.from, 0));
            ASSERT_EQ(rows.size(), size);
            if (size > 0) {
                EXPECT_EQ(*rows.begin(), range.from);
            }
        }
        std::set<std::pair<std::int64_t, std::int64_t>> found;
        for (std::int64_t cell = 0; cell < windows.counts()[0] * windows.counts()[1]; ++cell) {
            for (const Windows::Cover& cover : windows.over(cell)) {
                found.emplace(cell, cover.block);
            }
        }
        EXPECT_EQ(found, covers);
    }
}

// Then a block touches cells that it does not fill.
TEST(Windows, ofVeryManyElementsHaveLargerCells)
{
    const Operand operand = windowOperand(1'000'000, 1001, 0);
    const Windows windows(operand, {0, 2 * 333, 2 * 500'000});
    EXPECT_GT(windows.cell()[0], 1);
    EXPECT_LE(windows.counts()[0], 1 << 16);
    for (const std::int64_t first : {0, 333, 500'000}) {
        const std::vector<std::int64_t> cells = windows.cellsOf(operand, 2 * first);
        EXPECT_LE(rowsOf(windows, operand, cells.front()).first, first);
        EXPECT_GE(rowsOf(windows, operand, cells.back()).second, first + 1001);
    }
}

} // namespace pallascope::trace
