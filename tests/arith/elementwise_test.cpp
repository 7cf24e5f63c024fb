// Elementwise operations at each level of instructions, compared with scalar code.
#include "core/base/dtype.h"
#include "core/machine/arith/dot.h"
#include "core/machine/arith/elementwise.h"
#include "core/machine/arith/subnormals.h"
#include "tests/arith/levels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pallascope::arith {

namespace {

class Elementwise : public testing::TestWithParam<DotLevel>
{
protected:
    void SetUp() override
    {
        if (!dotLevelSupported(GetParam())) {
            GTEST_SKIP() << "this CPU lacks the level";
        }
        setDotLevel(GetParam());
    }

    void TearDown() override { setDotLevel(m_before); }

private:
    DotLevel m_before = dotLevel();
};

std::vector<std::uint32_t> bitsOf(const std::vector<float>& values)
{
    std::vector<std::uint32_t> bits(values.size());
    std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
    return bits;
}

std::vector<float> randomFloats(std::size_t count, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float& value : values) {
        value = normal(random);
    }
    return values;
}

TEST_P(Elementwise, everyBf16WidensAsTheDtypeSays)
{
    std::vector<std::uint16_t> from(65536);
    std::vector<std::uint32_t> expected(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] = static_cast<std::uint16_t>(i);
        expected[i] = std::bit_cast<std::uint32_t>(bf16ToFloat(from[i]));
    }
    std::vector<float> to(from.size());
    bf16ToF32(from.data(), to.data(), 65536);
    EXPECT_EQ(bitsOf(to), expected);
}

TEST_P(Elementwise, f32NarrowsAsTheDtypeSays)
{
    // Around every bf16: the number itself, its neighbours, the midpoint to the next bf16 and its
    // neighbours. For infinities and NaN these are NaN of all kinds. Then random bits.
    std::vector<std::uint32_t> bits;
    for (std::uint32_t high = 0; high < 65536; ++high) {
        for (const std::uint32_t low : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
            bits.push_back(high << 16U | low);
        }
    }
    std::mt19937 random(1);
    for (int i = 0; i < 1'000'003; ++i) {
        bits.push_back(static_cast<std::uint32_t>(random()));
    }
    std::vector<float> from(bits.size());
    std::memcpy(from.data(), bits.data(), bits.size() * sizeof(float));
    std::vector<std::uint16_t> to(bits.size());
    f32ToBf16(from.data(), to.data(), static_cast<std::int64_t>(bits.size()));
    for (std::size_t i = 0; i < bits.size(); ++i) {
        ASSERT_EQ(to[i], floatToBf16(std::bit_cast<float>(bits[i]))) << "bits " << bits[i];
    }
}

// Pairs of all special numbers, then random pairs. Their number is odd, so that some are left over
// after the last whole vector.
struct Pairs
{
    std::vector<float> a, b;

    Pairs()
    {
        std::vector<float> special{0.0F,
                                   1.0F,
                                   3.5F,
                                   0x1p-126F,
                                   0x1p-149F,
                                   0x1.8p-127F,
                                   std::numeric_limits<float>::max(),
                                   std::numeric_limits<float>::infinity(),
                                   std::numeric_limits<float>::quiet_NaN(),
                                   std::bit_cast<float>(0x7fc1'2345U)};
        for (std::size_t i = 0, count = special.size(); i < count; ++i) {
            special.push_back(-special[i]);
        }
        for (const float x : special) {
            for (const float y : special) {
                a.push_back(x);
                b.push_back(y);
            }
        }
        for (std::uint64_t seed : {1U, 2U}) {
            const std::vector<float> more = randomFloats(1001, seed);
            std::vector<float>& to = seed == 1 ? a : b;
            to.insert(to.end(), more.begin(), more.end());
        }
    }
};

// As in XLA: a subnormal is 0, +0 is larger than -0, and NaN always has the same bits.
float larger(float first, float second)
{
    const float a = flushed(first), b = flushed(second);
    if (std::isnan(a) || std::isnan(b)) {
        return std::numeric_limits<float>::quiet_NaN();
    }
    return a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b);
}

float smaller(float first, float second)
{
    const float result = larger(-first, -second);
    return std::isnan(result) ? result : -result;
}

TEST_P(Elementwise, operationsOfTwoAreThoseOfTheScalarsAlsoInPlace)
{
    const Pairs pairs;
    const std::pair<Binary, float (*)(float, float)> rules[] = {
        {Binary::Add, [](float a, float b) { return a + b; }},
        {Binary::Sub, [](float a, float b) { return a - b; }},
        {Binary::Mul, [](float a, float b) { return a * b; }},
        {Binary::Div, [](float a, float b) { return a / b; }},
        {Binary::Max, larger},
        {Binary::Min, smaller}};
    for (const auto& [rule, scalar] : rules) {
        std::vector<float> out(pairs.a.size() + 1, 7.0F), overA = pairs.a, overB = pairs.b;
        const auto count = static_cast<std::int64_t>(pairs.a.size());
        binaryF32(rule, pairs.a.data(), pairs.b.data(), out.data(), count);
        binaryF32(rule, overA.data(), pairs.b.data(), overA.data(), count);
        binaryF32(rule, pairs.a.data(), overB.data(), overB.data(), count);
        EXPECT_EQ(out.back(), 7.0F);
        for (std::size_t i = 0; i < pairs.a.size(); ++i) {
            const float expected = scalar(pairs.a[i], pairs.b[i]);
            const bool anyNan = std::isnan(expected) && rule < Binary::Max; // its bits may differ
            for (const float got : {out[i], overA[i], overB[i]}) {
                EXPECT_TRUE(anyNan ? std::isnan(got)
                                   : std::bit_cast<std::uint32_t>(got)
                                         == std::bit_cast<std::uint32_t>(expected))
                    << static_cast<int>(rule) << ": " << pairs.a[i] << ", " << pairs.b[i]
                    << " gives " << got;
            }
        }
    }
}

TEST_P(Elementwise, comparisonsAreThoseOfTheScalars)
{
    const Pairs pairs;
    const std::pair<Comparison, bool (*)(float, float)> rules[] = {
        {Comparison::Eq, [](float a, float b) { return a == b; }},
        {Comparison::Ne, [](float a, float b) { return a != b; }},
        {Comparison::Lt, [](float a, float b) { return a < b; }},
        {Comparison::Le, [](float a, float b) { return a <= b; }},
        {Comparison::Gt, [](float a, float b) { return a > b; }},
        {Comparison::Ge, [](float a, float b) { return a >= b; }}};
    for (const auto& [rule, scalar] : rules) {
        std::vector<std::uint8_t> out(pairs.a.size() + 1, 7), expected;
        compareF32(rule, pairs.a.data(), pairs.b.data(), out.data(),
                   static_cast<std::int64_t>(pairs.a.size()));
        for (std::size_t i = 0; i < pairs.a.size(); ++i) {
            expected.push_back(scalar(pairs.a[i], pairs.b[i]) ? 1 : 0);
        }
        expected.push_back(7);
        EXPECT_EQ(out, expected) << static_cast<int>(rule);
    }
}

TEST_P(Elementwise, theBestOfRowsIsThatOfTheScalarsInTurn)
{
    const Pairs pairs;
    for (const auto& [rule, scalar, start] :
         {std::tuple{Binary::Max, &larger, -std::numeric_limits<float>::infinity()},
          std::tuple{Binary::Min, &smaller, std::numeric_limits<float>::infinity()}}) {
        for (std::int64_t length = 0; length < 70; ++length) {
            const std::int64_t rows =
                length == 0 ? 3 : static_cast<std::int64_t>(pairs.a.size()) / length;
            std::vector<float> out(static_cast<std::size_t>(rows) + 1, 7.0F), expected;
            reduceRowsF32(rule, pairs.a.data(), rows, length, start, out.data());
            for (std::int64_t row = 0; row < rows; ++row) {
                expected.push_back(start);
                for (std::int64_t i = 0; i < length; ++i) {
                    expected.back() = scalar(expected.back(),
                                             pairs.a[static_cast<std::size_t>(row * length + i)]);
                }
            }
            expected.push_back(7.0F);
            EXPECT_EQ(bitsOf(out), bitsOf(expected)) << length;
        }
    }
}

// Numbers around every bf16, and where results leave the range of f32 or become subnormal.
std::vector<float> exponents()
{
    std::vector<float> numbers{88.72284F,  88.72283F, -87.33654F, -103.97208F, -103.97207F,
                               127.99999F, 128.0F,    -126.0F,    -149.0F,     -149.99999F};
    for (std::uint32_t high = 0; high < 65536; ++high) {
        for (const std::uint32_t low : {0U, 1U, 0x5555U, 0xffffU}) {
            numbers.push_back(std::bit_cast<float>(high << 16U | low));
        }
    }
    return numbers;
}

void expectPowers(const std::vector<float>& of, const std::vector<float>& got,
                  double (*exactly)(double))
{
    for (std::size_t i = 0; i < of.size(); ++i) {
        const double exact = exactly(static_cast<double>(of[i]));
        const auto nearest = static_cast<float>(exact);
        if (std::isnan(exact) ? std::isnan(got[i]) : got[i] == nearest) {
            continue;
        }
        const float other = std::nextafter(nearest, exact < static_cast<double>(nearest)
                                                        ? -std::numeric_limits<float>::infinity()
                                                        : std::numeric_limits<float>::infinity());
        const double ulp = std::abs(static_cast<double>(other) - static_cast<double>(nearest));
        ASSERT_EQ(got[i], other) << of[i];
        ASSERT_LE(std::abs(static_cast<double>(got[i]) - exact), 0.501 * ulp) << of[i];
    }
}

TEST_P(Elementwise, powersAreWithinTheirBoundAlsoInPlace)
{
    const std::vector<float> from = exponents();
    std::vector<float> to(from.size());
    const auto count = static_cast<std::int64_t>(from.size());
    expF32(from.data(), to.data(), count);
    expectPowers(from, to, [](double x) { return std::exp(x); });
    std::vector<float> inPlace = from;
    expF32(inPlace.data(), inPlace.data(), count);
    EXPECT_EQ(bitsOf(inPlace), bitsOf(to));
    exp2F32(from.data(), to.data(), count);
    expectPowers(from, to, [](double x) { return std::exp2(x); });
}

TEST_P(Elementwise, powersOfAnyCountStopAtTheLastElement)
{
    for (std::size_t count = 0; count < 20; ++count) {
        const std::vector<float> from = randomFloats(count + 1, count);
        std::vector<float> to(count + 1, 7.0F);
        expF32(from.data(), to.data(), static_cast<std::int64_t>(count));
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_NEAR(to[i], std::exp(from[i]), 1e-6F * to[i]);
        }
        EXPECT_EQ(to[count], 7.0F);
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, Elementwise, everyLevel(), levelName);

TEST(CopyRows, movesTheBlockAndNothingAround)
{
    struct Case
    {
        std::int64_t rows, rowBytes, fromStride, toStride;
    };

    for (const Case& block :
         {Case{0, 8, 8, 8}, Case{3, 0, 8, 8}, Case{1, 1, 0, 0}, Case{5, 7, 7, 7}, Case{5, 7, 11, 7},
          Case{5, 7, 7, 13}, Case{512, 1024, 8192, 1024}, Case{512, 1024, 1024, 1024},
          Case{3, 300000, 300001, 300002}}) {
        const auto fromSize = static_cast<std::size_t>(block.rows * block.fromStride + 400000);
        const auto toSize = static_cast<std::size_t>(block.rows * block.toStride + 400000);
        std::vector<std::byte> from(fromSize);
        for (std::size_t i = 0; i < fromSize; ++i) {
            from[i] = static_cast<std::byte>(i * 7 + i / 251);
        }
        std::vector<std::byte> to(toSize, std::byte{0xEE});
        std::vector<std::byte> expected = to;
        for (std::int64_t row = 0; row < block.rows; ++row) {
            for (std::int64_t i = 0; i < block.rowBytes; ++i) {
                expected[static_cast<std::size_t>(row * block.toStride + i)] =
                    from[static_cast<std::size_t>(row * block.fromStride + i)];
            }
        }
        copyRows(from.data(), block.fromStride, to.data(), block.toStride, block.rows,
                 block.rowBytes);
        EXPECT_TRUE(to == expected) << block.rows << " rows of " << block.rowBytes;
    }
}

} // namespace

} // namespace pallascope::arith
