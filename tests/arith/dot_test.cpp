// Products of matrices, compared with products in f64, at each level of instructions.
#include "core/machine/arith/ahead.h"
#include "core/machine/arith/dot.h"
#include "core/machine/arith/threads.h"
#include "tests/arith/levels.h"

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace pallascope::arith {

namespace {

enum class Layout
{
    RowMajor,
    Transposed,
    Scattered
};

// A random matrix stored in one of the layouts, and its values in f64.
struct Operand
{
    Operand(std::int64_t rows, std::int64_t columns, DType type, Layout layout,
            std::mt19937& random)
        : values(rows, columns)
        , dtype(type)
    {
        switch (layout) {
        case Layout::RowMajor:
            columnStride = 1;
            rowStride = columns + 3;
            break;
        case Layout::Transposed:
            rowStride = 1;
            columnStride = rows + 5;
            break;
        case Layout::Scattered:
            columnStride = 2;
            rowStride = 2 * columns + 1;
            break;
        }
        const std::int64_t count = rows * rowStride + columns * columnStride;
        // NaN lies between the elements, so that reading it would spoil the sums.
        floats.assign(static_cast<std::size_t>(count), std::numeric_limits<float>::quiet_NaN());
        halves.assign(static_cast<std::size_t>(count), 0x7fc0);
        std::normal_distribution<float> normal;
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < columns; ++j) {
                const auto index = static_cast<std::size_t>(i * rowStride + j * columnStride);
                const float value = normal(random);
                floats[index] = value;
                halves[index] = floatToBf16(value);
                values(i, j) = dtype == DType::F32 ? value : bf16ToFloat(halves[index]);
            }
        }
    }

    [[nodiscard]] DotOperand operand() const
    {
        const void* data = dtype == DType::F32 ? static_cast<const void*>(floats.data())
                                               : static_cast<const void*>(halves.data());
        return {data, dtype, rowStride, columnStride};
    }

    Eigen::MatrixXd values;
    DType dtype;
    std::int64_t rowStride = 0;
    std::int64_t columnStride = 0;
    std::vector<float> floats;
    std::vector<std::uint16_t> halves;
};

constexpr float kUntouched = 12345.0F;

// What a product is added to.
enum class Plus
{
    Nothing,
    Out,
    Other
};

// Calls dot with an output whose rows are longer than n, and checks every element and the gaps.
void expectRightProduct(const Operand& a, const Operand& b, Plus plus, std::mt19937& random)
{
    const std::int64_t m = a.values.rows();
    const std::int64_t n = b.values.cols();
    const std::int64_t ldOut = n + 2;
    std::vector<float> out(static_cast<std::size_t>(m * ldOut), kUntouched);
    std::vector<float> other(out.size(), kUntouched);
    std::vector<float>& added = plus == Plus::Other ? other : out;
    Eigen::MatrixXd before = Eigen::MatrixXd::Zero(m, n);
    if (plus != Plus::Nothing) {
        std::normal_distribution<float> normal;
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                const float value = normal(random);
                added[static_cast<std::size_t>(i * ldOut + j)] = value;
                before(i, j) = value;
            }
        }
    }
    dot(m, n, a.values.cols(), a.operand(), b.operand(), out.data(), ldOut,
        plus == Plus::Nothing ? nullptr : added.data());

    const Eigen::MatrixXd expected = before + a.values * b.values;
    const Eigen::MatrixXd scale = before.cwiseAbs() + a.values.cwiseAbs() * b.values.cwiseAbs();
    for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < ldOut; ++j) {
            const float value = out[static_cast<std::size_t>(i * ldOut + j)];
            if (j >= n) {
                ASSERT_EQ(value, kUntouched) << "past the end of row " << i;
                continue;
            }
            ASSERT_LE(std::abs(value - expected(i, j)), 8 * std::ldexp(scale(i, j), -24))
                << "element " << i << ", " << j;
        }
    }
}

class Dot : public testing::TestWithParam<DotLevel>
{
protected:
    void SetUp() override
    {
        if (!dotLevelSupported(GetParam())) {
            GTEST_SKIP() << "this CPU lacks the level";
        }
        setDotLevel(GetParam());
    }

    void TearDown() override
    {
        setDotLevel(m_levelBefore);
        setThreadCount(m_threadsBefore);
    }

private:
    DotLevel m_levelBefore = dotLevel();
    int m_threadsBefore = threadCount();
};

TEST_P(Dot, isTheProductForEveryLayoutTypeAndMode)
{
    std::mt19937 random(1);
    for (const DType aType : {DType::F32, DType::BF16}) {
        for (const DType bType : {DType::F32, DType::BF16}) {
            for (const Layout aLayout : {Layout::RowMajor, Layout::Transposed, Layout::Scattered}) {
                for (const Layout bLayout :
                     {Layout::RowMajor, Layout::Transposed, Layout::Scattered}) {
                    for (const Plus plus : {Plus::Nothing, Plus::Out, Plus::Other}) {
                        SCOPED_TRACE(testing::Message()
                                     << dtypeName(aType) << " " << dtypeName(bType) << " layouts "
                                     << static_cast<int>(aLayout) << static_cast<int>(bLayout)
                                     << " plus " << static_cast<int>(plus));
                        const Operand a(61, 83, aType, aLayout, random);
                        const Operand b(83, 77, bType, bLayout, random);
                        expectRightProduct(a, b, plus, random);
                    }
                }
            }
        }
    }
}

TEST_P(Dot, isTheProductForSizesAroundEveryTile)
{
    // Rows and columns go past the largest register tile, so that all its partial variants occur.
    std::mt19937 random(2);
    for (std::int64_t m = 1; m <= 17; ++m) {
        for (const std::int64_t n : {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 63, 65}) {
            for (const std::int64_t k : {1, 2, 5, 19}) {
                SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
                const Operand a(m, k, DType::BF16, Layout::RowMajor, random);
                const Operand b(k, n, DType::F32, Layout::Transposed, random);
                expectRightProduct(a, b, static_cast<Plus>((m + n + k) % 3), random);
            }
        }
    }
}

TEST_P(Dot, isTheProductForRandomSizes)
{
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto size = [&](std::int64_t largest) {
            return std::uniform_int_distribution<std::int64_t>(1, largest)(random);
        };
        const auto layout = [&] { return static_cast<Layout>(size(3) - 1); };
        const auto type = [&] { return size(2) == 1 ? DType::F32 : DType::BF16; };
        const std::int64_t m = size(150);
        const std::int64_t n = size(400);
        const std::int64_t k = size(300);
        const Operand a(m, k, type(), layout(), random);
        const Operand b(k, n, type(), layout(), random);
        expectRightProduct(a, b, static_cast<Plus>(size(3) - 1), random);
    }
}

TEST_P(Dot, isTheProductBeyondEveryBlockSize)
{
    // Longer than one part of k, wider than one packed part of b, and computed by several threads.
    std::mt19937 random(3);
    for (const Plus plus : {Plus::Nothing, Plus::Out, Plus::Other}) {
        expectRightProduct(Operand(9, 1543, DType::BF16, Layout::RowMajor, random),
                           Operand(1543, 101, DType::F32, Layout::RowMajor, random), plus, random);
        expectRightProduct(Operand(5, 521, DType::F32, Layout::Transposed, random),
                           Operand(521, 4133, DType::BF16, Layout::RowMajor, random), plus, random);
    }
}

TEST_P(Dot, givesTheSameBitsOnAnyNumberOfThreads)
{
    std::mt19937 random(4);
    for (const bool large : {false, true}) {
        const std::int64_t m = large ? 301 : 97;
        const std::int64_t n = large ? 515 : 130;
        const std::int64_t k = large ? 700 : 129;
        const Operand a(m, k, DType::BF16, Layout::RowMajor, random);
        const Operand b(k, n, DType::BF16, Layout::Transposed, random);
        std::vector<float> first;
        for (const int threads : {1, 2, 3}) {
            setThreadCount(threads);
            for (int repetition = 0; repetition < 3; ++repetition) {
                std::vector<float> out(static_cast<std::size_t>(m * n), 0.25F);
                dot(m, n, k, a.operand(), b.operand(), out.data(), n, out.data());
                if (first.empty()) {
                    first = out;
                }
                ASSERT_EQ(std::memcmp(out.data(), first.data(), out.size() * sizeof(float)), 0)
                    << m << " rows on " << threads << " threads";
            }
        }
    }
}

TEST_P(Dot, givesTheSameBitsWhateverItFetchesBeside)
{
    std::mt19937 random(5);
    const std::int64_t size = 128;
    const Operand a(size, size, DType::F32, Layout::RowMajor, random);
    const Operand b(size, size, DType::F32, Layout::RowMajor, random);
    const auto multiply = [&] {
        std::vector<float> out(static_cast<std::size_t>(size * size), 0.25F);
        dot(size, size, size, a.operand(), b.operand(), out.data(), size, out.data());
        return out;
    };
    const void* const nowhere = reinterpret_cast<const void*>(std::uintptr_t{1} << 40);
    for (const int threads : {1, 2, 3}) {
        setThreadCount(threads);
        const std::vector<float> alone = multiply();
        for (const auto& [data, rows, bytes, pitch] :
             {std::tuple<const void*, std::int64_t, std::int64_t, std::int64_t>(
                  a.floats.data(), size, size * 4, a.rowStride * 4),
              {b.floats.data(), 7, 13, 17},
              {a.floats.data(), 0, 64, 64},
              {b.floats.data(), 5, 0, 64},
              {nowhere, 3, 400, 4096},
              {a.floats.data(), std::int64_t{1} << 30, std::int64_t{1} << 30, 64}}) {
            fetchBeside(data, rows, bytes, pitch);
            fetchBeside(b.floats.data(), size, size * 4, b.rowStride * 4);
            const std::vector<float> beside = multiply();
            EXPECT_EQ(std::memcmp(beside.data(), alone.data(), alone.size() * sizeof(float)), 0)
                << rows << " rows of " << bytes << " bytes on " << threads << " threads";
        }
        for (int i = 0; i < 20; ++i) { // more often than needed
            fetchBeside(a.floats.data(), size, size * 4, a.rowStride * 4);
        }
        EXPECT_EQ(multiply(), alone);
    }
}

TEST_P(Dot, givesAnElementTheSameBitsWhereverItStands)
{
    // Blocks of a product are products of blocks, because all elements are summed alike.
    std::mt19937 random(5);
    const std::int64_t n = 75;
    const Operand a(50, 600, DType::F32, Layout::RowMajor, random);
    const Operand b(600, n, DType::F32, Layout::RowMajor, random);
    std::vector<float> whole(50 * 75);
    dot(50, n, 600, a.operand(), b.operand(), whole.data(), n, nullptr);
    for (const std::int64_t row : {0, 13, 49}) {
        for (std::int64_t column = 0; column < n; ++column) {
            DotOperand aRow = a.operand();
            aRow.data = a.floats.data() + row * a.rowStride;
            DotOperand bColumn = b.operand();
            bColumn.data = b.floats.data() + column;
            float alone = 0;
            dot(1, 1, 600, aRow, bColumn, &alone, 1, nullptr);
            ASSERT_EQ(alone, whole[static_cast<std::size_t>(row * n + column)]);
        }
    }
}

TEST_P(Dot, ofNothingIsZeroOrLeavesTheSum)
{
    const float one = 1.0F;
    const DotOperand none{&one, DType::F32, 0, 1};
    std::vector<float> out(6, kUntouched);
    dot(2, 2, 0, none, none, out.data(), 3, out.data());
    EXPECT_EQ(out, std::vector<float>(6, kUntouched));
    dot(2, 2, 0, none, none, out.data(), 3, nullptr);
    EXPECT_EQ(out, (std::vector<float>{0, 0, kUntouched, 0, 0, kUntouched}));
    dot(0, 2, 3, none, none, out.data(), 3, nullptr);
    dot(2, 0, 3, none, none, out.data(), 3, nullptr);
    EXPECT_EQ(out, (std::vector<float>{0, 0, kUntouched, 0, 0, kUntouched}));
}

TEST_P(Dot, keepsInfinitiesAndNanInTheirRowsAndColumns)
{
    const std::int64_t size = 37;
    const auto index = [&](std::int64_t i, std::int64_t j) {
        return static_cast<std::size_t>(i * size + j);
    };
    std::vector<float> a(index(size, 0), 1.0F);
    std::vector<float> b(index(size, 0), 1.0F);
    a[index(36, 4)] = std::numeric_limits<float>::infinity();
    b[index(7, 35)] = std::numeric_limits<float>::quiet_NaN();
    b[index(4, 2)] = 0.0F; // gives infinity times zero
    std::vector<float> out(index(size, 0));
    dot(size, size, size, {a.data(), DType::F32, size, 1}, {b.data(), DType::F32, size, 1},
        out.data(), size, nullptr);
    for (std::int64_t i = 0; i < size; ++i) {
        for (std::int64_t j = 0; j < size; ++j) {
            const float value = out[index(i, j)];
            if (j == 35 || (i == 36 && j == 2)) {
                EXPECT_TRUE(std::isnan(value)) << i << ", " << j;
            } else if (i == 36) {
                EXPECT_EQ(value, std::numeric_limits<float>::infinity()) << j;
            } else {
                EXPECT_EQ(value, j == 2 ? 36.0F : 37.0F) << i << ", " << j;
            }
        }
    }
}

TEST_P(Dot, readsABroadcastOperandThroughStrideZero)
{
    const float two = 2.0F;
    std::vector<float> out(3 * 40);
    dot(3, 40, 5, {&two, DType::F32, 0, 0}, {&two, DType::F32, 0, 0}, out.data(), 40, nullptr);
    EXPECT_EQ(out, std::vector<float>(3 * 40, 20.0F));
}

TEST_P(Dot, ofInt32WrapsAroundLikeUnsignedSums)
{
    std::mt19937 random(6);
    const std::int64_t m = 41;
    const std::int64_t n = 53;
    const std::int64_t k = 67;
    const auto draw = [&](std::int64_t count) {
        std::vector<std::int32_t> values(static_cast<std::size_t>(count));
        for (std::int32_t& value : values) {
            value = static_cast<std::int32_t>(random());
        }
        return values;
    };
    const std::vector<std::int32_t> a = draw(m * k);
    const std::vector<std::int32_t> b = draw(k * n);
    for (const bool transposed : {false, true}) {
        for (const bool accumulate : {false, true}) {
            const std::int64_t aRow = transposed ? 1 : k;
            const std::int64_t aColumn = transposed ? m : 1;
            std::vector<std::int32_t> out = draw(m * n);
            std::vector<std::int32_t> expected = out;
            for (std::int64_t i = 0; i < m; ++i) {
                for (std::int64_t j = 0; j < n; ++j) {
                    auto& element = expected[static_cast<std::size_t>(i * n + j)];
                    auto sum = accumulate ? static_cast<std::uint32_t>(element) : 0U;
                    for (std::int64_t l = 0; l < k; ++l) {
                        const auto left = static_cast<std::size_t>(i * aRow + l * aColumn);
                        const auto right = static_cast<std::size_t>(l * n + j);
                        sum += static_cast<std::uint32_t>(a[left])
                               * static_cast<std::uint32_t>(b[right]);
                    }
                    element = static_cast<std::int32_t>(sum);
                }
            }
            dotInt32(m, n, k, {a.data(), DType::Int32, aRow, aColumn},
                     {b.data(), DType::Int32, n, 1}, out.data(), n,
                     accumulate ? out.data() : nullptr);
            EXPECT_EQ(out, expected) << transposed << accumulate;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, Dot, everyLevel(), levelName);

} // namespace

} // namespace pallascope::arith
