// Tests whether a run may go on, without an engine.
#include "core/machine/parts/limits.h"
#include "tests/machine/parts/bare_run.h"

#include <gtest/gtest.h>

#include <string>

namespace pallascope::machine_test {

namespace {

const std::string kProgram = "bare"; // Limits keep a reference to the name

} // namespace

TEST(Limits, aRunThatTakesTooManyTurnsFails)
{
    BareRun run;
    const machine::Options options;
    machine::Limits limits(kProgram, options, run.recorder(), run.ending);
    EXPECT_TRUE(limits.mayGoOn(machine::kMostRecordedTurns));
    EXPECT_FALSE(run.ending.isReached());
    EXPECT_FALSE(limits.mayGoOn(machine::kMostRecordedTurns + 1));
    ASSERT_TRUE(run.ending.error());
    EXPECT_EQ(run.ending.error()->kind, ErrorKind::Limit);
    EXPECT_TRUE(run.ending.error()->message.starts_with("bare takes more than "));
}

TEST(Limits, withoutRowsARunMayTakeMoreTurns)
{
    BareRun run;
    machine::Options options;
    options.rows = false;
    machine::Limits limits(kProgram, options, run.recorder(), run.ending);
    EXPECT_TRUE(limits.mayGoOn(machine::kMostRecordedTurns + 1));
    EXPECT_FALSE(limits.mayGoOn(machine::kMostTurns + 1));
}

TEST(Limits, stepsTellHowMuchIsDoneAndAskWhetherToGoOn)
{
    BareRun run;
    machine::Options options;
    double share = -1;
    bool goesOn = true;
    options.progress = [&](double done) {
        share = done;
        return goesOn;
    };
    machine::Limits limits(kProgram, options, run.recorder(), run.ending);
    EXPECT_TRUE(limits.passStep(1, 4));
    EXPECT_EQ(share, 0.25);
    goesOn = false;
    EXPECT_FALSE(limits.passStep(2, 4));
    ASSERT_TRUE(run.ending.error());
    EXPECT_EQ(run.ending.error()->kind, ErrorKind::Cancelled);
}

} // namespace pallascope::machine_test
