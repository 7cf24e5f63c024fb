// Tests what a copy does to memory and when, without an engine.
#include "tests/machine/parts/bare_run.h"

#include <gtest/gtest.h>

namespace pallascope::machine_test {

namespace {

machine::Settings withMode(machine::DmaMode mode)
{
    machine::Settings settings;
    settings.dmaExecutionMode = mode;
    return settings;
}

} // namespace

TEST(Copies, aTimedOneIsReadAtItsStartAndLandsAtItsEnd)
{
    BareRun run;
    const std::int32_t from = run.memoryOf(4, 1), to = run.memoryOf(4);
    run.copy(from, to, 10, 20);
    run.copies.land(Picoseconds(10)); // it has read its source
    run.copies.put({.buffer = from}, machine::RuntimeValue::zeros(DType::F32, Shape{4}));
    run.copies.land(Picoseconds(19));
    EXPECT_FALSE(run.isDefined(to));
    EXPECT_TRUE(run.copies.isOnItsWay(to));
    EXPECT_FALSE(run.copies.isOnItsWay(from));
    run.copies.land(Picoseconds(20));
    EXPECT_TRUE(run.isDefined(to));
    EXPECT_EQ(run.elementAt(to, 3), 1);
    EXPECT_FALSE(run.copies.isOnItsWay(to));
}

TEST(Copies, anEagerOneIsDoneAtOnce)
{
    BareRun run(withMode(machine::DmaMode::Eager));
    const std::int32_t from = run.memoryOf(4, 1), to = run.memoryOf(4);
    run.copy(from, to, 10, 20);
    EXPECT_EQ(run.elementAt(to, 0), 1);
}

TEST(Copies, oneOnWaitIsDoneWhenItIsWaitedFor)
{
    BareRun run(withMode(machine::DmaMode::OnWait));
    const std::int32_t from = run.memoryOf(4, 1), to = run.memoryOf(4), other = run.memoryOf(4);
    run.copy(from, to, 10, 20, 1);
    run.copy(from, other, 20, 30, 2);
    run.copies.land(Picoseconds(1000));
    EXPECT_FALSE(run.isDefined(to));
    run.copies.landHeld(trace::CopyRow{1});
    EXPECT_TRUE(run.isDefined(to));
    EXPECT_FALSE(run.isDefined(other));
}

TEST(Copies, oneWhoseMemoryGoesDoesNotLand)
{
    BareRun run;
    const std::int32_t from = run.memoryOf(4, 1), to = run.memoryOf(4);
    run.copy(from, to, 10, 20);
    run.copies.dropFlights({to, 1});
    run.copies.land(Picoseconds(20));
    EXPECT_FALSE(run.isDefined(to));
}

TEST(Copies, aLinkServesOneAfterTheOther)
{
    BareRun run;
    const auto first = run.copies.serve(0, Picoseconds(0), Bytes(4096));
    const auto second = run.copies.serve(0, Picoseconds(0), Bytes(4096));
    ASSERT_TRUE(first && second);
    EXPECT_GT(first->end, first->start);
    EXPECT_EQ(second->start, first->end);
    EXPECT_EQ(second->end - second->start, first->end - first->start);
}

TEST(Copies, oneThatOutlastsTheClockFailsTheRun)
{
    BareRun run;
    EXPECT_FALSE(run.copies.serve(0, machine::kLongestRun, Bytes(4096)));
    ASSERT_TRUE(run.ending.error());
    EXPECT_NE(run.ending.error()->message.find("longer than 53 days"), std::string::npos);
}

TEST(Copies, elementsAreAddedWhereACopyAdds)
{
    BareRun run;
    const std::int32_t to = run.memoryOf(2, 3);
    machine::RuntimeValue two = machine::RuntimeValue::arrayOf(DType::F32, Shape{2});
    machine::fillElements(DType::F32, two.data.get(), 2, 2);
    run.copies.put({.buffer = to}, two, ir::AtomicType::Add);
    EXPECT_EQ(run.elementAt(to, 1), 5);
}

} // namespace pallascope::machine_test
