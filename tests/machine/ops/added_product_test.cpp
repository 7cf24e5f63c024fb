// Products that are computed together with the addition that uses them. No result may show the
// difference.
#include "tests/machine/support.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace pallascope::machine_test {

namespace {

Array uneven(const Shape& shape, std::uint32_t seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> numbers(static_cast<std::size_t>(shape.elements()));
    for (double& number : numbers) {
        number = normal(random);
    }
    return arrayOf(kF32, shape, numbers);
}

// What a body computes from f32 arrays x[8, k], y[k, 128] and z[8, 128].
struct Sum
{
    std::int64_t k;
    std::function<pl::Value(pl::Value x, pl::Value y, pl::Value z)> made;

    [[nodiscard]] machine::RunResult run(double scale = 1) const
    {
        Array x = uneven({8, k}, 1);
        x.as<float>()[0] *= static_cast<float>(scale);
        return runOneStep(
            {.inputs = {x, uneven({k, 128}, 2), uneven({8, 128}, 3)}, .shape = {8, 128}},
            [&](const std::vector<pl::Ref>& refs) {
                refs[3][pl::all] =
                    made(refs[0][pl::all].load(), refs[1][pl::all].load(), refs[2][pl::all].load());
            });
    }
};

pl::Value times(pl::Value x, pl::Value y)
{
    return pl::dot(x, y, kF32);
}

// 512 is the longest run of products that is summed before anything is added to it.
TEST(AddedProduct, hasTheBitsOfTheProductAndTheSumOneAfterTheOther)
{
    for (const std::int64_t k : {24, 512, 600}) {
        const auto product =
            Sum{k, [](auto x, auto y, auto /*z*/) { return times(x, y); }}.run().outputs[0];
        const Array added = uneven({8, 128}, 3);
        const machine::RunResult runs[] = {
            Sum{k, [](auto x, auto y, auto z) { return z + times(x, y); }}.run(),
            Sum{k, [](auto x, auto y, auto z) { return times(x, y) + z; }}.run(),
            Sum{k,
                [](auto x, auto y, auto z) { // an addend in its last use
                    const pl::Value other = z * 2.0;
                    return times(x, y) + other;
                }}
                .run(),
            Sum{k, [](auto x, auto y, auto /*z*/) { return times(x, y) + times(x, y); }}.run()};
        for (std::size_t i = 0; i < 8 * 128; ++i) {
            const float made = product.as<float>()[i], other = added.as<float>()[i];
            ASSERT_EQ(runs[0].outputs[0].as<float>()[i], other + made) << k << " at " << i;
            ASSERT_EQ(runs[1].outputs[0].as<float>()[i], made + other) << k << " at " << i;
            ASSERT_EQ(runs[2].outputs[0].as<float>()[i], made + 2 * other) << k << " at " << i;
            ASSERT_EQ(runs[3].outputs[0].as<float>()[i], made + made) << k << " at " << i;
        }
    }
}

TEST(AddedProduct, leavesWhatItIsMadeOfAsItWas)
{
    const Sum sum{128, [](auto x, auto y, auto z) {
                      const pl::Value other = z * 2.0;
                      const pl::Value added = times(x, y) + other;
                      return added - other - times(x, y); // zero, except for rounding
                  }};
    for (const double number : elementsOf(sum.run().outputs[0])) {
        EXPECT_LT(std::abs(number), 1e-4);
    }
}

TEST(AddedProduct, ofUndefinedDataIsUndefined)
{
    for (const bool addend : {false, true}) {
        const machine::RunResult run =
            runOneStep({.inputs = {uneven({8, 128}, 1), uneven({128, 128}, 2), uneven({8, 128}, 3)},
                        .shape = {8, 128},
                        .scratch = {{"never", kF32, {8, 128}}}},
                       [&](const std::vector<pl::Ref>& refs) {
                           const pl::Ref never = refs[4];
                           const pl::Value x = (addend ? refs[0] : never)[pl::all].load();
                           const pl::Value z = (addend ? never : refs[2])[pl::all].load();
                           refs[3][pl::all] = times(x, refs[1][pl::all].load()) + z;
                       });
        ASSERT_EQ(findingsOf(run, "undefined_written_back").size(), 1U) << findingsText(run);
    }
}

TEST(AddedProduct, thatIsInfiniteWasBornInTheProduct)
{
    const machine::RunResult run =
        Sum{128, [](auto x, auto y, auto z) { return z + times(x, y) * 1.0 + times(x, y); }}.run(
            3e38);
    const auto births = findingsOf(run, "inf_born");
    ASSERT_EQ(births.size(), 1U) << findingsText(run);
    EXPECT_EQ(births[0].count, 2); // one of each product
    EXPECT_EQ(births[0].message.substr(0, 12), "dot_general ") << births[0].message;
}

} // namespace

} // namespace pallascope::machine_test
