// The matrix product for Hopper GPUs: its improvements change its time, never its result.
#include "tests/kernels/products.h"
#include "tests/support/tried.h"

#include <gtest/gtest.h>

namespace pallascope::kernel_test {

namespace {

const Parameters kHopper{{"m", "384"}, {"n", "256"}, {"k", "192"},        {"bm", "64"},
                         {"bn", "64"}, {"bk", "64"}, {"warpgroups", "1"}, {"persistent", "5"}};

Picoseconds hopperTime(const Parameters& parameters)
{
    return mustRun("hopper_matmul", parameters, Inputs::Integers, machine::ValueMode::Needed)
        .result.trace->end();
}

} // namespace

TEST(HopperMatmul, multipliesWithEveryCombinationOfItsImprovements)
{
    std::size_t number = 0;
    for (const char* specialized : {"yes", "no"}) {
        for (const char* cluster : {"none", "m", "n"}) {
            for (const char* persistent : {"0", "2", "5"}) { // 24 tiles: even and uneven shares
                for (const char* stages : {"1", "2", "4"}) { // of 3 steps
                    if (!test::isTried(number++)) {
                        continue;
                    }
                    const Parameters parameters = with(kHopper, {{"warp_specialized", specialized},
                                                                 {"cluster", cluster},
                                                                 {"persistent", persistent},
                                                                 {"stages", stages}});
                    SCOPED_TRACE(testing::PrintToString(parameters));
                    expectProduct(mustRun("hopper_matmul", parameters));
                }
            }
        }
    }
}

TEST(HopperMatmul, multipliesInAnyTilesAndOrders)
{
    for (const Parameters& changed : std::vector<Parameters>{
             {{"dtype", "f16"}},
             {{"bm", "128"}, {"warpgroups", "2"}, {"epilogue", "32"}},
             {{"bm", "192"}, {"warpgroups", "3"}, {"epilogue", "0"}, {"bk", "32"}},
             {{"snake", "0"}},
             {{"snake", "2"}, {"bn", "32"}, {"epilogue", "8"}},
             {{"snake", "100"}, {"cluster", "m"}, {"stages", "7"}}}) {
        SCOPED_TRACE(testing::PrintToString(changed));
        expectProduct(mustRun("hopper_matmul", with(kHopper, changed)));
    }
}

TEST(HopperMatmul, takesAsLongWithoutItsValues)
{
    expectTheSameInBothModes("hopper_matmul", kHopper);
    expectTheSameInBothModes("hopper_matmul",
                             with(kHopper, {{"warp_specialized", "no"}, {"cluster", "none"}}));
}

TEST(HopperMatmul, isFasterWithEachImprovement)
{
    Parameters parameters{{"k", "512"},        {"stages", "1"}, {"warp_specialized", "no"},
                          {"cluster", "none"}, {"snake", "0"},  {"persistent", "0"}};
    Picoseconds before = hopperTime(parameters);
    for (const auto& [name, value] :
         std::vector<std::pair<std::string, std::string>>{{"stages", "4"},
                                                          {"warp_specialized", "yes"},
                                                          {"cluster", "n"},
                                                          {"persistent", "132"}}) {
        parameters[name] = value;
        const Picoseconds after = hopperTime(parameters);
        EXPECT_LT(after.value(), before.value()) << name;
        before = after;
    }
}

TEST(HopperMatmul, refusesSizesThatItsTilesDoNotDivide)
{
    EXPECT_EQ(refusal("hopper_matmul", with(kHopper, {{"m", "100"}})),
              "The parameter m of hopper_matmul is 100; expected a multiple of 64.");
    EXPECT_EQ(refusal("hopper_matmul", with(kHopper, {{"n", "64"}, {"cluster", "n"}})),
              "The parameter n of hopper_matmul is 64; expected a multiple of 128.");
    EXPECT_EQ(refusal("hopper_matmul", with(kHopper, {{"warpgroups", "2"}})),
              "The parameter bm of hopper_matmul is 64; expected a multiple of 128.");
    EXPECT_EQ(refusal("hopper_matmul", with(kHopper, {{"epilogue", "48"}})),
              "The parameter bn of hopper_matmul is 64; expected a multiple of 48.");
    EXPECT_EQ(
        refusal("hopper_matmul", {{"m", "128"}, {"n", "256"}, {"bm", "128"}, {"warpgroups", "1"}}),
        "The parameters bm, bn and warpgroups of hopper_matmul give each thread 256 sums; a "
        "thread has 255 registers.");
}

TEST(HopperMatmul, refusesMoreSlotsThanSharedMemoryHas)
{
    const std::string said = refusal("hopper_matmul", {{"stages", "5"}});
    EXPECT_NE(said.find("bytes of shared memory"), std::string::npos) << said;
    EXPECT_NE(said.find("NVIDIA H100 SXM has 232\u2009448"), std::string::npos) << said;
}

} // namespace pallascope::kernel_test
