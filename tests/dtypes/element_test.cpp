// Single elements of every dtype: codes, undefined memory, tiles.
#include "core/base/element.h"
#include "core/cost/tiling.h"
#include "core/machine/values/value.h"
#include "tests/dtypes/tables.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pallascope::dtype_test {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ElementTest, readingReturnsWhatWasWrittenForEveryCode)
{
    for (const DTypeEntry& entry : kDTypes) {
        if (entry.bits == 32) {
            continue;
        }
        for (const std::uint32_t code : allCodes(entry.type)) {
            std::byte bytes[4] = {};
            writeCode(entry.type, bytes, 0, code);
            const double value = readElement(entry.type, bytes, 0);
            writeElement(entry.type, bytes, 0, value);
            if (!std::isnan(value)) {
                ASSERT_EQ(readCode(entry.type, bytes, 0), code) << entry.name;
            }
        }
    }
}

TEST(ElementTest, theBitsAboveANarrowElementDoNotCount)
{
    const std::byte nine{0xe9}, six{0x37};
    EXPECT_EQ(readElement(DType::Int4, &nine, 0), -7);
    EXPECT_EQ(readElement(DType::UInt4, &nine, 0), 9);
    EXPECT_EQ(readElement(DType::F4E2M1FN, &six, 0), 6);
    std::byte written{0xff};
    writeElement(DType::Int4, &written, 0, -7);
    EXPECT_EQ(written, std::byte{0x09}) << "as NumPy stores an int4";
}

TEST(ElementTest, rangesAreThoseOfTheWidths)
{
    EXPECT_EQ(lowestInteger(DType::Int4), -8);
    EXPECT_EQ(highestInteger(DType::UInt4), 15);
    EXPECT_EQ(highestInteger(DType::UInt32), 4294967295);
    EXPECT_EQ(lowestInteger(DType::Int32), -2147483648LL);
    EXPECT_EQ(wrapInteger(DType::Int8, 300), 44);
    EXPECT_EQ(wrapInteger(DType::Int4, 9), -7);
    EXPECT_EQ(wrapInteger(DType::UInt16, -1), 65535);
    EXPECT_EQ(lowestNumber(DType::F8E5M2), -kInfinity);
    EXPECT_EQ(highestNumber(DType::F8E4M3FN), 448);
    EXPECT_EQ(highestNumber(DType::F8E4M3B11FNUZ), 30);
    EXPECT_EQ(lowestNumber(DType::F4E2M1FN), -6);
}

// What undefined memory is filled with in JAX's TPU interpreter (get_uninitialized_value) and with
// interpret=True (uninitialized_value), for each dtype.
TEST(ElementTest, undefinedMemoryIsFilledAsInJaxsInterpreters)
{
    struct Row
    {
        DType type;
        double nan, min;
    };

    for (const Row& row :
         {Row{DType::Int4, 7, -8}, Row{DType::UInt4, 15, 0}, Row{DType::Int8, 127, -128},
          Row{DType::UInt8, 255, 0}, Row{DType::Int16, 32767, -32768}, Row{DType::UInt16, 65535, 0},
          Row{DType::Int32, 2147483647, -2147483648.0}, Row{DType::UInt32, 4294967295, 0},
          Row{DType::Bool, 1, 0}}) {
        EXPECT_EQ(fillNumber(row.type, Fill::Nan), row.nan) << dtypeName(row.type);
        EXPECT_EQ(fillNumber(row.type, Fill::Max), row.nan) << dtypeName(row.type);
        EXPECT_EQ(fillNumber(row.type, Fill::Min), row.min) << dtypeName(row.type);
        EXPECT_EQ(fillNumber(row.type, Fill::Zero), 0) << dtypeName(row.type);
    }
    for (const DTypeEntry& entry : kDTypes) {
        if (entry.kind == DTypeKind::Float && entry.type != DType::F4E2M1FN) {
            EXPECT_TRUE(std::isnan(fillNumber(entry.type, Fill::Nan))) << entry.name;
            EXPECT_TRUE(std::isnan(fillNumber(entry.type, Fill::Min))) << entry.name;
            EXPECT_EQ(fillNumber(entry.type, Fill::Zero), 0) << entry.name;
        }
    }
    EXPECT_TRUE(std::signbit(fillNumber(DType::F4E2M1FN, Fill::Nan))) << "-0, for want of a NaN";
}

TEST(ElementTest, fillingWritesEveryElementAndNoMore)
{
    for (const DTypeEntry& entry : kDTypes) {
        for (const std::int64_t count : {0, 1, 2, 3, 7, 64, 65}) {
            Array array = makeArray(entry.type, {count + 1});
            writeElement(entry.type, array.data.get(), count, 0);
            machine::fillElements(entry.type, array.data.get(), count, 1);
            for (std::int64_t i = 0; i < count; ++i) {
                ASSERT_EQ(array.at(i), 1) << entry.name;
            }
            ASSERT_EQ(array.at(count), 0) << entry.name;
        }
    }
}

TEST(ElementTest, normalIntegersStayInTheRangeOfTheDtype)
{
    struct Row
    {
        DType type;
        double least, most;
    };

    for (const Row& row :
         {Row{DType::Int4, -8, 7}, Row{DType::UInt4, 0, 15}, Row{DType::Int8, -8, 8},
          Row{DType::UInt16, 0, 16}, Row{DType::Bool, 0, 1}}) {
        const Array array = normalArray(row.type, {2000}, 3);
        double least = 99, most = -99;
        for (std::int64_t i = 0; i < 2000; ++i) {
            least = std::min(least, array.at(i));
            most = std::max(most, array.at(i));
        }
        EXPECT_EQ(least, row.least) << dtypeName(row.type);
        EXPECT_EQ(most, row.most) << dtypeName(row.type);
    }
}

// JAX's infer_tiling (jax/_src/pallas/mosaic/pipeline.py) for a memory with tiles of (8, 128).
TEST(ElementTest, tilesGrowWithTheElementsThatAWordHolds)
{
    const std::vector<std::int64_t> native{8, 128};
    using Tile = std::vector<Extent>;
    EXPECT_EQ(cost::tiling(DType::F32, {256, 256}, native), (Tile{8, 128}));
    EXPECT_EQ(cost::tiling(DType::F16, {256, 256}, native), (Tile{8, 128}));
    EXPECT_EQ(cost::tiling(DType::UInt8, {256, 256}, native), (Tile{8, 128}));
    EXPECT_EQ(cost::tiling(DType::Int4, {256, 256}, native), (Tile{8, 128}));
    EXPECT_EQ(cost::tiling(DType::F16, {1, 128}, native), (Tile{2, 128}));
    EXPECT_EQ(cost::tiling(DType::F8E5M2, {1, 128}, native), (Tile{4, 128}));
    EXPECT_EQ(cost::tiling(DType::Int4, {1, 128}, native), (Tile{8, 128}));
    EXPECT_EQ(cost::tiling(DType::Int16, {4096}, native), (Tile{256}));
    EXPECT_EQ(cost::tiling(DType::F4E2M1FN, {4096}, native), (Tile{1024}));
    EXPECT_EQ(cost::paddedBytes(DType::Int4, {16, 128}, native), Bytes(1024));
    EXPECT_EQ(cost::paddedBytes(DType::Int4, {3, 100}, native), Bytes(512));
}

} // namespace

} // namespace pallascope::dtype_test
