// Runs treat subnormals as 0 when they compute (decision 0009), and leave the caller's processor
// settings unchanged.
#include "core/machine/arith/subnormals.h"
#include "core/machine/replay.h"
#include "tests/machine/support.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

constexpr Extent kManyRows = 512; // enough work for several threads

struct Computed
{
    OneStep step{.inputs = {arrayOf(
                     kF32, {kManyRows, 128},
                     std::vector<double>(static_cast<std::size_t>(kManyRows * 128), -0x1p-126))},
                 .shape = {kManyRows, 128}};

    // If the first product were -2^-127, the result would be 2^-127.
    static void body(const std::vector<pl::Ref>& refs)
    {
        const pl::Value x = refs[0][pl::all].load();
        refs[1][pl::all] = x * 0.5 - x;
    }
};

TEST(SubnormalsOfRuns, areZeroInEveryPartAndTheCallerKeepsIts)
{
    const Array found = runOneStep(Computed{}.step, Computed::body).outputs[0];
    for (const double element : elementsOf(found)) {
        ASSERT_EQ(element, 0x1p-126);
    }
    EXPECT_FALSE(arith::subnormalsAreFlushed());
}

TEST(SubnormalsOfRuns, areZeroInReplaysToo)
{
    const Computed computed;
    const ir::Program program = oneStepProgram(computed.step, Computed::body);
    auto replay = machine::Replay::start(program, computed.step.inputs, v5e(), {});
    ASSERT_TRUE(replay.has_value());
    ASSERT_TRUE((*replay)->seek(1 << 20).has_value());
    const std::size_t core = 0;
    const ir::ValueId out = (*replay)->places()[core].refs[1];
    for (const double element : elementsOf((*replay)->contents(core, out).elements)) {
        ASSERT_EQ(element, 0x1p-126);
    }
    EXPECT_FALSE(arith::subnormalsAreFlushed());
}

} // namespace

} // namespace pallascope::machine_test
