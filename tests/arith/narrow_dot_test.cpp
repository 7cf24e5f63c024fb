// Products whose operands are read in their own dtypes, compared with products of the same operands
// widened first.
#include "core/base/element.h"
#include "core/machine/arith/convert.h"
#include "core/machine/arith/dot.h"
#include "tests/arith/levels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <tuple>
#include <vector>

namespace pallascope::arith {

namespace {

constexpr std::int64_t kRows = 29, kDepth = 600, kColumns = 53;

// Finite elements of a dtype, whose codes are drawn with equal probability.
struct Elements
{
    Elements(DType type, std::int64_t count, std::uint32_t seed)
        : dtype(type)
        , data(static_cast<std::size_t>(count * dtypeBytes(type)))
    {
        std::mt19937 random(seed);
        const std::uint32_t codes = 0xffffffffU >> static_cast<unsigned>(32 - dtypeBits(type));
        for (std::int64_t i = 0; i < count; ++i) {
            writeCode(type, data.data(), i, static_cast<std::uint32_t>(random()) & codes);
            if (!std::isfinite(readElement(type, data.data(), i))) {
                writeCode(type, data.data(), i, 0);
            }
        }
    }

    [[nodiscard]] Elements as(DType type) const
    {
        const auto count = static_cast<std::int64_t>(data.size()) / dtypeBytes(dtype);
        Elements converted(type, count, 0);
        convert(dtype, data.data(), type, converted.data.data(), count);
        return converted;
    }

    [[nodiscard]] DotOperand rows(std::int64_t columns) const
    {
        return {data.data(), dtype, columns, 1};
    }

    [[nodiscard]] DotOperand columns(std::int64_t rows) const
    {
        return {data.data(), dtype, 1, rows};
    }

    DType dtype;
    std::vector<std::byte> data;
};

class NarrowDot : public testing::TestWithParam<DotLevel>
{
protected:
    void SetUp() override
    {
        if (!dotLevelSupported(GetParam())) {
            GTEST_SKIP() << "this CPU lacks the level";
        }
        setDotLevel(GetParam());
    }

    void TearDown() override { setDotLevel(m_levelBefore); }

private:
    DotLevel m_levelBefore = dotLevel();
};

std::vector<float> product(const DotOperand& a, const DotOperand& b, const std::vector<float>& plus)
{
    std::vector<float> out(static_cast<std::size_t>(kRows * kColumns));
    dot(kRows, kColumns, kDepth, a, b, out.data(), kColumns, plus.empty() ? nullptr : plus.data());
    return out;
}

TEST_P(NarrowDot, ofFloatsHasTheBitsOfTheirF32)
{
    for (const DTypeEntry& entry : kDTypes) {
        if (!readByProducts(entry.type)) {
            continue;
        }
        SCOPED_TRACE(entry.name);
        const Elements a(entry.type, kRows * kDepth, 1);
        const Elements b(entry.type, kDepth * kColumns, 2),
            other(DType::BF16, kDepth * kColumns, 3);
        const Elements wideA = a.as(DType::F32), wideB = b.as(DType::F32);
        const std::vector<float> plus(static_cast<std::size_t>(kRows * kColumns), 0.5F);
        for (const auto& [narrow, wide] :
             {std::pair{product(a.rows(kDepth), b.rows(kColumns), {}),
                        product(wideA.rows(kDepth), wideB.rows(kColumns), {})},
              std::pair{product(a.columns(kRows), b.columns(kDepth), plus),
                        product(wideA.columns(kRows), wideB.columns(kDepth), plus)},
              std::pair{product(a.columns(kRows), other.rows(kColumns), plus),
                        product(wideA.columns(kRows), other.rows(kColumns), plus)}}) {
            EXPECT_EQ(std::memcmp(narrow.data(), wide.data(), wide.size() * sizeof(float)), 0);
        }
    }
}

// Each code is multiplied by 1 in a product of one element, so nothing can hide an error.
TEST_P(NarrowDot, readsEveryCode)
{
    for (const DTypeEntry& entry : kDTypes) {
        if (!readByProducts(entry.type) || entry.bits > 16) {
            continue;
        }
        SCOPED_TRACE(entry.name);
        const std::int64_t count = std::int64_t{1} << static_cast<unsigned>(entry.bits);
        Elements codes(entry.type, count, 0);
        for (std::int64_t i = 0; i < count; ++i) {
            writeCode(entry.type, codes.data.data(), i, static_cast<std::uint32_t>(i));
        }
        const Elements wide = codes.as(DType::F32);
        const float one = 1;
        std::vector<float> out(static_cast<std::size_t>(count)), expected = out;
        const DotOperand unit{&one, DType::F32, 1, 1};
        dot(count, 1, 1, codes.rows(1), unit, out.data(), 1, nullptr);
        dot(count, 1, 1, wide.rows(1), unit, expected.data(), 1, nullptr);
        EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)), 0);
        dot(1, count, 1, unit, codes.rows(count), out.data(), count, nullptr);
        EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)), 0);
    }
}

std::vector<std::int32_t> wholeProduct(const DotOperand& a, const DotOperand& b,
                                       std::vector<std::int32_t> plus = {})
{
    std::vector<std::int32_t> out(static_cast<std::size_t>(kRows * kColumns));
    dotInt32(kRows, kColumns, kDepth, a, b, out.data(), kColumns,
             plus.empty() ? nullptr : plus.data());
    if (!plus.empty()) { // the same in place
        dotInt32(kRows, kColumns, kDepth, a, b, plus.data(), kColumns, plus.data());
        EXPECT_EQ(plus, out);
    }
    return out;
}

TEST_P(NarrowDot, ofWholeNumbersIsExactAndWrapsAround)
{
    const DType types[] = {DType::Int2,  DType::UInt2, DType::Int4,
                           DType::UInt4, DType::Int8,  DType::UInt8};
    const std::vector<std::int32_t> plus(static_cast<std::size_t>(kRows * kColumns), 0x7fffff00);
    for (const DType left : types) {
        for (const DType right : types) {
            SCOPED_TRACE(testing::Message() << dtypeName(left) << " x " << dtypeName(right));
            const Elements a(left, kRows * kDepth, 1), b(right, kDepth * kColumns, 2);
            const Elements wideA = a.as(DType::Int32), wideB = b.as(DType::Int32);
            EXPECT_EQ(wholeProduct(a.rows(kDepth), b.rows(kColumns)),
                      wholeProduct(wideA.rows(kDepth), wideB.rows(kColumns)));
            EXPECT_EQ(wholeProduct(a.columns(kRows), b.columns(kDepth), plus),
                      wholeProduct(wideA.columns(kRows), wideB.columns(kDepth), plus));
        }
    }
}

TEST_P(NarrowDot, ofTheLargestWholeNumbersIsExact)
{
    for (const auto& [type, code, square] :
         {std::tuple<DType, int, std::int32_t>{DType::Int8, 0x80, 1 << 14},
          {DType::UInt8, 0xff, 255 * 255},
          {DType::Int4, 0x8, 64},
          {DType::UInt4, 0xf, 225}}) {
        for (const std::int64_t depth : {255, 256, 257, 511, 512, 513, 1030}) {
            const std::vector<std::uint8_t> ones(static_cast<std::size_t>(depth),
                                                 static_cast<std::uint8_t>(code));
            std::int32_t sum = 0;
            dotInt32(1, 1, depth, {ones.data(), type, depth, 1}, {ones.data(), type, 1, 1}, &sum, 1,
                     nullptr);
            EXPECT_EQ(sum, square * static_cast<std::int32_t>(depth)) << dtypeName(type);
        }
    }
}

// Products of few rows read b without packing it.
TEST_P(NarrowDot, ofFewRowsHasTheBitsOfManyRows)
{
    constexpr std::int64_t kMany = 61, kWidth = 192, kLong = 700;
    const Elements a(DType::BF16, kMany * kLong, 1);
    for (const DType type : {DType::F32, DType::Int32}) {
        const Elements left = a.as(type), b = Elements(DType::BF16, kLong * kWidth, 2).as(type);
        const auto multiplied = [&](std::int64_t rows, std::int64_t width) {
            std::vector<float> out(static_cast<std::size_t>(rows * width), 0.25F);
            DotOperand columns = b.rows(kWidth);
            if (type == DType::F32) {
                dot(rows, width, kLong, left.rows(kLong), columns, out.data(), width, out.data());
            } else {
                auto* sums = reinterpret_cast<std::int32_t*>(out.data());
                dotInt32(rows, width, kLong, left.rows(kLong), columns, sums, width, sums);
            }
            return out;
        };
        const std::vector<float> many = multiplied(kMany, kWidth);
        for (const std::int64_t rows : {1, 3, 4, 5, 6, 7, 8, 13, 14, 15}) {
            for (const std::int64_t width : {32, 64, 128, 192}) {
                const std::vector<float> few = multiplied(rows, width);
                for (std::int64_t row = 0; row < rows; ++row) {
                    ASSERT_EQ(std::memcmp(few.data() + row * width, many.data() + row * kWidth,
                                          static_cast<std::size_t>(width) * sizeof(float)),
                              0)
                        << dtypeName(type) << " " << rows << " x " << width;
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, NarrowDot, everyLevel(), levelName);

} // namespace

} // namespace pallascope::arith
