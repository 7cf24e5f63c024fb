// Tests that one cause gives one finding, without an engine.
#include "tests/machine/parts/bare_run.h"

#include <gtest/gtest.h>

#include <limits>

namespace pallascope::machine_test {

namespace {

machine::Race raceWith(trace::CopyRow copy)
{
    machine::Race race;
    race.withCopy = true;
    race.otherWrites = true;
    race.copy = copy;
    race.agent = 0;
    return race;
}

machine::RuntimeValue scalarThatIs(const machine::Shadow& shadow)
{
    machine::RuntimeValue value = machine::RuntimeValue::scalarOf(DType::Int32, 1);
    value.shadow = shadow;
    return value;
}

} // namespace

TEST(Findings, anUndefinedValueThatDecidesIsFoundOnceAndCounted)
{
    BareRun run;
    const ir::LocationId here = run.operation(ir::OpCode::SemaphoreWait).location;
    const auto defined = scalarThatIs(machine::Shadow::allDefined());
    const auto undefined = scalarThatIs(machine::Shadow::noneDefined());
    run.findings.reportUndefinedUse(defined, trace::FindingKind::UndefinedBranch, "A branch", here);
    EXPECT_TRUE(run.found().empty());
    run.findings.reportUndefinedUse(undefined, trace::FindingKind::UndefinedBranch, "A branch",
                                    here);
    run.findings.reportUndefinedUse(undefined, trace::FindingKind::UndefinedBranch, "A branch",
                                    here);
    ASSERT_EQ(run.found().size(), 1U);
    EXPECT_EQ(run.found()[0].count, 2);
    EXPECT_EQ(run.found()[0].message, "A branch is decided by an undefined value.");
    EXPECT_FALSE(run.ending.isReached());
}

TEST(Findings, aCopyThatIsFoundUnorderedIsSaidOnceWhereverItIsMet)
{
    BareRun run;
    const ir::LocationId one = run.operation(ir::OpCode::SemaphoreSignal).location;
    const ir::LocationId two = run.operation(ir::OpCode::SemaphoreWait).location;
    run.findings.reportRace(raceWith(trace::CopyRow{5}), "x", {0, {}, {}, one});
    run.findings.reportRace(raceWith(trace::CopyRow{5}), "out", {0, {}, {}, two});
    ASSERT_EQ(run.found().size(), 1U);
    EXPECT_EQ(run.found()[0].kind, "read_before_wait");
    EXPECT_EQ(run.found()[0].operand, "x");
    run.findings.reportRace(raceWith(trace::CopyRow{6}), "out", {0, {}, {}, two});
    EXPECT_EQ(run.found().size(), 2U) << "another copy is another cause";
}

TEST(Findings, whatIsUndefinedAtTheEndMayBeOfARace)
{
    BareRun run;
    const std::vector<ir::Argument> arguments = bareProgram().arguments;
    const ir::ValueId x = arguments[0].ref, out = arguments[1].ref;
    EXPECT_FALSE(run.findings.mayExplainUndefined(x));
    run.findings.reportRace(raceWith(trace::CopyRow{5}), "x", {0, {}, {}, {}});
    EXPECT_TRUE(run.findings.mayExplainUndefined(x));
    EXPECT_FALSE(run.findings.mayExplainUndefined(out)) << "nothing of x comes there";
}

TEST(Findings, oneAfterWhichNothingCanGoOnEndsTheRun)
{
    BareRun run;
    run.findings.stop({.kind = "deadlock", .message = "Nothing can go on."});
    EXPECT_EQ(run.found().size(), 1U);
    EXPECT_TRUE(run.ending.hasStopped());
    EXPECT_FALSE(run.ending.error()) << "it is no error";
}

TEST(Findings, birthsOfOneOperationAreOneAndCounted)
{
    BareRun run;
    const ir::Operation& operation = run.operation(ir::OpCode::SemaphoreWait);
    machine::RuntimeValue value = machine::RuntimeValue::arrayOf(DType::F32, Shape{4});
    machine::fillElements(DType::F32, value.data.get(), 4, std::numeric_limits<double>::infinity());
    EXPECT_FALSE(run.findings.watchesBirths());
    run.findings.watchBirths();
    run.findings.noteBirth(operation, value, {.inf = true});
    run.findings.noteBirth(operation, value, {.inf = true});
    ASSERT_EQ(run.findings.births().size(), 1U);
    EXPECT_EQ(run.findings.births()[0].count, 2);
    EXPECT_EQ(run.findings.births()[0].elements, 4);
}

} // namespace pallascope::machine_test
