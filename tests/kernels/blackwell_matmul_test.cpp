// The matrix product for Blackwell GPUs: its improvements change its time, never its result.
#include "tests/kernels/products.h"
#include "tests/support/tried.h"

#include <gtest/gtest.h>

namespace pallascope::kernel_test {

namespace {

const Parameters kBlackwell{{"m", "768"}, {"n", "256"}, {"k", "192"},
                            {"bm", "64"}, {"bn", "64"}, {"bk", "64"}};

} // namespace

TEST(BlackwellMatmul, multipliesWithEveryCombinationOfItsImprovements)
{
    std::size_t number = 0;
    for (const char* specialized : {"yes", "no"}) {
        for (const char* collective : {"yes", "no"}) {
            for (const char* persistent : {"yes", "no"}) {
                for (const char* storing : {"yes", "no"}) {
                    for (const char* stages : {"1", "2", "5"}) { // of 3 steps
                        if (!test::isTried(number++)) {
                            continue;
                        }
                        const Parameters parameters =
                            with(kBlackwell, {{"warp_specialized", specialized},
                                              {"collective", collective},
                                              {"persistent", persistent},
                                              {"store_warpgroup", storing},
                                              {"stages", stages}});
                        SCOPED_TRACE(testing::PrintToString(parameters));
                        expectProduct(mustRun("blackwell_matmul", parameters));
                    }
                }
            }
        }
    }
}

// More tiles than the 148 SMs: their blocks claim what is left.
TEST(BlackwellMatmul, claimsWhatDoesNotRunAtATime)
{
    const Parameters many = with(
        kBlackwell, {{"m", "2048"}, {"n", "1024"}, {"k", "128"}, {"stages", "16"}, {"bk", "16"}});
    for (const char* collective : {"yes", "no"}) {
        for (const char* storing : {"yes", "no"}) {
            SCOPED_TRACE(std::string(collective) + storing);
            expectProduct(mustRun("blackwell_matmul", with(many, {{"collective", collective},
                                                                  {"store_warpgroup", storing}})));
        }
    }
}

TEST(BlackwellMatmul, multipliesInAnyTilesAndOrders)
{
    for (const Parameters& changed :
         std::vector<Parameters>{{{"dtype", "f16"}},
                                 {{"bm", "128"}, {"epilogue", "16"}, {"snake", "0"}},
                                 {{"epilogue", "0"}, {"snake", "2"}, {"bk", "32"}},
                                 {{"collective", "no"}, {"bn", "256"}, {"stages", "3"}}}) {
        SCOPED_TRACE(testing::PrintToString(changed));
        expectProduct(mustRun("blackwell_matmul", with(kBlackwell, changed)));
    }
}

TEST(BlackwellMatmul, takesAsLongWithoutItsValues)
{
    expectTheSameInBothModes("blackwell_matmul", kBlackwell);
    expectTheSameInBothModes("blackwell_matmul",
                             with(kBlackwell, {{"warp_specialized", "no"}, {"collective", "no"}}));
}

TEST(BlackwellMatmul, refusesWhatItsPairsAndMemoryDoNotTake)
{
    EXPECT_EQ(refusal("blackwell_matmul", with(kBlackwell, {{"bn", "256"}})),
              "The parameter bn of blackwell_matmul is 256; expected at most 128 if products are "
              "collective.");
    EXPECT_EQ(refusal("blackwell_matmul", with(kBlackwell, {{"m", "192"}})),
              "The parameter m of blackwell_matmul is 192; expected a multiple of 128.");
    const std::string said = refusal("blackwell_matmul", {{"stages", "7"}});
    EXPECT_NE(said.find("bytes of shared memory"), std::string::npos) << said;
}

} // namespace pallascope::kernel_test
