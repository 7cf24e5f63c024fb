// The Chrome half of a saved trace, read as another program would read it.
#include "core/trace_file/trace_file.h"
#include "tests/support/random_trace.h"
#include "tests/support/synthetic_trace.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace pallascope::trace_file {

using namespace trace;

namespace {

using nlohmann::json;

std::int64_t nanoseconds(const json& microseconds)
{
    return std::llround(microseconds.get<double>() * 1000);
}

struct Slice
{
    std::int64_t begin = 0, end = 0; // ns
};

struct Lane
{
    std::string name;
    std::vector<Slice> slices;
};

std::map<int, Lane> lanesOf(const json& document)
{
    std::map<int, Lane> lanes;
    for (const json& event : document["traceEvents"]) {
        Lane& lane = lanes[event["tid"].get<int>()];
        if (event["ph"] == "X") {
            const std::int64_t begin = nanoseconds(event["ts"]);
            lane.slices.push_back({begin, begin + nanoseconds(event["dur"])});
        } else if (event["ph"] == "M" && event["name"] == "thread_name") {
            lane.name = event["args"]["name"];
        }
    }
    return lanes;
}

// Slices of a lane must nest or abut: in order of begin, each ends inside whatever is still open.
void expectNesting(const Lane& lane)
{
    std::vector<Slice> slices = lane.slices;
    std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    std::vector<std::int64_t> open;
    for (const Slice& slice : slices) {
        while (!open.empty() && open.back() <= slice.begin) {
            open.pop_back();
        }
        if (!open.empty()) {
            ASSERT_LE(slice.end, open.back()) << lane.name << " at " << slice.begin << " ns";
        }
        open.push_back(slice.end);
    }
}

json eventsOf(const json& document, const std::string& category)
{
    json events = json::array();
    for (const json& event : document["traceEvents"]) {
        if (event.value("cat", "") == category) {
            events.push_back(event);
        }
    }
    return events;
}

} // namespace

TEST(ChromeHalf, namesEveryLane)
{
    const json document = json::parse(toJson(*test::mainJob(1024)));
    std::vector<std::string> names;
    for (const auto& [tid, lane] : lanesOf(document)) {
        if (tid != 0) { // 0 is the process itself
            EXPECT_FALSE(lane.slices.empty()) << lane.name;
            names.push_back(lane.name);
        }
    }
    EXPECT_EQ(names, (std::vector<std::string>{"steps", "HBM copy in", "HBM copy out", "waits",
                                               "MXU", "VPU", "load", "store", "scalar"}));
    EXPECT_EQ(document["displayTimeUnit"], "ns");
    EXPECT_EQ(document["traceEvents"][0]["args"]["name"], "matmul on TPU v5e");
}

TEST(ChromeHalf, holdsEveryByteAndEveryOperationOfTheMainJob)
{
    const std::shared_ptr<const Trace> trace = test::mainJob(512);
    const json document = json::parse(toJson(*trace));
    std::map<std::string, std::int64_t> bytes;
    for (const json& copy : eventsOf(document, "copy")) {
        bytes[copy["args"]["operand"]] += copy["args"]["bytes"].get<std::int64_t>();
    }
    EXPECT_EQ(bytes["x"] + bytes["y"], 536'870'912);
    EXPECT_EQ(bytes["out"], 67'108'864);
    EXPECT_EQ(eventsOf(document, "step").size(), 512U);
    EXPECT_EQ(eventsOf(document, "op").size(), 512U * 6 + 64);
    EXPECT_EQ(eventsOf(document, "overhead").size(), 512U);
    const json copy = eventsOf(document, "copy")[1];
    EXPECT_EQ(copy["name"], "y(0,0)");
    EXPECT_EQ(copy["args"], json::parse(R"({"block": 0, "operand": "y", "bytes": 524288, "slot": 0,
                                            "issue_us": 0.0})"));
    EXPECT_EQ(nanoseconds(copy["ts"]), 800); // 800 196 ps, rounded down
}

TEST(ChromeHalf, slicesOfALaneNestOrAbut)
{
    for (const int block : {256, 512, 2048}) {
        for (const auto& [tid, lane] : lanesOf(json::parse(toJson(*test::mainJob(block))))) {
            expectNesting(lane);
        }
    }
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        for (const auto& [tid, lane] : lanesOf(json::parse(toJson(*test::randomTrace(seed))))) {
            expectNesting(lane);
        }
    }
}

// Begin and end are both rounded down, so that each step begins where the one before it ends.
TEST(ChromeHalf, neighbouringStepsStillAbut)
{
    const json steps = eventsOf(json::parse(toJson(*test::mainJob(512))), "step");
    for (std::size_t i = 1; i < steps.size(); ++i) {
        ASSERT_EQ(nanoseconds(steps[i - 1]["ts"]) + nanoseconds(steps[i - 1]["dur"]),
                  nanoseconds(steps[i]["ts"]));
    }
}

TEST(ChromeHalf, pastTheLimitHoldsStepsAndCopiesUnlessAskedForMore)
{
    TraceBuilder builder = test::mainJobBuilder(1024);
    SegmentTemplate& body = builder.info.templates.edit()[1];
    body.marks.assign(16'000, {6, 7, Cycles(0), Cycles(0)}); // with 64 steps, more than a million
    Result<std::shared_ptr<const Trace>> trace = std::move(builder).finish();
    ASSERT_TRUE(trace) << trace.error().message;

    const json less = json::parse(toJson(**trace));
    EXPECT_EQ(eventsOf(less, "step").size(), 64U);
    EXPECT_EQ(eventsOf(less, "copy").size(), (*trace)->copies().size());
    EXPECT_TRUE(eventsOf(less, "op").empty());
    EXPECT_TRUE(eventsOf(less, "wait").empty());
    const std::string note = less["otherData"]["note"];
    EXPECT_NE(note.find("1024016 operation events are past the limit of 1000000"),
              std::string::npos)
        << note;

    SaveOptions options;
    options.operations = true;
    const std::string more = toJson(**trace, options);
    std::size_t operations = 0;
    for (std::size_t at = more.find("\"cat\":\"op\""); at != std::string::npos;
         at = more.find("\"cat\":\"op\"", at + 1)) {
        ++operations;
    }
    EXPECT_EQ(operations, 1'024'016U);
    EXPECT_EQ(more.find("\"note\":"), std::string::npos);
}

// This includes prints of an agent that has no steps.
TEST(ChromeHalf, printsAreMomentsInTheLanesOfSteps)
{
    TraceBuilder builder = test::mainJobBuilder(1024);
    builder.info.agents.push_back("core 1");
    builder.info.sources = {{"k.py", ""}};
    builder.info.prints = {{"a = \"1\"\n2", 3, 0, Picoseconds(1'234'567), {0, 12}},
                           {"thread_name", -1, 1, Picoseconds(2'000'000), {}}};
    Result<std::shared_ptr<const Trace>> trace = std::move(builder).finish();
    ASSERT_TRUE(trace) << trace.error().message;
    const json document = json::parse(toJson(**trace));
    const json prints = eventsOf(document, "print");
    ASSERT_EQ(prints.size(), 2U);
    std::map<int, Lane> lanes = lanesOf(document);
    EXPECT_EQ(lanes[prints[0]["tid"].get<int>()].name, "steps");
    EXPECT_EQ(lanes[prints[1]["tid"].get<int>()].name, "core 1 steps");
    EXPECT_EQ(prints[0], json({{"ph", "i"},
                               {"s", "t"},
                               {"pid", 1},
                               {"tid", prints[0]["tid"]},
                               {"cat", "print"},
                               {"name", "a = \"1\"\n2"},
                               {"args", {{"step", 3}, {"source", "k.py:12"}}},
                               {"ts", 1.234}}));
    EXPECT_EQ(prints[1]["args"], json({{"step", -1}}));
}

TEST(ChromeHalf, severalAgentsHaveLanesOfTheirOwn)
{
    for (std::uint64_t seed = 0;; ++seed) {
        ASSERT_LT(seed, 100U);
        const std::shared_ptr<const Trace> trace = test::randomTrace(seed);
        if (trace->info().agents.size() < 2
            || std::count(trace->segments().agent.begin(), trace->segments().agent.end(), 1) == 0) {
            continue;
        }
        std::size_t named = 0;
        for (const auto& [tid, lane] : lanesOf(json::parse(toJson(*trace)))) {
            named += lane.name.starts_with("core ") ? 1U : 0U;
        }
        EXPECT_GE(named, 2U);
        return;
    }
}

} // namespace pallascope::trace_file
