// Lanes of programs that several devices run.
#include "views/layout/layouts.h"
#include "views/layout/timeline.h"

#include <gtest/gtest.h>

using namespace pallascope;
using namespace pallascope::layout::timeline;

namespace {

constexpr std::int64_t kUs = 1'000'000;

layout::RunView viewOfDevices(std::shared_ptr<const trace::Trace> trace)
{
    layout::RunView run;
    run.trace = std::move(trace);
    run.index = std::make_shared<trace::Index>(run.trace);
    return run;
}

// Two devices with two links and one agent each. Device 0 copies from 1 to 3 us and, over its other
// link, from 2 to 4; device 1 from 1 to 2, and waits from 0 to 4.
std::shared_ptr<const trace::Trace> twoDevices(std::size_t agents = 2)
{
    trace::TraceBuilder builder;
    trace::Info& info = builder.info;
    info.memories = {{"HBM", Bytes(1 << 20), std::nullopt}};
    for (const char* device : {"device 0 ", "device 1 "}) {
        if (info.agents.size() < agents) {
            info.agents.push_back(std::string(device) + "core 0");
        }
        for (const char* kind : {"HBM", "ICI"}) {
            info.links.push_back(
                {device + std::string(kind), 0, 0, BytesPerSecond(1e9), BytesPerSecond(1e9), kind});
        }
    }
    trace::Operand operand;
    operand.name = "x";
    operand.array = operand.block = Shape({8, 128});
    operand.blockCounts = {1, 1};
    operand.gridAxes = {trace::kNone, trace::kNone};
    operand.pipeline = trace::kNone;
    operand.slots = 0;
    info.operands = {operand};
    trace::Copies& copies = builder.copies;
    copies.operand = {0, 0, 0};
    copies.block = {0, 0, 0};
    copies.slot = {0, 0, 0};
    copies.out = {0, 0, 0};
    copies.link = {0, 1, 3};
    copies.step = {trace::kNone, trace::kNone, trace::kNone};
    copies.bytes = {4096, 4096, 4096};
    copies.issue = {0, 0, 0};
    copies.start = {1 * kUs, 2 * kUs, 1 * kUs};
    copies.end = {3 * kUs, 4 * kUs, 2 * kUs};
    builder.waits.copy = {trace::kNone};
    builder.waits.agent = {static_cast<std::int32_t>(agents) - 1};
    builder.waits.step = {trace::kNone};
    builder.waits.begin = {0};
    builder.waits.end = {4 * kUs};
    builder.end = Picoseconds(4 * kUs);
    Result<std::shared_ptr<const trace::Trace>> trace = std::move(builder).finish();
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
    return *trace;
}

// So many devices, each with one link, one core that waits all the time, and an idle unit.
layout::RunView manyDevices(int count)
{
    trace::TraceBuilder builder = trace::TraceBuilder();
    trace::Info& info = builder.info;
    info.memories = {{"HBM", Bytes(1 << 20), std::nullopt}};
    info.units = {{"MXU", trace::UnitKind::Matrix}, {"VPU", trace::UnitKind::Vector}};
    for (int device = 0; device < count; ++device) {
        const std::string name = "device " + std::to_string(device) + " ";
        info.agents.push_back(name + "core 0");
        info.links.push_back({name + "HBM", 0, 0, BytesPerSecond(1e9), BytesPerSecond(1e9), "HBM"});
        builder.waits.copy.push_back(trace::kNone);
        builder.waits.agent.push_back(device);
        builder.waits.step.push_back(trace::kNone);
        builder.waits.begin.push_back(0);
        builder.waits.end.push_back(4 * kUs);
    }
    builder.end = Picoseconds(4 * kUs);
    return viewOfDevices(std::move(builder).finish().value());
}

Lane laneOf(LaneKind kind, std::int32_t device)
{
    Lane lane;
    lane.kind = kind;
    lane.device = device;
    return lane;
}

} // namespace

TEST(TimelineOfDevices, countsWhatItsLinksDoAtOnceOnce)
{
    const auto trace = twoDevices();
    EXPECT_EQ(trace->info().deviceCount(), 2);
    const Lane copies = laneOf(LaneKind::DeviceCopy, 0);
    EXPECT_EQ(deviceBusy(*trace, copies, Picoseconds(4 * kUs)), Picoseconds(3 * kUs));
    EXPECT_EQ(deviceBusy(*trace, copies, Picoseconds(5 * kUs / 2)), Picoseconds(3 * kUs / 2));
    const layout::RunView run = viewOfDevices(trace);
    for (const Lane& lane : lanesOf(run, Level::Steps, 400)) {
        if (lane.kind == LaneKind::DeviceWait) {
            EXPECT_EQ(busy(run, lane, trace->end()), Picoseconds(lane.device * 4 * kUs));
        }
    }
}

// A file may name fewer cores than its links have devices.
TEST(TimelineOfDevices, needEachDeviceToHaveACore)
{
    EXPECT_TRUE(hasDeviceLanes(*twoDevices()));
    EXPECT_FALSE(hasDeviceLanes(*twoDevices(1)));
}

// 100 px for each microsecond.
TEST(TimelineOfDevices, hasBarsOfItsOwnRowsAlone)
{
    const auto trace = twoDevices();
    const layout::TimeAxis axis{0, 400, {Picoseconds(0), trace->end()}};
    const std::vector<Bar> first = deviceBars(*trace, laneOf(LaneKind::DeviceCopy, 0), axis);
    ASSERT_EQ(first.size(), 2U);
    EXPECT_EQ(first[0].x0, 100);
    EXPECT_EQ(first[0].x1, 300);
    EXPECT_EQ(first[1].x0, 300); // what the bar before leaves of it
    EXPECT_EQ(first[1].x1, 400);
    EXPECT_EQ(first[1].target.a, 1);
    const std::vector<Bar> second = deviceBars(*trace, laneOf(LaneKind::DeviceCopy, 1), axis);
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].target.a, 2);
    const std::vector<Bar> waits = waitBars(viewOfDevices(trace), axis, 1);
    ASSERT_EQ(waits.size(), 1U);
    EXPECT_EQ(waits[0].x1, 400);
}

TEST(TimelineOfDevices, showsAllThatIsNeededInTheHeightThereIs)
{
    for (const int devices : {2, 4, 8, 16, 32}) {
        const layout::RunView run = manyDevices(devices);
        for (const double height : {80.0, 140.0, 183.0, 219.0, 240.0, 600.0}) {
            SCOPED_TRACE(std::to_string(devices) + " devices in " + std::to_string(height));
            const std::vector<Lane> lanes = lanesOf(run, Level::Steps, height);
            double above = 0;
            std::int32_t last = -1;
            for (const Lane& lane : lanes) {
                EXPECT_GE(lane.y, above);
                EXPECT_GE(lane.h, 6);
                above = lane.y + lane.h;
                last = std::max(last, lane.device);
            }
            EXPECT_LE(above, height);
            EXPECT_GE(last, 0);
        }
    }
}

// In the window of 1280x800 the time line has 183 px: eight devices fit, each under one head.
TEST(TimelineOfDevices, foldWhereTheyWouldNotFit)
{
    const layout::RunView run = manyDevices(8);
    const std::vector<Lane> lanes = lanesOf(run, Level::Steps, 183);
    ASSERT_GE(lanes.size(), 16U);
    EXPECT_EQ(lanes[14].name, "device 7");
    EXPECT_EQ(lanes[15].name, "");
    EXPECT_EQ(lanes[15].y, lanes[14].y + lanes[14].h + 1);
    const std::vector<Lane> apart = lanesOf(run, Level::Steps, 600);
    EXPECT_EQ(apart[14].name, "copies 7");
    EXPECT_EQ(apart[15].name, "wait 7");
}

TEST(TimelineOfDevices, saysWhichOnesAreShownWhereNotAllFit)
{
    const layout::RunView run = manyDevices(32);
    layout::ViewState state;
    state.visible = {Picoseconds(0), run.trace->end()};
    const auto captionIn = [&](double height) {
        return layoutTimeline(run, state, {1280, height}).caption;
    };
    EXPECT_NE(captionIn(183).find(" of 32: the others need more height"), std::string::npos)
        << captionIn(183);
    EXPECT_EQ(captionIn(900).find(" of 32"), std::string::npos);
}

// Of one device: core 0 waits from 0 to 3 us for what core 1, which waits from 1 to 4, will signal.
TEST(TimelineOfCores, waitsThatOverlapHaveALaneEach)
{
    trace::TraceBuilder builder;
    trace::Info& info = builder.info;
    info.memories = {{"HBM", Bytes(1 << 20), std::nullopt}};
    info.units = {{"VPU", trace::UnitKind::Vector}};
    info.agents = {"core 0", "core 1"};
    info.semaphores.resize(2);
    for (const std::int32_t core : {0, 1}) {
        info.semaphores[static_cast<std::size_t>(core)].name = core == 0 ? "sent" : "taken";
        info.semaphores[static_cast<std::size_t>(core)].agent = core;
        builder.waits.copy.push_back(trace::kNone);
        builder.waits.semaphore.push_back(core);
        builder.waits.agent.push_back(core);
        builder.waits.step.push_back(trace::kNone);
        builder.waits.begin.push_back(core * kUs);
        builder.waits.end.push_back((3 + core) * kUs);
    }
    builder.end = Picoseconds(5 * kUs);
    const layout::RunView run = viewOfDevices(std::move(builder).finish().value());

    std::vector<Lane> waits = lanesOf(run, Level::Steps, 400);
    std::erase_if(waits, [](const Lane& lane) { return lane.kind == LaneKind::Unit; });
    ASSERT_EQ(waits.size(), 2U);
    const layout::TimeAxis axis{0, 500, {Picoseconds(0), run.trace->end()}};
    for (const std::int32_t core : {0, 1}) {
        const Lane& lane = waits[static_cast<std::size_t>(core)];
        EXPECT_EQ(lane.name, "wait " + std::to_string(core));
        EXPECT_EQ(busy(run, lane, Picoseconds(2 * kUs)), Picoseconds((2 - core) * kUs));
        const std::vector<Bar> bars = waitBars(run, axis, core);
        ASSERT_EQ(bars.size(), 1U);
        EXPECT_EQ(bars[0].x0, 100 * core);
        EXPECT_EQ(bars[0].x1, 100 * (3 + core));
        EXPECT_EQ(bars[0].target.a, core);
        EXPECT_EQ(bars[0].labels.front(), core == 0 ? "for sent 3.00 µs" : "for taken 3.00 µs");
    }
    EXPECT_NE(laneNumber(waits[0]), laneNumber(waits[1]));
    layout::ViewState state;
    state.visible = axis.range;
    const std::string picture =
        layout::toSvg(layout::layoutTimeline(run, state, {900, 300}), layout::Theme::Light);
    EXPECT_NE(picture.find("wait 1"), std::string::npos);
    EXPECT_EQ(picture.find("device"), std::string::npos);
}
