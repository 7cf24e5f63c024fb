// The kernel add_by_hand, which copies with manual DMA.
#include "tests/kernels/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::kernel_test {

TEST(AddByHand, addsForAnyNumberOfBlocks)
{
    for (const char* rows :
         {"8", "16", "24", "64"}) { // one block has no next one, and two blocks have no third
        SCOPED_TRACE(rows);
        const KernelRun run = mustRun("add_by_hand", {{"rows", rows}, {"block", "8"}});
        const std::vector<double> x = elementsOf(run.inputs[0]), y = elementsOf(run.inputs[1]);
        for (std::size_t i = 0; i < x.size(); ++i) {
            ASSERT_EQ(run.result.outputs[0].at(static_cast<std::int64_t>(i)), x[i] + y[i]) << i;
        }
        EXPECT_TRUE(run.check.passed);
        EXPECT_EQ(findingsText(run), "");
    }
}

// It must make the same copies as add_vectors with the same blocks: as many, and as large.
TEST(AddByHand, copiesWhatThePipelineCopies)
{
    const KernelRun manual = mustRun("add_by_hand", {{"rows", "64"}, {"block", "8"}});
    const KernelRun pipeline =
        mustRun("add_vectors", {{"shape", "64,128"}, {"block", "8"}, {"dtype", "f32"}});
    const trace::Copies& copies = manual.result.trace->copies();
    EXPECT_EQ(copies.bytes, pipeline.result.trace->copies().bytes);
    EXPECT_EQ(std::count(copies.out.begin(), copies.out.end(), 1), 8);
}

TEST(AddByHand, refusesRowsThatTheCoresCannotShare)
{
    EXPECT_EQ(refusal("add_by_hand", {{"rows", "24"}, {"block", "8"}, {"cores", "2"}}),
              "add_by_hand has 24 rows for blocks of 8 on 2 cores; expected a multiple of 16.");
    EXPECT_NE(refusal("add_by_hand", {{"rows", "32"}, {"block", "8"}, {"cores", "2"}})
                  .find("core_map asks for 2 cores; the chip TPU v5e has 1"),
              std::string::npos);
}

} // namespace pallascope::kernel_test
