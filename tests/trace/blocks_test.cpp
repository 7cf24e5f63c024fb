// Blocks that do not lie side by side: where they are, and what they are called.
#include "core/trace/lookup.h"

#include <gtest/gtest.h>

namespace pallascope::trace {

namespace {

// An operand with an array of 32 rows and 256 columns and blocks of 16 rows and 128 columns.
Operand operandOf(std::vector<Extent> counts)
{
    Operand operand;
    operand.name = "x";
    operand.array = Shape{32, 256};
    operand.block = Shape{16, 128};
    operand.blockCounts = std::move(counts);
    operand.gridAxes = {-1, -1};
    return operand;
}

std::vector<Extent> ranges(const Operand& operand, std::int64_t block)
{
    std::vector<Extent> found;
    for (std::size_t axis = 0; axis < operand.block.rank(); ++axis) {
        const AxisRange range = rangeOf(operand, block, axis);
        found.insert(found.end(), {range.from, range.to});
    }
    return found;
}

TEST(Blocks, ofNumbersLieOneAfterTheOther)
{
    const Operand operand = operandOf({2, 2});
    EXPECT_EQ(ranges(operand, 3), (std::vector<Extent>{16, 32, 128, 256}));
    EXPECT_EQ(blockName(operand, 3), "x(1,1)");
}

TEST(Blocks, ofElementsStartAtThemCutToTheArray)
{
    Operand operand = operandOf({40, 2}); // 8 elements of padding before the first row
    operand.elementAxes = {0};
    operand.elementPads = {8};
    EXPECT_EQ(ranges(operand, 0), (std::vector<Extent>{0, 8, 0, 128}));
    EXPECT_EQ(ranges(operand, 2 * 12 + 1), (std::vector<Extent>{4, 20, 128, 256}));
    EXPECT_EQ(ranges(operand, 2 * 30), (std::vector<Extent>{22, 32, 0, 128}));
    EXPECT_EQ(blockName(operand, 2 * 12 + 1), "x(12,1)"); // the numbers are those of the index map
}

TEST(Blocks, ofSlicesAreNamedByFirstAndLast)
{
    Operand operand = operandOf({32 * 16, 2});
    operand.sliceAxes = {0};
    const std::int64_t fiveFromFour = (4 * 16 + 5 - 1) * 2 + 1;
    EXPECT_EQ(ranges(operand, fiveFromFour), (std::vector<Extent>{4, 9, 128, 256}));
    EXPECT_EQ(blockName(operand, fiveFromFour), "x(4:9,1)");
}

} // namespace

} // namespace pallascope::trace
