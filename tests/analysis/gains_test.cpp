// What doing something about a loss can bring at most.
#include "core/analysis/gains.h"

#include <gtest/gtest.h>

namespace pallascope::analysis_test {

using analysis::Loss;
using analysis::LossKind;
using analysis::mostGain;

namespace {

constexpr Picoseconds kKernelLaunch(2000), kFusionLaunch(700), kStep(100);

// One kernel of 8 steps in 2 pipelines, and two fusions.
class Gains : public testing::Test
{
protected:
    Gains()
    {
        const auto add = [&](trace::SegmentKind kind, Picoseconds duration, std::int64_t times) {
            trace::SegmentTemplate segment;
            segment.kind = kind;
            segment.duration = duration;
            m_info.templates.edit().push_back(segment);
            m_sums.instances.push_back(times);
        };
        add(trace::SegmentKind::Launch, kKernelLaunch, 1);
        add(trace::SegmentKind::Launch, kFusionLaunch, 2);
        add(trace::SegmentKind::Launch, Picoseconds(9999), 0);
        add(trace::SegmentKind::StepOverhead, kStep, 8);
        m_sums.steps = 8;
        m_info.pipelines.resize(2);
        m_info.pipelines[0].entries = m_info.pipelines[1].entries = 1;
        m_report.time = Picoseconds(20'000);
        m_report.split.launches = kKernelLaunch + kFusionLaunch * 2;
        m_report.split.stepOverhead = kStep * 8;
        m_report.split.compute = Picoseconds(300);
        m_sums.moved.resize(1);
        m_sums.moved[0][trace::Summary::Read] = {2, Bytes(1000), Bytes(600)};
        m_report.roofline.memory.achieved = BytesPerSecond(1e12);
    }

    [[nodiscard]] std::int64_t most(LossKind kind, Picoseconds time = Picoseconds(5000)) const
    {
        return mostGain({kind, "", time, {}}, m_report, m_info, m_sums, m_chip).value();
    }

    trace::Info m_info;
    trace::Summary m_sums;
    chip::Chip m_chip;
    analysis::Report m_report;
};

} // namespace

TEST_F(Gains, ofLaunchesLeaveOneKernel)
{
    EXPECT_EQ(most(LossKind::Launches), 1400);
    m_report.split.launches = kKernelLaunch;
    EXPECT_EQ(most(LossKind::Launches), 0);
}

TEST_F(Gains, ofStepOverheadLeaveOneStepOfEachPipeline)
{
    EXPECT_EQ(most(LossKind::StepOverhead), 600);
    m_info.pipelines[0].entries = 7;
    EXPECT_EQ(most(LossKind::StepOverhead), 0);
}

// In n parts, a prologue of 1600 takes 1600 / n, and n - 1 steps more take 100 each. n = 4 is best.
TEST_F(Gains, ofAPrologueAreThoseOfTheBestDivision)
{
    for (const LossKind kind : {LossKind::Prologue, LossKind::Epilogue}) {
        EXPECT_EQ(most(kind, Picoseconds(1600)), 1600 - 1600 / 4 - 3 * 100);
        EXPECT_EQ(most(kind, Picoseconds(100)), 0);
        EXPECT_EQ(most(kind, Picoseconds(50)), 0) << "more steps cost more";
    }
}

TEST_F(Gains, ofCopiesToOtherDevicesNeedWorkToHideThem)
{
    EXPECT_EQ(most(LossKind::DeviceCopies), 300 + 800 + 400);
}

TEST_F(Gains, ofCopiesOfAGpuLeaveTheFirstLoad)
{
    m_report.roofline.memory.name = "HBM";
    m_chip.links.push_back({.name = "HBM", .latency = Picoseconds(700)});
    EXPECT_EQ(most(LossKind::Copies), m_report.time.value()) << "a TPU's is in the prologue";
    m_report.isGpu = true;
    EXPECT_EQ(most(LossKind::Copies, Picoseconds(5000)), 4300);
    EXPECT_EQ(most(LossKind::Copies, Picoseconds(500)), 0);
}

TEST_F(Gains, ofOtherLossesAreNotLimited)
{
    EXPECT_EQ(most(LossKind::Refetch), m_report.time.value());
}

} // namespace pallascope::analysis_test
