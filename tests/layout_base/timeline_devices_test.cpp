// Lanes of programs that run on several devices.
#include "tests/support/manual_operand.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"
#include "views/layout/scene/svg.h"
#include "views/layout/timeline/timeline.h"
#include "views/layout/tooltip/tooltip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

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

// Two devices with two links and one agent each. Device 0 copies from 1 to 3 us over one link and
// from 2 to 4 us over the other. Device 1 copies from 1 to 2 us and waits from 0 to 4 us.
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
    info.operands = {test::manualOperand("x")};
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

// Eight devices with three links each. One copy in ten takes a hundred times as long as the others,
// so that neither starts nor ends ascend across links.
std::shared_ptr<const trace::Trace> busyDevices(std::uint64_t seed)
{
    constexpr int kDevices = 8, kLinks = 3, kCopies = 1500;
    std::mt19937_64 random(seed);
    trace::TraceBuilder builder;
    trace::Info& info = builder.info;
    info.memories = {{"HBM", Bytes(1 << 20), std::nullopt}};
    for (int device = 0; device < kDevices; ++device) {
        const std::string name = "device " + std::to_string(device) + " ";
        info.agents.push_back(name + "core 0");
        for (const char* kind : {"HBM", "ICI x+", "ICI x-"}) {
            info.links.push_back(
                {name + kind, 0, 0, BytesPerSecond(1e9), BytesPerSecond(1e9), kind});
        }
    }
    info.operands = {test::manualOperand("x")};
    std::vector<std::int64_t> free(kDevices * kLinks, 0);
    std::int64_t issue = 0, end = 0;
    trace::Copies& copies = builder.copies;
    for (int i = 0; i < kCopies; ++i) {
        const auto link = static_cast<std::size_t>(random() % free.size());
        issue += static_cast<std::int64_t>(random() % 50'000);
        const std::int64_t start = std::max(issue + 10'000, free[link]);
        free[link] = start
                     + static_cast<std::int64_t>(random() % 50'000 * (random() % 10 == 0 ? 100 : 1))
                     + 1;
        copies.operand.push_back(0);
        copies.block.push_back(0);
        copies.slot.push_back(0);
        copies.out.push_back(0);
        copies.link.push_back(static_cast<std::int32_t>(link));
        copies.step.push_back(trace::kNone);
        copies.bytes.push_back(4096);
        copies.issue.push_back(issue);
        copies.start.push_back(start);
        copies.end.push_back(free[link]);
        end = std::max(end, free[link]);
    }
    builder.end = Picoseconds(end);
    return std::move(builder).finish().value();
}

// For each pixel of the axis, whether a copy over one of the links covers it. Looks at every copy.
std::vector<bool> coveredBy(const trace::Trace& trace, const std::vector<std::int32_t>& links,
                            const layout::TimeAxis& axis)
{
    const trace::Copies& copies = trace.copies();
    std::vector<bool> covered(static_cast<std::size_t>(axis.width), false);
    for (std::size_t row = 0; row < copies.size(); ++row) {
        const bool isIts = std::count(links.begin(), links.end(), copies.link[row]) > 0;
        if (!isIts || copies.end[row] <= axis.range.begin.value()
            || copies.start[row] >= axis.range.end.value()) {
            continue;
        }
        const double x0 = std::round(axis.toX(Picoseconds(copies.start[row])));
        const double x1 = std::max(x0 + 1, std::round(axis.toX(Picoseconds(copies.end[row]))));
        for (double x = std::max(x0, 0.0); x < std::min(x1, axis.width); ++x) {
            covered[static_cast<std::size_t>(x)] = true;
        }
    }
    return covered;
}

// This many devices, each with one link, one core that waits all the time, and an idle unit.
layout::RunView manyDevices(int count)
{
    trace::TraceBuilder builder = trace::TraceBuilder();
    trace::Info& info = builder.info;
    info.memories = {{"HBM", Bytes(1 << 20), std::nullopt}};
    info.units = {{"MXU", UnitKind::Matrix}, {"VPU", UnitKind::Vector}};
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

// Two devices, each with a link and a core that waits. Each copies from 1 to 3 us, and its VPU
// works for `works` from the start on.
layout::RunView computingDevices(Picoseconds works)
{
    trace::TraceBuilder builder;
    trace::Info& info = builder.info;
    info.memories = {{"HBM", Bytes(1 << 20), std::nullopt}};
    info.units = {{"VPU", UnitKind::Vector}};
    info.operands = {test::manualOperand("x")};
    trace::SegmentTemplate segment;
    segment.clock = Hertz(1e9);
    segment.cycles = Cycles(works.value() / 1000);
    segment.duration = works;
    segment.marks = {{0, -1, Cycles(0), segment.cycles}};
    segment.flopsByUnit = segment.executedFlopsByUnit = {Flops(1)};
    info.templates.edit().push_back(segment);
    trace::Copies& copies = builder.copies;
    for (int device = 0; device < 2; ++device) {
        const std::string name = "device " + std::to_string(device) + " ";
        info.agents.push_back(name + "core 0");
        info.links.push_back({name + "HBM", 0, 0, BytesPerSecond(1e9), BytesPerSecond(1e9), "HBM"});
        builder.segments.agent.push_back(device);
        builder.segments.templateId.push_back(0);
        builder.segments.begin.push_back(0);
        builder.segments.step.push_back(trace::kNone);
        builder.waits.copy.push_back(trace::kNone);
        builder.waits.agent.push_back(device);
        builder.waits.step.push_back(trace::kNone);
        builder.waits.begin.push_back(works.value());
        builder.waits.end.push_back(4 * kUs);
        copies.operand.push_back(0);
        copies.block.push_back(0);
        copies.slot.push_back(0);
        copies.out.push_back(0);
        copies.link.push_back(device);
        copies.step.push_back(trace::kNone);
        copies.bytes.push_back(4096);
        copies.issue.push_back(0);
        copies.start.push_back(1 * kUs);
        copies.end.push_back(3 * kUs);
    }
    builder.end = Picoseconds(4 * kUs);
    Result<std::shared_ptr<const trace::Trace>> trace = std::move(builder).finish();
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
    return viewOfDevices(*trace);
}

// The lane of copies of a device of twoDevices(), each of which has two links.
Lane copiesOf(std::int32_t device)
{
    Lane lane;
    lane.kind = LaneKind::DeviceCopy;
    lane.device = device;
    lane.links = {2 * device, 2 * device + 1};
    return lane;
}

} // namespace

TEST(TimelineOfDevices, countsWhatItsLinksDoAtOnceOnce)
{
    const auto trace = twoDevices();
    EXPECT_EQ(trace->info().deviceCount(), 2);
    const layout::RunView run = viewOfDevices(trace);
    EXPECT_EQ(linksBusyBy(run, copiesOf(0), {Picoseconds(5 * kUs / 2), Picoseconds(4 * kUs)}),
              (std::vector<Picoseconds>{Picoseconds(3 * kUs / 2), Picoseconds(3 * kUs)}));
    for (const Lane& lane : lanesOf(run, Level::Steps, 400)) {
        EXPECT_TRUE(lane.kind != LaneKind::DeviceWait
                    || busy(run, lane, trace->end()) == Picoseconds(0));
    }
    for (const Lane& lane : lanesOf(run, Level::Steps, 400, 1)) {
        EXPECT_TRUE(lane.kind != LaneKind::DeviceWait
                    || busy(run, lane, trace->end()) == Picoseconds(4 * kUs));
    }
}

// A file may name fewer cores than there are devices.
// "copy in" of a GPU is over HBM and L2 at once: it is busy while either is.
TEST(TimelineOfLinks, aLaneOfSeveralIsBusyWhileAnyOfThemIs)
{
    const auto trace = twoDevices(1);
    const layout::RunView run = viewOfDevices(trace);
    const std::vector<Lane> lanes = lanesOf(run, Level::Steps, 400);
    ASSERT_EQ(lanes.front().kind, LaneKind::CopyIn);
    EXPECT_EQ(lanes.front().links.size(), 3U);
    EXPECT_EQ(
        busyBy(run, lanes.front(),
               {Picoseconds(0), Picoseconds(3 * kUs / 2), Picoseconds(4 * kUs)}),
        (std::vector<Picoseconds>{Picoseconds(0), Picoseconds(kUs / 2), Picoseconds(3 * kUs)}));
    ViewState state;
    state.visible = {Picoseconds(0), Picoseconds(4 * kUs)};
    const std::vector<std::string> lines =
        layout::tooltip(run, state, target::Lane{idOf(lanes.front())});
    const auto has = [&](const std::string& wanted) {
        return std::find(lines.begin(), lines.end(), wanted) != lines.end();
    };
    EXPECT_TRUE(has("busy 3.00 µs of the run, 75.0 %")) << testing::PrintToString(lines);
    EXPECT_TRUE(has("device 0 HBM 2.00 µs, 50.0 %")) << testing::PrintToString(lines);
}

TEST(TimelineOfDevices, needEachDeviceToHaveACore)
{
    EXPECT_TRUE(hasDeviceLanes(*twoDevices()));
    EXPECT_FALSE(hasDeviceLanes(*twoDevices(1)));
}

// 100 px are one microsecond.
TEST(TimelineOfDevices, hasBarsOfItsOwnRowsAlone)
{
    const auto trace = twoDevices();
    const layout::TimeAxis axis{0, 400, {Picoseconds(0), trace->end()}};
    const layout::RunView run = viewOfDevices(trace);
    const auto barsOf = [&](std::int32_t device, const std::vector<std::int32_t>& links) {
        return copyBars(run, copiesOf(device), links, axis, Level::Steps);
    };
    const std::vector<Bar> first = barsOf(0, {0}), beside = barsOf(0, {1});
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0].x0, 100);
    EXPECT_EQ(first[0].x1, 300);
    ASSERT_EQ(beside.size(), 1U);
    EXPECT_EQ(beside[0].x0, 200);
    EXPECT_EQ(beside[0].x1, 400);
    EXPECT_EQ(beside[0].target, layout::Target(layout::target::Copy{1}));
    const std::vector<Bar> together = barsOf(0, {0, 1});
    ASSERT_EQ(together.size(), 2U);
    EXPECT_EQ(together[1].x0, 300); // what the bar before it leaves free
    EXPECT_EQ(together[1].x1, 400);
    const std::vector<Bar> second = barsOf(1, {2, 3});
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].target, layout::Target(layout::target::Copy{2}));
    const std::vector<Bar> waits = waitBars(run, axis, trace::AgentRow{1});
    ASSERT_EQ(waits.size(), 1U);
    EXPECT_EQ(waits[0].x1, 400);
}

// This holds at any zoom, and for links that share a track, too: no copy is skipped.
TEST(TimelineOfDevices, coverEveryPixelThatACopyTouches)
{
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        const layout::RunView run = viewOfDevices(busyDevices(seed));
        const std::int64_t end = run.trace->end().value();
        std::mt19937_64 random(seed);
        for (std::int64_t length = end; length > 100'000; length /= 7) {
            const auto begin =
                static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end - length + 1));
            const layout::TimeAxis axis{0, 600, {Picoseconds(begin), Picoseconds(begin + length)}};
            for (const std::vector<std::int32_t>& links :
                 {std::vector{4}, std::vector{3, 4, 5}, std::vector{0, 1, 2, 9, 10, 11}}) {
                std::vector<bool> covered(600, false);
                double last = -10;
                for (const Bar& bar : copyBars(run, copiesOf(0), links, axis, Level::Steps)) {
                    ASSERT_GE(bar.x0, last); // bars ascend and do not overlap
                    last = bar.x1;
                    for (double x = std::max(bar.x0, 0.0); x < std::min(bar.x1, 600.0); ++x) {
                        covered[static_cast<std::size_t>(x)] = true;
                    }
                }
                ASSERT_EQ(covered, coveredBy(*run.trace, links, axis));
            }
        }
    }
}

TEST(TimelineOfDevices, everyBarsOwnCentreHitsItsCopy)
{
    const layout::RunView run = viewOfDevices(busyDevices(2));
    const std::int64_t end = run.trace->end().value();
    for (const layout::Size size : {layout::Size{1280, 219}, layout::Size{1920, 400}}) {
        for (std::int64_t length = end; length > 1'000'000; length /= 3) {
            SCOPED_TRACE(length);
            layout::ViewState state;
            state.visible = {Picoseconds((end - length) / 2), Picoseconds((end + length) / 2)};
            const layout::TimeAxis axis = layout::timelineAxis(state, size);
            const Zoom zoom = zoomOf(*run.trace, axis);
            const layout::Scene scene = layout::layoutTimeline(run, state, size);
            for (const Lane& lane : lanesOf(run, zoom.level, size.height)) {
                if (lane.kind != LaneKind::DeviceCopy) {
                    continue;
                }
                for (const LinkTrack& track : linkTracksOf(lane)) {
                    for (const Bar& bar : copyBars(run, lane, track.links, axis, zoom.level)) {
                        const double x0 = std::max(bar.x0, axis.left);
                        const double x1 = std::min(bar.x1, axis.left + axis.width);
                        if (x1 > x0) {
                            ASSERT_EQ(
                                layout::hitTest(scene, (x0 + x1) / 2, track.y + track.h / 2, 0),
                                bar.target)
                                << lane.name;
                        }
                    }
                }
            }
        }
    }
}

// Of the chosen device each link has a lane, its own first, then those from its neighbours.
TEST(TimelineOfDevices, haveALaneForEachLinkOfTheChosenOne)
{
    const layout::RunView run = viewOfDevices(busyDevices(1));
    for (const std::int32_t chosen : {0, 5}) {
        std::vector<std::vector<std::int32_t>> links;
        std::vector<std::string> names;
        std::int32_t strips = 0;
        for (const Lane& lane : lanesOf(run, Level::Steps, 600, chosen)) {
            EXPECT_EQ(lane.isOpen, lane.kind == LaneKind::Device && lane.device == chosen);
            strips += lane.kind == LaneKind::Device ? 1 : 0;
            if (lane.kind == LaneKind::DeviceCopy) {
                EXPECT_EQ(lane.device, chosen);
                links.push_back(lane.links);
                names.push_back(lane.name);
            }
        }
        EXPECT_EQ(strips, 8);
        EXPECT_EQ(links, (std::vector<std::vector<std::int32_t>>{
                             {3 * chosen}, {3 * chosen + 1}, {3 * chosen + 2}}));
        EXPECT_EQ(names[0], "HBM");
    }
    Lane low = copiesOf(0);
    low.h = 5;
    low.links = {0, 1, 2, 3, 4, 5, 6};
    std::vector<std::int32_t> all;
    for (const LinkTrack& track : linkTracksOf(low)) {
        all.insert(all.end(), track.links.begin(), track.links.end());
    }
    EXPECT_EQ(all, low.links);
}

// A kernel that computes a little says of the other devices what one that only copies says.
TEST(TimelineOfDevices, sayInTheirStripsWhatIsBusiest)
{
    for (const std::int64_t works : {kUs / 100, kUs, 3 * kUs}) {
        SCOPED_TRACE(works);
        const layout::RunView run = computingDevices(Picoseconds(works));
        const Picoseconds end = run.trace->end();
        std::int64_t strips = 0;
        for (const Lane& lane : deviceLanes(run, 0, trace::kNone)) {
            if (lane.kind == LaneKind::Device && !lane.isOpen) {
                EXPECT_EQ(busy(run, lane, end), Picoseconds(std::max(works, 2 * kUs)));
                ++strips;
            }
        }
        EXPECT_EQ(strips, 1);
        layout::ViewState state;
        state.visible = {Picoseconds(0), end};
        state.now = end;
        const layout::Scene scene = layoutTimeline(run, state, {1280, 400});
        std::set<std::int64_t> copies;
        for (const layout::Hit& hit : scene.hits) {
            if (const auto* copy = std::get_if<layout::target::Copy>(&hit.target)) {
                copies.insert(copy->row);
            }
        }
        EXPECT_EQ(copies,
                  works > 2 * kUs ? (std::set<std::int64_t>{0}) : (std::set<std::int64_t>{0, 1}));
    }
}

// A lane without its name would seem to belong to the one above it.
TEST(TimelineOfDevices, keepTheirNamesInAnyHeight)
{
    const layout::RunView copying = viewOfDevices(busyDevices(1));
    const layout::RunView waiting = manyDevices(8);
    const layout::RunView computing = computingDevices(Picoseconds(kUs));
    for (const layout::RunView* run : {&copying, &waiting, &computing}) {
        for (double height = 60; height < 500; height += 1) {
            SCOPED_TRACE(height);
            layout::ViewState state;
            state.visible = {Picoseconds(0), run->trace->end()};
            std::set<std::string> texts;
            for (const layout::Item& item : layoutTimeline(*run, state, {1280, height}).items) {
                if (const auto* text = std::get_if<layout::TextItem>(&item)) {
                    texts.insert(text->text);
                }
            }
            double above = 0;
            for (const Lane& lane : lanesOf(*run, Level::Steps, height)) {
                EXPECT_EQ(texts.count(lane.name), 1U) << lane.name;
                EXPECT_GE(lane.y, above);
                above = lane.y + lane.h;
            }
            EXPECT_LE(above, std::max(height, 80.0));
        }
    }
}

// Every lane of any device is found again by its name in a target.
TEST(TimelineOfDevices, haveLanesThatTargetsName)
{
    const layout::RunView run = viewOfDevices(busyDevices(1));
    for (std::int32_t device = 0; device < 8; ++device) {
        for (const Lane& lane : deviceLanes(run, device, trace::kNone)) {
            const auto found = laneOf(run, idOf(lane));
            ASSERT_TRUE(found);
            EXPECT_EQ(found->name, lane.name);
            EXPECT_EQ(found->links, lane.links);
            EXPECT_EQ(found->device, lane.device);
        }
    }
    EXPECT_FALSE(laneOf(run, layout::lane::DeviceWaits{8}));
    EXPECT_FALSE(laneOf(run, layout::lane::Device{-1}));
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
                EXPECT_GE(lane.h, kLeastHead);
                above = lane.y + lane.h;
                last = std::max(last, lane.device);
            }
            EXPECT_LE(above, height);
            EXPECT_GE(last, 0);
        }
    }
}

// In a window of 1280x800 the time line is 183 px high: eight devices fit, the chosen one open.
TEST(TimelineOfDevices, foldButForTheChosenOne)
{
    const layout::RunView run = manyDevices(8);
    for (const std::int32_t chosen : {0, 3, 7}) {
        std::vector<std::string> names;
        for (const Lane& lane : lanesOf(run, Level::Steps, 183, chosen)) {
            names.push_back(lane.name);
        }
        std::vector<std::string> wanted;
        for (std::int32_t device = 0; device < 8; ++device) {
            wanted.push_back("device " + std::to_string(device));
            if (device == chosen) {
                wanted.emplace_back("wait");
            }
        }
        EXPECT_EQ(names, wanted);
    }
}

TEST(TimelineOfDevices, keepTheChosenOneWhereNotAllFit)
{
    const layout::RunView run = manyDevices(32);
    const std::vector<Lane> lanes = lanesOf(run, Level::Steps, 183, 30);
    EXPECT_TRUE(std::any_of(lanes.begin(), lanes.end(),
                            [](const Lane& lane) { return lane.isOpen && lane.device == 30; }));
    EXPECT_LT(lanes.size(), 32U);
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

// On one device, core 0 waits from 0 to 3 us for a signal of core 1, which itself waits from 1 to 4
// us.
TEST(TimelineOfCores, waitsThatOverlapHaveALaneEach)
{
    trace::TraceBuilder builder;
    trace::Info& info = builder.info;
    info.memories = {{"HBM", Bytes(1 << 20), std::nullopt}};
    info.units = {{"VPU", UnitKind::Vector}};
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
        const std::vector<Bar> bars = waitBars(run, axis, trace::AgentRow{core});
        ASSERT_EQ(bars.size(), 1U);
        EXPECT_EQ(bars[0].x0, 100 * core);
        EXPECT_EQ(bars[0].x1, 100 * (3 + core));
        EXPECT_EQ(bars[0].target, layout::Target(layout::target::Wait{core}));
        EXPECT_EQ(bars[0].labels.front(), core == 0 ? "for sent 3.00 µs" : "for taken 3.00 µs");
    }
    EXPECT_NE(idOf(waits[0]), idOf(waits[1]));
    layout::ViewState state;
    state.visible = axis.range;
    const std::string picture =
        layout::toSvg(layout::layoutTimeline(run, state, {900, 300}), layout::Theme::Light);
    EXPECT_NE(picture.find("wait 1"), std::string::npos);
    EXPECT_EQ(picture.find("device"), std::string::npos);
}
