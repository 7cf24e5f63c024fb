// Both matrix products, compared with Eigen's, and the findings that their loop orders cause.
#include "tests/kernels/products.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>
#include <set>

namespace pallascope::kernel_test {

namespace {

const std::array<std::string, 2> kProducts{"matmul", "matmul_scratch"};
const std::array<std::string, 6> kOrders{"ijk", "ikj", "jik", "jki", "kij", "kji"};

// Extents and blocks of m, n and k.
struct Sizes
{
    std::array<std::int64_t, 3> extent, block;

    [[nodiscard]] std::array<std::int64_t, 3> grid() const
    {
        std::array<std::int64_t, 3> counts{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            counts[axis] = (extent[axis] + block[axis] - 1) / block[axis];
        }
        return counts;
    }

    [[nodiscard]] Parameters parameters() const
    {
        return {{"m", std::to_string(extent[0])}, {"n", std::to_string(extent[1])},
                {"k", std::to_string(extent[2])}, {"bm", std::to_string(block[0])},
                {"bn", std::to_string(block[1])}, {"bk", std::to_string(block[2])}};
    }
};

std::string text(const Parameters& parameters)
{
    std::string result;
    for (const auto& [name, value] : parameters) {
        result += name + "=" + value + " ";
    }
    return result;
}

// How often the run comes back to a block of out after another block, with the grid walked in
// `order`. Also the first such step, and the last step before it at that block.
struct Revisits
{
    std::int64_t count = 0, step = -1, earlier = -1;
};

Revisits revisitsOf(const std::array<std::int64_t, 3>& grid, const std::string& order)
{
    const auto axis = [&](std::size_t level) { return std::string("ijk").find(order[level]); };
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> lastStep;
    Revisits revisits;
    std::int64_t step = 0;
    std::array<std::int64_t, 3> at{};
    for (at[axis(0)] = 0; at[axis(0)] < grid[axis(0)]; ++at[axis(0)]) {
        for (at[axis(1)] = 0; at[axis(1)] < grid[axis(1)]; ++at[axis(1)]) {
            for (at[axis(2)] = 0; at[axis(2)] < grid[axis(2)]; ++at[axis(2)]) {
                const std::pair block(at[0], at[1]);
                const auto last = lastStep.find(block);
                if (last != lastStep.end() && last->second != step - 1) {
                    if (revisits.count++ == 0) {
                        revisits.step = step;
                        revisits.earlier = last->second;
                    }
                }
                lastStep[block] = step++;
            }
        }
    }
    return revisits;
}

} // namespace

TEST(Products, areThoseOfEigenForEverySizeTypeAndNumberOfBuffers)
{
    const std::vector<Sizes> sizes{
        {{16, 128, 128}, {16, 128, 128}},  // one step
        {{48, 384, 640}, {16, 128, 128}},  // odd block counts
        {{48, 128, 128}, {16, 128, 128}},  // one axis only
        {{100, 200, 256}, {32, 128, 128}}, // blocks that overhang m and n
        {{7, 33, 50}, {7, 33, 50}},        // not a multiple of anything
    };
    for (const std::string& kernel : kProducts) {
        for (const Sizes& size : sizes) {
            for (const char* dtype : {"bf16", "f32"}) {
                for (const char* buffers : {"1", "2"}) {
                    const Parameters parameters =
                        with(size.parameters(), {{"dtype", dtype}, {"buffers", buffers}});
                    SCOPED_TRACE(kernel + " " + text(parameters));
                    expectProduct(mustRun(kernel, parameters));
                }
            }
        }
    }
}

TEST(Products, areTheSameWithDeepBuffers)
{
    const Sizes sizes{{48, 384, 640}, {16, 128, 128}};
    for (const char* buffers : {"3", "5", "16"}) {
        SCOPED_TRACE(buffers);
        expectProduct(mustRun("matmul", with(sizes.parameters(), {{"buffers", buffers}})));
    }
}

TEST(Products, keepTheDTypesThatTheirGuidesGiveThem)
{
    const Sizes sizes{{16, 128, 256}, {16, 128, 128}};
    EXPECT_EQ(mustRun("matmul", sizes.parameters()).result.outputs.at(0).dtype, DType::F32);
    EXPECT_EQ(mustRun("matmul_scratch", sizes.parameters()).result.outputs.at(0).dtype,
              DType::BF16);
}

TEST(Products, ofInt8AreExactInInt32)
{
    const Sizes sizes{{32, 256, 512}, {32, 128, 128}};
    for (const std::string& kernel : kProducts) {
        SCOPED_TRACE(kernel);
        const KernelRun run = mustRun(kernel, with(sizes.parameters(), {{"dtype", "int8"}}));
        EXPECT_EQ(run.inputs.at(0).dtype, DType::Int8);
        EXPECT_EQ(run.result.outputs.at(0).dtype, DType::Int32);
        EXPECT_TRUE(run.check.passed);
        const Eigen::MatrixXd expected = matrixOf(run.inputs[0]) * matrixOf(run.inputs[1]);
        EXPECT_EQ(matrixOf(run.result.outputs.at(0)), expected);
        EXPECT_GT(expected.cwiseAbs().maxCoeff(), 127); // int8 would have wrapped
    }
}

TEST(Products, ofRealNumbersAreWithinTheRoundingOfTheirSums)
{
    const Sizes sizes{{48, 256, 640}, {16, 128, 128}};
    for (const std::string& kernel : kProducts) {
        SCOPED_TRACE(kernel);
        const KernelRun run = mustRun(kernel, sizes.parameters(), Inputs::Normal);
        const Eigen::MatrixXd x = matrixOf(run.inputs[0]), y = matrixOf(run.inputs[1]);
        const Eigen::MatrixXd expected = x * y, out = matrixOf(run.result.outputs.at(0));
        // The classic bound k u |x||y| with u = 2^-24; rounding to bf16 adds 2^-8 of the value.
        const double ownRounding = run.result.outputs.at(0).dtype == DType::BF16 ? 0x1p-8 : 0;
        const Eigen::MatrixXd bound = 640 * 0x1p-24 * (x.cwiseAbs() * y.cwiseAbs())
                                      + 1.01 * ownRounding * expected.cwiseAbs();
        EXPECT_LE(((out - expected).cwiseAbs() - bound).maxCoeff(), 0.0);
        EXPECT_GT((out - expected).cwiseAbs().maxCoeff(), 0.0) << "f32 sums do round";
        EXPECT_TRUE(run.check.passed);
    }
}

TEST(Products, haveTheSameBitsInEveryRun)
{
    const Sizes sizes{{48, 384, 640}, {16, 128, 128}};
    for (const std::string& kernel : kProducts) {
        const KernelRun first = mustRun(kernel, sizes.parameters(), Inputs::Normal);
        const KernelRun second = mustRun(kernel, sizes.parameters(), Inputs::Normal);
        EXPECT_EQ(bytesOf(first.result.outputs.at(0)), bytesOf(second.result.outputs.at(0)));
    }
}

TEST(LoopOrders, thatComeBackToABlockAreFoundAndTheOthersAreRight)
{
    const std::vector<Sizes> grids{
        {{32, 256, 384}, {16, 128, 128}}, // 2, 2, 3
        {{48, 256, 256}, {16, 128, 128}}, // 3, 2, 2
        {{16, 256, 256}, {16, 128, 128}}, // 1, 2, 2: i has only one step
        {{32, 128, 256}, {16, 128, 128}}, // 2, 1, 2
        {{32, 256, 128}, {16, 128, 128}}, // 2, 2, 1: one product per block
    };
    for (const std::string& kernel : kProducts) {
        for (const Sizes& grid : grids) {
            for (const std::string& order : kOrders) {
                SCOPED_TRACE(kernel + " " + text(grid.parameters()) + order);
                const KernelRun run = mustRun(kernel, with(grid.parameters(), {{"order", order}}));
                const Revisits expected = revisitsOf(grid.grid(), order);
                if (expected.count == 0) {
                    expectProduct(run);
                    continue;
                }
                const auto found = findingsOf(run, "output_revisited");
                ASSERT_EQ(found.size(), 1U) << findingsText(run);
                EXPECT_EQ(found[0].operand, "out");
                EXPECT_EQ(found[0].count, expected.count);
                EXPECT_EQ(found[0].step, expected.step);
                EXPECT_EQ(found[0].relatedStep, std::optional(expected.earlier));
                EXPECT_EQ(found[0].category, trace::FindingClass::Structural);
                EXPECT_NE(found[0].message.find("step " + std::to_string(expected.earlier)),
                          std::string::npos);
                EXPECT_NE(found[0].message.find("step " + std::to_string(expected.step)),
                          std::string::npos);
                EXPECT_NE(sourceLine(run, found[0]).find("outBlock = pl::block"),
                          std::string::npos);
                EXPECT_FALSE(run.check.passed);
            }
        }
    }
}

TEST(Products, ofABlockThatOverhangsTheDepthAreAFinding)
{
    // The second block along k reads past the array, and nothing masks what it reads.
    const Sizes sizes{{16, 128, 200}, {16, 128, 128}};
    for (const std::string& kernel : kProducts) {
        const KernelRun run = mustRun(kernel, sizes.parameters());
        EXPECT_EQ(findingsText(run), "undefined_written_back x1; ") << kernel;
        EXPECT_FALSE(run.check.passed) << kernel;
    }
}

TEST(Products, refuseTypesAndBlocksThatTheChipCannotTake)
{
    const Sizes sizes{{64, 128, 200}, {32, 128, 128}};
    EXPECT_EQ(refusal("matmul", with(sizes.parameters(), {{"dtype", "int32"}})),
              "The parameter dtype of matmul is \"int32\"; expected bf16, f32 or int8.");
    // 3 blocks of 96 overhang 200, and 96 is not a whole number of tiles.
    const std::string overhang = refusal("matmul", with(sizes.parameters(), {{"bk", "96"}}));
    EXPECT_NE(overhang.find("96 elements on axis 1 of 200"), std::string::npos) << overhang;
    EXPECT_NE(overhang.find("a multiple of 128"), std::string::npos) << overhang;
}

} // namespace pallascope::kernel_test
