// Whether subnormals count as 0: only while that is asked for, and then on every thread that shares
// the work.
#include "core/machine/arith/subnormals.h"
#include "core/machine/arith/threads.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

namespace pallascope::arith {

namespace {

constexpr float kSmallest = std::numeric_limits<float>::denorm_min();
constexpr float kLeast = std::numeric_limits<float>::min();

// A product that the compiler cannot compute in advance.
float times(float a, float b)
{
    volatile float first = a, second = b;
    return first * second;
}

TEST(Subnormals, areKeptUntilAskedForAndAgainAfterwards)
{
    EXPECT_EQ(times(kLeast, 0.5F), kLeast / 2);
    {
        const Subnormals flush(true);
        EXPECT_EQ(times(kLeast, 0.5F), 0.0F);  // the result is subnormal
        EXPECT_EQ(times(kSmallest, 1e30F), 0); // an operand is subnormal
        EXPECT_TRUE(std::signbit(times(kLeast, -0.5F)));
        {
            const Subnormals keep(false);
            EXPECT_EQ(times(kSmallest, 2), 2 * kSmallest);
        }
        EXPECT_TRUE(subnormalsAreFlushed());
    }
    EXPECT_FALSE(subnormalsAreFlushed());
    EXPECT_EQ(times(kLeast, 0.5F), kLeast / 2);
}

TEST(Subnormals, areTheSameToAllThreadsOfAJob)
{
    const int before = threadCount();
    setThreadCount(3);
    for (const bool flush : {true, false, true}) {
        std::vector<float> halves(3000);
        const auto fill = [&] {
            const Subnormals mode(flush);
            parallelFor(3000, 1, [&](std::int64_t begin, std::int64_t /*end*/) {
                halves[static_cast<std::size_t>(begin)] = times(kLeast, 0.5F);
                if (begin == 2999 && flush) {
                    throw std::runtime_error("stop"); // the mode must end with this part
                }
            });
        };
        if (flush) {
            EXPECT_THROW(fill(), std::runtime_error);
        } else {
            fill();
        }
        EXPECT_FALSE(subnormalsAreFlushed());
        for (const float half : halves) {
            ASSERT_EQ(half, flush ? 0.0F : kLeast / 2);
        }
    }
    setThreadCount(before);
}

TEST(Subnormals, areToldFromZeroAndNormalNumbersByTheirBits)
{
    const Subnormals flush(true);
    for (const float sign : {1.0F, -1.0F}) {
        for (const std::uint32_t bits : {1U, 0x40'0000U, 0x7f'ffffU}) {
            const float small = std::copysign(std::bit_cast<float>(bits), sign);
            EXPECT_TRUE(isSubnormal(small));
            EXPECT_EQ(std::bit_cast<std::uint32_t>(flushed(small)), sign < 0 ? 0x8000'0000U : 0U);
        }
        for (const std::uint32_t bits :
             {0U, 0x80'0000U, 0x3f80'0000U, 0x7f80'0000U, 0x7fc0'0000U}) {
            const float other = std::copysign(std::bit_cast<float>(bits), sign);
            EXPECT_FALSE(isSubnormal(other));
            EXPECT_EQ(std::bit_cast<std::uint32_t>(flushed(other)),
                      std::bit_cast<std::uint32_t>(other));
        }
    }
}

} // namespace

} // namespace pallascope::arith
