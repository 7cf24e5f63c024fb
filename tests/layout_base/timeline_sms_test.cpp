// Lanes of runs for a GPU: one SM large, all of them as a strip.
#include "tests/support/manual_operand.h"
#include "views/layout/run/run_view.h"
#include "views/layout/timeline/sm_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

using namespace pallascope;
using namespace pallascope::layout::timeline;

namespace {

constexpr std::int64_t kNs = 1'000;
constexpr std::int32_t kTc = 0, kFp32 = 1; // units

layout::RunView viewOfSms(std::shared_ptr<const trace::Trace> trace)
{
    layout::RunView run;
    run.trace = std::move(trace);
    run.index = std::make_shared<trace::Index>(run.trace);
    return run;
}

trace::SegmentTemplate busyFor(std::int32_t unit, std::int64_t cycles)
{
    trace::SegmentTemplate segment;
    segment.cycles = Cycles(cycles);
    segment.duration = Picoseconds(cycles * kNs); // at 1 GHz
    segment.clock = Hertz(1e9);
    segment.marks = {{unit, trace::kNone, Cycles(0), Cycles(cycles)}};
    segment.flopsByUnit = segment.executedFlopsByUnit = {Flops(0), Flops(0)};
    return segment;
}

// What an H100 has, with `sms` SMs of two warpgroups. `random` decides what they do: segments on
// both units, and waits between them.
std::shared_ptr<const trace::Trace> traceOf(int sms, std::uint64_t seed, bool isGpu = true,
                                            const std::string& between = " ",
                                            const std::string& behind = "", int devices = 1)
{
    std::mt19937_64 random(seed);
    trace::TraceBuilder builder;
    trace::Info& info = builder.info;
    info.memories = {{"HBM", Bytes(1 << 20), std::nullopt}, {"SMEM", Bytes(1 << 16), std::nullopt}};
    info.links.assign(static_cast<std::size_t>(devices),
                      {"HBM", 0, 1, BytesPerSecond(1e9), BytesPerSecond(1e9), "HBM"});
    info.units = {{"TC", UnitKind::Matrix}, {"FP32", UnitKind::Vector}};
    info.templates = {busyFor(kTc, 40), busyFor(kFp32, 25)};
    info.operands = {test::manualOperand("x")};
    if (isGpu) {
        info.blockGrids.resize(1);
    }

    struct Row
    {
        std::int64_t begin = 0, end = 0;
        std::int32_t agent = 0, of = 0;
    };

    std::vector<Row> segments, waits;
    for (int sm = 0; sm < sms * devices; ++sm) {
        for (int warpgroup = 0; warpgroup < 2; ++warpgroup) {
            const auto agent = static_cast<std::int32_t>(info.agents.size());
            info.agents.push_back(
                (devices > 1 ? "device " + std::to_string(sm / sms) + " " : std::string()) + "SM "
                + std::to_string(sm % sms) + between + "Warpgroup " + std::to_string(warpgroup)
                + behind);
            std::int64_t now = static_cast<std::int64_t>(random() % 50) * kNs;
            for (int i = 0; i < 20; ++i) {
                const auto of = static_cast<std::int32_t>(warpgroup == 1 ? kFp32 : random() % 2);
                const std::int64_t length =
                    info.templates[static_cast<std::size_t>(of)].duration.value();
                segments.push_back({now, now + length, agent, of});
                now += length;
                const auto wait = static_cast<std::int64_t>(random() % 30 + 1) * kNs;
                waits.push_back({now, now + wait, agent, 0});
                now += wait;
            }
        }
    }
    const auto byBegin = [](const Row& a, const Row& b) { return a.begin < b.begin; };
    std::stable_sort(segments.begin(), segments.end(), byBegin);
    std::stable_sort(waits.begin(), waits.end(), byBegin);
    for (const Row& row : segments) {
        builder.segments.agent.push_back(row.agent);
        builder.segments.step.push_back(trace::kNone);
        builder.segments.templateId.push_back(row.of);
        builder.segments.begin.push_back(row.begin);
        builder.end = std::max(builder.end, Picoseconds(row.end));
    }
    for (const Row& row : waits) {
        builder.waits.copy.push_back(trace::kNone);
        builder.waits.agent.push_back(row.agent);
        builder.waits.step.push_back(trace::kNone);
        builder.waits.begin.push_back(row.begin);
        builder.waits.end.push_back(row.end);
        builder.end = std::max(builder.end, Picoseconds(row.end));
    }
    Result<std::shared_ptr<const trace::Trace>> trace = std::move(builder).finish();
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
    return *trace;
}

std::vector<std::string> namesOf(const std::vector<Lane>& lanes)
{
    std::vector<std::string> names;
    for (const Lane& lane : lanes) {
        names.push_back(lane.name);
    }
    return names;
}

// How long a unit of some agents is busy between two times. Looks at every segment.
std::int64_t busyOf(const trace::Trace& trace, const std::vector<std::int32_t>& agents,
                    std::int32_t unit, std::int64_t from, std::int64_t to)
{
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < trace.segments().size(); ++row) {
        const std::int32_t of = trace.segments().templateId[row];
        const bool isIts =
            std::count(agents.begin(), agents.end(), trace.segments().agent[row]) > 0;
        if (isIts && of == unit) {
            const std::int64_t begin = trace.segments().begin[row];
            const std::int64_t end =
                begin + trace.info().templates[static_cast<std::size_t>(of)].duration.value();
            sum += std::max<std::int64_t>(0, std::min(end, to) - std::max(begin, from));
        }
    }
    return sum;
}

} // namespace

TEST(TimelineSms, theChosenOneHasLanesAndAllShareAStrip)
{
    const layout::RunView run = viewOfSms(traceOf(3, 1));
    EXPECT_EQ(namesOf(lanesOf(run, Level::Operations, 400, 0, 1)),
              (std::vector<std::string>{"3 SMs", "SM 1", "TC", "WG 0", "WG 1"}));
    const std::vector<Lane> lanes = lanesOf(run, Level::Operations, 400, 0, 2);
    EXPECT_EQ(lanes[3].agents, std::vector<std::int32_t>{4});
    EXPECT_EQ(lanes[4].agents, std::vector<std::int32_t>{5});
    EXPECT_EQ(lanes[2].agents, std::vector<std::int32_t>{4}) << "warpgroup 1 uses no tensor core";
    EXPECT_EQ(namesOf(lanesOf(viewOfSms(traceOf(1, 1)), Level::Operations, 400)),
              (std::vector<std::string>{"SM 0", "TC", "WG 0", "WG 1"}));
}

TEST(TimelineSms, theChosenDeviceShowsItsSmAndTheOthersTheirStrips)
{
    const layout::RunView run = viewOfSms(traceOf(3, 8, true, " ", "", 2));
    const std::vector<Lane> first = lanesOf(run, Level::Operations, 400, 0, 2);
    EXPECT_EQ(namesOf(first), (std::vector<std::string>{"device 0", "3 SMs", "SM 2", "TC", "WG 0",
                                                        "WG 1", "device 1"}));
    const std::vector<Lane> second = lanesOf(run, Level::Operations, 400, 1, 2);
    EXPECT_EQ(namesOf(second), (std::vector<std::string>{"device 0", "device 1", "3 SMs", "SM 2",
                                                         "TC", "WG 0", "WG 1"}));
    EXPECT_EQ(second.back().agents, std::vector<std::int32_t>{11});
    for (const Lane& lane : second) {
        const std::optional<Lane> found = laneOf(run, idOf(lane));
        ASSERT_TRUE(found) << lane.name;
        EXPECT_EQ(found->name, lane.name);
        EXPECT_EQ(found->agents, lane.agents);
    }
    // The share of a device is the mean of those of its SMs.
    const std::int64_t end = run.trace->end().value();
    const std::int64_t sum = busyOf(*run.trace, {0, 1, 2, 3, 4, 5}, second[0].unit, 0, end);
    EXPECT_EQ(busy(run, second[0], run.trace->end()).value(), sum / 3);
}

TEST(TimelineSms, lanesStayWithinTheHeightOnSeveralDevices)
{
    const layout::RunView run = viewOfSms(traceOf(4, 9, true, " ", "", 8));
    for (double height = 130; height <= 500; height += 10) {
        const std::vector<Lane> lanes = lanesOf(run, Level::Operations, height, 5, 3);
        EXPECT_LE(lanes.back().y + lanes.back().h, height) << height;
        EXPECT_TRUE(std::any_of(lanes.begin(), lanes.end(), [](const Lane& lane) {
            return lane.isOpen && lane.device == 5;
        })) << height;
    }
}

TEST(TimelineSms, aClickOnAnotherDevicesStripChoosesItsSm)
{
    const layout::RunView run = viewOfSms(traceOf(4, 7, true, " ", "", 2));
    layout::ViewState state;
    state.visible = {Picoseconds(0), run.trace->end()};
    state.device = 1;
    state.sm = 1;
    EXPECT_EQ(layout::chosenSm(run, state), 5);
    const layout::Scene scene = layout::layoutTimeline(run, state, {1000, 400});
    std::set<std::int32_t> reached;
    for (const layout::Hit& hit : scene.hits) {
        if (const auto* sm = std::get_if<layout::target::Sm>(&hit.target)) {
            reached.insert(sm->sm);
        }
    }
    EXPECT_EQ(reached, (std::set<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(TimelineSms, lanesNameThePlaceAndTheWarp)
{
    EXPECT_EQ(namesOf(lanesOf(viewOfSms(traceOf(1, 1, true, " place 3 ")), Level::Operations, 400)),
              (std::vector<std::string>{"SM 0", "TC", "WG 3.0", "WG 3.1"}));
    EXPECT_EQ(
        namesOf(lanesOf(viewOfSms(traceOf(1, 1, true, " ", " warp 2")), Level::Operations, 400)),
        (std::vector<std::string>{"SM 0", "TC", "WG 0 w2", "WG 1 w2"}));
}

TEST(TimelineSms, runsThatAreNotForAGpuHaveNone)
{
    const layout::RunView run = viewOfSms(traceOf(3, 1, false));
    EXPECT_TRUE(run.index->agents().sms.empty());
    for (const Lane& lane : lanesOf(run, Level::Operations, 400)) {
        EXPECT_EQ(lane.sm, -1) << lane.name;
    }
}

TEST(TimelineSms, aLaneIsFoundByItsIdWhicheverSmIsChosen)
{
    const layout::RunView run = viewOfSms(traceOf(3, 2));
    for (std::int32_t sm = 0; sm < 3; ++sm) {
        for (const Lane& lane : lanesOf(run, Level::Operations, 400, 0, sm)) {
            const std::optional<Lane> found = laneOf(run, idOf(lane));
            ASSERT_TRUE(found) << lane.name;
            EXPECT_EQ(found->name, lane.name);
            EXPECT_EQ(found->agents, lane.agents);
        }
    }
    EXPECT_FALSE(laneOf(run, layout::lane::Sm{3}));
    EXPECT_FALSE(laneOf(run, layout::lane::Agent{6}));
    EXPECT_FALSE(laneOf(run, layout::lane::Agent{-1}));
}

TEST(TimelineSms, theBusyTimeOfALaneIsThatOfItsSegments)
{
    std::mt19937_64 random(5);
    const layout::RunView run = viewOfSms(traceOf(4, 3));
    const std::int64_t end = run.trace->end().value();
    for (int round = 0; round < 50; ++round) {
        const auto sm = static_cast<std::int32_t>(random() % 4);
        std::vector<Picoseconds> times;
        for (int i = 0; i < 3; ++i) {
            times.emplace_back(
                static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end)));
        }
        std::sort(times.begin(), times.end());
        for (const Lane& lane : lanesOf(run, Level::Operations, 400, 0, sm)) {
            if (lane.kind != LaneKind::SmUnit && lane.kind != LaneKind::Agent) {
                continue;
            }
            const std::int32_t unit = lane.kind == LaneKind::SmUnit ? kTc : kFp32;
            const std::vector<Picoseconds> by = busyBy(run, lane, times);
            for (std::size_t i = 0; i < times.size(); ++i) {
                EXPECT_EQ(by[i].value(), busyOf(*run.trace, lane.agents, unit, 0, times[i].value()))
                    << lane.name;
            }
        }
    }
}

TEST(TimelineSms, theStripHasTheShareOfEachPixel)
{
    const layout::RunView run = viewOfSms(traceOf(5, 4));
    const std::int64_t end = run.trace->end().value();
    for (const auto& [from, to] : {std::pair(std::int64_t{0}, end), std::pair(end / 3, end / 2)}) {
        const layout::TimeAxis axis{112, 300, {Picoseconds(from), Picoseconds(to)}};
        const auto shares = smShares(run, 0, trace::UnitRow{kTc}, axis);
        ASSERT_EQ(shares.size(), 5U);
        for (std::int32_t sm = 0; sm < 5; ++sm) {
            double px = 0;
            for (const float share : shares[static_cast<std::size_t>(sm)]) {
                px += share;
            }
            const std::vector<std::int32_t> agents = {2 * sm, 2 * sm + 1};
            const auto busyPx = static_cast<double>(busyOf(*run.trace, agents, kTc, from, to))
                                / static_cast<double>(to - from) * axis.width;
            EXPECT_NEAR(px, busyPx, 0.1) << sm;
        }
    }
}

TEST(TimelineSms, lanesStayWithinTheHeight)
{
    const layout::RunView run = viewOfSms(traceOf(40, 6));
    for (double height = 130; height <= 500; height += 10) {
        const std::vector<Lane> lanes = lanesOf(run, Level::Operations, height, 0, 39);
        EXPECT_LE(lanes.back().y + lanes.back().h, height) << height;
        EXPECT_EQ(lanes.front().name, "40 SMs");
        EXPECT_EQ(std::count_if(lanes.begin(), lanes.end(),
                                [](const Lane& lane) { return lane.kind == LaneKind::SmUnit; }),
                  1);
    }
}

// Three copies follow each other on the only link: into SM 0, out of SM 1, into SM 1.
TEST(TimelineSms, copiesAreThoseOfTheChosenSm)
{
    trace::TraceBuilder builder;
    trace::Info& info = builder.info;
    info.memories = {{"HBM", Bytes(1 << 20), std::nullopt}, {"SMEM", Bytes(1 << 16), std::nullopt}};
    info.links = {{"HBM", 0, 1, BytesPerSecond(1e9), BytesPerSecond(1e9), "HBM"}};
    trace::Operand result = test::manualOperand("y");
    result.direction = trace::Direction::Out;
    info.operands = {test::manualOperand("x"), result};
    info.blockGrids.resize(1);
    info.agents = {"SM 0 Warpgroup 0", "SM 1 Warpgroup 0"};
    info.semaphores = {{"a", "barrier", 0}, {"b", "barrier", 1}}; // so that both take part
    trace::Copies& copies = builder.copies;
    copies.operand = {0, 1, 0};
    copies.slot = copies.link = {0, 0, 0};
    copies.block = {0, 0, 0};
    copies.step = {trace::kNone, trace::kNone, trace::kNone};
    copies.out = {0, 1, 0};
    copies.bytes = {4096, 4096, 4096};
    copies.issue = {0, 0, 0};
    copies.start = {0, 10 * kNs, 30 * kNs};
    copies.end = {10 * kNs, 30 * kNs, 60 * kNs};
    info.copiedShapes = {Shape({8, 128})};
    trace::CopyEnds& ends = builder.copyEnds;
    ends.copy = {0, 0, 1, 1, 2, 2};
    ends.agent = {0, 0, 1, 1, 1, 1};
    ends.buffer = ends.semaphore = std::vector<std::int32_t>(6, trace::kNone);
    ends.first = {0, 0, 0, 0, 0, 0};
    ends.shape = {0, 0, 0, 0, 0, 0};
    builder.end = Picoseconds(60 * kNs);
    const auto trace = std::move(builder).finish();
    ASSERT_TRUE(trace) << trace.error().message;
    const layout::RunView run = viewOfSms(*trace);
    for (const auto& [sm, busyTime] : {std::pair(0, 10 * kNs), std::pair(1, 50 * kNs)}) {
        const std::optional<Lane> lane = laneOf(run, layout::lane::SmCopies{sm});
        ASSERT_TRUE(lane);
        EXPECT_EQ(busy(run, *lane, run.trace->end()).value(), busyTime) << sm;
        const layout::TimeAxis axis{112, 300, {Picoseconds(0), run.trace->end()}};
        std::vector<layout::Target> found;
        for (const Bar& bar : copyBars(run, *lane, lane->links, axis, Level::Operations)) {
            found.push_back(bar.target);
        }
        const std::vector<layout::Target> wanted =
            sm == 0 ? std::vector<layout::Target>{layout::target::Copy{0}}
                    : std::vector<layout::Target>{layout::target::Copy{1}, layout::target::Copy{2}};
        EXPECT_EQ(found, wanted) << sm;
    }
}

TEST(TimelineSms, aClickOnTheStripChoosesAnSm)
{
    const layout::RunView run = viewOfSms(traceOf(8, 7));
    layout::ViewState state;
    state.visible = {Picoseconds(0), run.trace->end()};
    const layout::Scene scene = layout::layoutTimeline(run, state, {1000, 300});
    std::vector<std::int32_t> reached;
    for (const layout::Hit& hit : scene.hits) {
        if (const auto* sm = std::get_if<layout::target::Sm>(&hit.target)) {
            reached.push_back(sm->sm);
        }
    }
    EXPECT_EQ(reached, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}
