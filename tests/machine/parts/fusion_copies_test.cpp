// Tests what a fusion streams from and to HBM, without an engine.
#include "core/machine/parts/fusion_copies.h"
#include "tests/ir/wholes.h"
#include "tests/machine/parts/bare_run.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace pallascope::machine_test {

namespace {

// out = x + y, on arrays of 4 MiB in HBM.
ir::Program adding()
{
    const Shape shape{1024, 1024};
    Result<ir::Program> program = pl::kernel(
        "adding",
        {pl::in("x", DType::F32, shape), pl::in("y", DType::F32, shape),
         pl::out("out", DType::F32, shape)},
        [](pl::Ref x, pl::Ref y, pl::Ref out) {
            ir_test::fusion({"add", true}, [&] { out[pl::all] = x[pl::all] + y[pl::all]; });
        });
    if (!program) {
        throw std::runtime_error(program.error().message);
    }
    return *std::move(program);
}

// The segment of the fusion, inside its region.
const machine::PlanItem& streaming(const BareRun& run)
{
    for (const machine::BlockPlan& block : run.context().prepared.plan.blocks) {
        for (const machine::PlanItem& item : block.items) {
            if (!item.streams.empty()) {
                return item;
            }
        }
    }
    throw std::runtime_error("the plan has a fusion that streams");
}

} // namespace

TEST(FusionCopies, bringWhatIsReadAndTakeBackWhatIsWritten)
{
    BareRun run({}, adding());
    machine::SlotUses uses;
    machine::L1Caches l1(run.context(), uses);
    machine::FusionCopies fusion(run.context(), run.copies, l1);
    const machine::PlanItem& item = streaming(run);
    ASSERT_EQ(item.streams.size(), 3U);
    machine::BlockFrame frame;
    ASSERT_TRUE(fusion.begin(item, frame));
    EXPECT_EQ(run.recorder().position().copies, 3);
    run.recorder().closeRows();
    const auto& copies = run.recorder().builder.copies;
    EXPECT_EQ(copies.start[0], 0);
    EXPECT_EQ(copies.start[1], copies.end[0]) << "arrays share the link";
    EXPECT_GE(copies.start[2], copies.end[1]);
    EXPECT_EQ(frame.streams, trace::CopyRow{2}) << "the write-back ends last";
    EXPECT_EQ(frame.streamed.value(), copies.end[2]);
    EXPECT_GE(frame.streamed, item.duration);
}

TEST(FusionCopies, theFusionRunsUntilItsLastCopyEnds)
{
    BareRun run({}, adding());
    machine::SlotUses uses;
    machine::L1Caches l1(run.context(), uses);
    machine::FusionCopies fusion(run.context(), run.copies, l1);
    const machine::PlanItem& item = streaming(run);
    machine::BlockFrame frame;
    ASSERT_TRUE(fusion.begin(item, frame));
    const Picoseconds last = frame.streamed;
    run.agent().time = item.duration;
    ASSERT_LT(item.duration, last);
    fusion.end(item, frame);
    EXPECT_EQ(run.agent().time, last);
    EXPECT_FALSE(frame.streams);
    run.recorder().closeRows();
    EXPECT_EQ(run.recorder().builder.waits.copy.back(), 2);
}

TEST(FusionCopies, aFusionThatWorksLongerThanItsCopiesWaitsForNone)
{
    BareRun run({}, adding());
    machine::SlotUses uses;
    machine::L1Caches l1(run.context(), uses);
    machine::FusionCopies fusion(run.context(), run.copies, l1);
    const machine::PlanItem& item = streaming(run);
    machine::BlockFrame frame;
    ASSERT_TRUE(fusion.begin(item, frame));
    run.agent().time = frame.streamed + Picoseconds(1);
    fusion.end(item, frame);
    EXPECT_TRUE(run.recorder().builder.waits.copy.empty());
}

} // namespace pallascope::machine_test
