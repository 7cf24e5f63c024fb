// Counts waits that a latency of copies would make longer.
#include "core/analysis/fresh_waits.h"
#include "core/chip/chip.h"
#include "core/ir/builder.h"
#include "tests/analysis/runs.h"

#include <gtest/gtest.h>

namespace pallascope::analysis_test {

namespace {

constexpr int kCopies = 20;

// Copies rows one after the other. Either each is awaited before the next one starts, or all have
// started before the first wait.
ir::Program copiesOfRows(bool oneByOne)
{
    return pl::kernel("rows",
                      {pl::in("x", DType::F32, {8 * kCopies, 128}),
                       pl::out("out", DType::F32, {8 * kCopies, 128})},
                      [&](pl::Ref x, pl::Ref out) {
                          pl::runScoped(
                              {pl::dmaSemaphores("sem"), {"rows", DType::F32, {8 * kCopies, 128}}},
                              [&](const auto& refs) {
                                  const auto rows = [](const pl::Ref& of, int i) {
                                      return of.at({pl::ds(8 * i, 8), pl::all});
                                  };
                                  for (int i = 0; i < kCopies; ++i) {
                                      pl::dmaStart(rows(x, i), rows(refs[1], i), refs[0]);
                                      if (oneByOne) {
                                          pl::dmaWait(rows(refs[1], i), refs[0]);
                                      }
                                  }
                                  for (int i = 0; i < kCopies && !oneByOne; ++i) {
                                      pl::dmaWait(rows(refs[1], i), refs[0]);
                                  }
                                  pl::dmaStart(refs[1], out, refs[0]);
                                  pl::dmaWait(out, refs[0]);
                                  return std::vector<pl::Value>();
                              });
                      })
        .value();
}

} // namespace

TEST(FreshWaits, areThoseForCopiesBehindNoOther)
{
    for (const bool oneByOne : {true, false}) {
        const analysis::Report report =
            analysis::report(*runOf(copiesOfRows(oneByOne), "tpu_v5e")).value();
        EXPECT_EQ(report.freshWaits, oneByOne ? kCopies + 1 : 2);
        const std::string text = analysis::freshWaitsText(report);
        if (oneByOne) {
            EXPECT_TRUE(text.starts_with("21 waits are for a copy that had just been "
                                         "started: "))
                << text;
            EXPECT_TRUE(text.ends_with("each 0.10 \u00b5s of it would add up to 2.10 \u00b5s"))
                << text;
        } else {
            EXPECT_EQ(text, "");
        }
    }
}

// Chips of GPUs have a latency, and in the main job the link is always busy.
TEST(FreshWaits, areFewWhereTheLinkIsBusyOrItsLatencyIsKnown)
{
    EXPECT_LT(analysis::report(*mainJob()).value().freshWaits, 3);
    EXPECT_EQ(analysis::freshWaitsText(analysis::report(*mainJob()).value()), "");
    EXPECT_EQ(analysis::report(
                  *runOf("hopper_matmul", {{"m", "512"}, {"n", "512"}, {"k", "512"}}, "h100_sxm"))
                  .value()
                  .freshWaits,
              0);
}

} // namespace pallascope::analysis_test
