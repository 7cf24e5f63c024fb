// The engine is driven by data: the time line of a chip that does not exist, computed by hand.
#include "tests/machine/made_up_chip.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::machine_test {

namespace {

using Nanoseconds = std::vector<std::int64_t>;

// When the copies of a link end, in nanoseconds.
Nanoseconds endsOn(const trace::Trace& trace, std::int32_t link)
{
    Nanoseconds ends;
    for (std::size_t row = 0; row < trace.copies().size(); ++row) {
        if (trace.copies().link[row] == link) {
            ends.push_back(trace.copies().end[row] / 1000);
        }
    }
    std::sort(ends.begin(), ends.end());
    return ends;
}

} // namespace

// The weights arrive at 40, and both slots begin. A thread knows its number 2 ns later, and then
// its block queues for the link "in". The segment that loads takes 2 ns. The matrix unit serves one
// request after another. A slot begins its next block when its three threads are done.
//
//   block  slot  begins  in by           unit from         until             out by
//   0      0     40      82  122  162    84   164  244     164  244  324     185  265  345
//   1      1     40      202 242  282    324  404  484     404  484  564     425  505  585
//   2      0     345     387 427  467    564  644  724     644  724  804     665  745  825
//   3      1     585     627 667  707    804  884  964     884  964  1044    905  985  1065
//   4      0     825     867 907  947    1044 1124 1204    1124 1204 1284    1145 1225 1305
TEST(MadeUpChip, runsAsComputedByHand)
{
    const machine::RunResult run =
        mustRun(madeUpProgram(), madeUpInputs(), machine::ValueMode::Full, madeUpChip());
    EXPECT_EQ(findingsText(run), "");
    const trace::Trace& trace = *run.trace;
    EXPECT_EQ(endsOn(trace, 0), (Nanoseconds{40, 82, 122, 162, 202, 242, 282, 387, 427, 467, 627,
                                             667, 707, 867, 907, 947}));
    EXPECT_EQ(endsOn(trace, 1), (Nanoseconds{185, 265, 345, 425, 505, 585, 665, 745, 825, 905, 985,
                                             1065, 1145, 1225, 1305}));
    EXPECT_EQ(endsOn(trace, 2), (Nanoseconds{94, 134, 174, 214, 254, 294, 399, 439, 479, 639, 679,
                                             719, 879, 919, 959})); // while the unit works
    EXPECT_EQ(trace.end(), Picoseconds(1'305'000));

    ASSERT_EQ(trace.info().agents,
              (std::vector<std::string>{"slot 0 thread 0", "slot 0 thread 1", "slot 0 thread 2",
                                        "slot 1 thread 0", "slot 1 thread 1", "slot 1 thread 2",
                                        "MMA 0"}));
    Nanoseconds requests;
    for (std::size_t row = 0; row < trace.segments().size(); ++row) {
        if (trace.segments().agent[row] == 6) {
            requests.push_back(trace.segments().begin[row] / 1000);
        }
    }
    EXPECT_EQ(requests, (Nanoseconds{84, 164, 244, 324, 404, 484, 564, 644, 724, 804, 884, 964,
                                     1044, 1124, 1204}));
}

TEST(MadeUpChip, hasTheValuesOfItsProducts)
{
    const std::vector<Array> arrays = madeUpInputs();
    const machine::RunResult run =
        mustRun(madeUpProgram(), arrays, machine::ValueMode::Full, madeUpChip());
    const std::vector<double> x = elementsOf(arrays[0]), w = elementsOf(arrays[1]),
                              out = elementsOf(run.outputs[0]);
    for (std::size_t row = 0; row < x.size() / 8; ++row) {
        for (std::size_t column = 0; column < 8; ++column) {
            double sum = x[row * 8 + column];
            for (std::size_t k = 0; k < 8; ++k) {
                sum += x[row * 8 + k] * w[k * 8 + column];
            }
            ASSERT_EQ(out[row * 8 + column], sum) << row << " " << column;
        }
    }
}

TEST(MadeUpChip, takesAsLongWithoutValues)
{
    const std::vector<Array> shapes{{DType::F32, {kBlocks, kThreads, 8, 8}, nullptr},
                                    {DType::F32, {8, 8}, nullptr}};
    const machine::RunResult run =
        mustRun(madeUpProgram(), shapes, machine::ValueMode::Needed, madeUpChip());
    EXPECT_EQ(run.trace->end(), Picoseconds(1'305'000));
    EXPECT_EQ(run.trace->segments().size(),
              mustRun(madeUpProgram(), madeUpInputs(), machine::ValueMode::Full, madeUpChip())
                  .trace->segments()
                  .size());
}

} // namespace pallascope::machine_test
