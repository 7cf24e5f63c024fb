// Where breakpoints stop a run, compared with a walk through all of its moments.
#include "app/run_job/run_job.h"
#include "core/base/shape.h"
#include "core/trace/columns.h"
#include "core/trace/lookup.h"
#include "core/trace/mark_time.h"
#include "views/navigation/break_stops.h"
#include "views/navigation/break_targets.h"
#include "views/navigation/times_of_events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

using namespace pallascope;
using namespace pallascope::navigation;

namespace {

using Times = std::set<std::int64_t>;

struct Kernel
{
    const char* name;
    std::map<std::string, std::string> parameters;
};

std::vector<Kernel> someKernels()
{
    return {
        {"matmul",
         {{"m", "256"}, {"n", "256"}, {"k", "256"}, {"bm", "128"}, {"bn", "128"}, {"bk", "128"}}},
        {"add_by_hand", {{"rows", "64"}, {"block", "8"}}},
        {PALLASCOPE_DOCS "/examples/attention.kernel.json", {}},
        {PALLASCOPE_DOCS "/examples/add.kernel.json", {}}};
}

std::shared_ptr<const trace::Trace> traceOf(const Kernel& kernel)
{
    const Result<app::FinishedRun> run =
        app::runKernel({.kernel = kernel.name, .parameters = kernel.parameters, .check = false});
    EXPECT_TRUE(run) << (run ? "" : run.error().message);
    return run ? run->view->trace : nullptr;
}

BreakTimes timesOf(const trace::Trace& trace, const std::string& text)
{
    const Result<trace::Breakpoint> breakpoint = trace::parseBreakpoint(text);
    const Result<BreakTimes> times =
        breakpoint ? breakTimes(trace, *breakpoint) : Result<BreakTimes>(breakpoint.error());
    EXPECT_TRUE(times) << (times ? "" : times.error().message);
    return times ? *times : BreakTimes();
}

std::string refusal(const trace::Trace& trace, const std::string& text)
{
    const Result<BreakTimes> times = breakTimes(trace, *trace::parseBreakpoint(text));
    return times ? "" : times.error().message;
}

// The moments at which something on an agent may be another than the moment before.
Times momentsOf(const trace::Trace& trace)
{
    const BreakTimes events = timesOfEvents(trace);
    Times moments(events.begin(), events.end());
    for (std::size_t row = 0; row < trace.segments().size(); ++row) {
        const auto& of = trace.info().templates[trace::at(trace.segments().templateId[row])];
        for (const Cycles retire : of.retire) {
            moments.insert(trace.segments().begin[row] + trace::markTime(of, retire));
        }
    }
    return moments;
}

// Which line an agent computes at a moment, and in which segment.
using Place = std::pair<trace::OptionalRow<trace::SegmentRow>, trace::SourceLine>;

Place placeAt(const trace::Trace& trace, trace::AgentRow agent, std::int64_t t)
{
    const auto operation = trace::operationAt(trace, agent, Picoseconds(t));
    return {trace::segmentAt(trace, agent, Picoseconds(t)),
            operation ? trace.info().operations[operation->index()].source : trace::SourceLine{}};
}

// When an agent comes to a line with an operation that computes.
Times computedAt(const trace::Trace& trace, const trace::SourceLine& line)
{
    Times times;
    for (std::size_t agent = 0; agent < trace.info().agents.size(); ++agent) {
        Place before;
        for (const std::int64_t t : momentsOf(trace)) {
            const Place now = placeAt(trace, trace::AgentRow::at(agent), t);
            if (now.second == line && now != before) {
                times.insert(t);
            }
            before = now;
        }
    }
    return times;
}

// When a line waits, copies, or begins a round or a pipeline.
Times othersAt(const trace::Trace& trace, const trace::SourceLine& line)
{
    Times times;
    for (std::size_t row = 0; row < trace.waits().size(); ++row) {
        if (trace::operationOfWait(trace, trace::WaitRow::at(row))
            && trace::lineOfWait(trace, trace::WaitRow::at(row)) == line) {
            times.insert(trace.waits().begin[row]);
        }
    }
    for (std::size_t row = 0; row < trace.copies().size(); ++row) {
        const auto& operand = trace.info().operands[trace::at(trace.copies().operand[row])];
        if (operand.pipeline < 0 && !operand.isAround && operand.source == line) {
            times.insert(trace.copies().issue[row]);
        }
    }
    for (std::size_t row = 0; row < trace.rounds().size(); ++row) {
        if (trace.info().loops[trace::at(trace.rounds().loop[row])].source == line) {
            times.insert(trace.rounds().begin[row]);
        }
    }
    for (std::size_t row = 0; row < trace.steps().size(); ++row) {
        const auto& pipeline = trace.info().pipelines[trace::at(trace.steps().pipeline[row])];
        if (pipeline.source == line && trace.steps().ordinal[row] == 0) {
            times.insert(trace.steps().begin[row]);
        }
    }
    return times;
}

// Whether an operation that takes no time lies there: no look-up at a time finds it, but the line
// runs.
bool isBesideAnInstant(const trace::Trace& trace, std::int64_t t)
{
    for (std::size_t row = 0; row < trace.segments().size(); ++row) {
        const auto& of = trace.info().templates[trace::at(trace.segments().templateId[row])];
        const std::int64_t begin = trace.segments().begin[row];
        for (std::size_t i = 0; i < of.retire.size(); ++i) {
            const std::int64_t before = i == 0 ? 0 : trace::markTime(of, of.retire[i - 1]);
            if (begin + before == t && trace::markTime(of, of.retire[i]) == before) {
                return true;
            }
        }
    }
    return false;
}

BreakTimes listed(const Times& times)
{
    return {times.begin(), times.end()};
}

} // namespace

TEST(BreakStops, ofALineAreWhereAnAgentComesToIt)
{
    std::size_t stops = 0;
    for (const Kernel& kernel : someKernels()) {
        const auto trace = traceOf(kernel);
        ASSERT_TRUE(trace);
        for (const trace::SourceLine& line : linesThatStop(trace->info())) {
            Times expected = computedAt(*trace, line);
            expected.merge(othersAt(*trace, line));
            const trace::Breakpoint breakpoint = breakpointAt(trace->info(), line);
            EXPECT_EQ(lineOf(trace->info(), breakpoint), line);
            const Result<BreakTimes> times = breakTimes(*trace, breakpoint);
            ASSERT_TRUE(times) << times.error().message;
            for (const std::int64_t time : expected) {
                EXPECT_TRUE(std::binary_search(times->begin(), times->end(), time))
                    << kernel.name << " " << trace::textOf(breakpoint) << " at " << time;
            }
            for (const std::int64_t time : *times) {
                EXPECT_TRUE(expected.count(time) > 0 || isBesideAnInstant(*trace, time))
                    << kernel.name << " " << trace::textOf(breakpoint) << " at " << time;
            }
            stops += expected.size();
        }
    }
    EXPECT_GT(stops, 200U);
}

TEST(BreakStops, ofAGridStepAreWhereItsBodyBegins)
{
    for (const Kernel& kernel : someKernels()) {
        const auto trace = traceOf(kernel);
        std::map<std::string, Times> expected;
        const trace::Steps& steps = trace->steps();
        for (std::size_t row = 0; row < steps.size(); ++row) {
            const auto& pipeline = trace->info().pipelines[trace::at(steps.pipeline[row])];
            const auto index = trace::gridIndices(pipeline, steps.ordinal[row]);
            expected["grid:" + join(index, ",")].insert(steps.bodyBegin[row]);
        }
        for (const auto& [text, times] : expected) {
            if (text != "grid:") { // a kernel without a grid
                EXPECT_EQ(timesOf(*trace, text), listed(times)) << kernel.name << " " << text;
            }
        }
    }
}

TEST(BreakStops, ofABlockAreItsCopiesAndUses)
{
    std::size_t blocks = 0;
    for (const Kernel& kernel : someKernels()) {
        const auto trace = traceOf(kernel);
        std::map<std::string, Times> expected;
        const auto name = [&](std::int32_t operand, std::int64_t block) {
            const trace::Operand& of = trace->info().operands[trace::at(operand)];
            return fmt::format("block:{}({})", trace::arrayName(of),
                               join(trace::blockIndex(of, block), ","));
        };
        for (std::size_t row = 0; row < trace->copies().size(); ++row) {
            expected[name(trace->copies().operand[row], trace->copies().block[row])].insert(
                trace->copies().start[row]);
        }
        for (std::size_t row = 0; row < trace->visits().size(); ++row) {
            const std::size_t first = trace::at(trace->visits().firstStep[row]);
            expected[name(trace->visits().operand[row], trace->visits().block[row])].insert(
                trace->steps().bodyBegin[first]);
        }
        for (const auto& [text, times] : expected) {
            EXPECT_EQ(timesOf(*trace, text), listed(times)) << kernel.name << " " << text;
        }
        blocks += expected.size();
    }
    EXPECT_GT(blocks, 20U);
}

TEST(BreakStops, ofTheFirstStallIsAWaitAfterSomethingWasComputed)
{
    for (const Kernel& kernel : someKernels()) {
        const auto trace = traceOf(kernel);
        Times expected;
        for (std::size_t row = 0; row < trace->waits().size(); ++row) {
            const std::int64_t begin = trace->waits().begin[row];
            bool hasComputed = false;
            for (std::size_t segment = 0; segment < trace->segments().size(); ++segment) {
                const auto of = trace::at(trace->segments().templateId[segment]);
                hasComputed = hasComputed
                              || (trace->segments().begin[segment] < begin
                                  && trace->segments().agent[segment] == trace->waits().agent[row]
                                  && !trace->info().templates[of].isBookkeeping());
            }
            if (hasComputed && trace->waits().end[row] > begin) {
                expected.insert(begin);
                break;
            }
        }
        EXPECT_EQ(timesOf(*trace, "first:stall"), listed(expected)) << kernel.name;
    }
}

TEST(BreakStops, ofTheFirstFindingIsItsFirstPlace)
{
    const auto trace = traceOf({PALLASCOPE_DOCS "/examples/attention.kernel.json", {}});
    ASSERT_FALSE(trace->info().findings.empty());
    std::int64_t first = trace->end().value();
    for (const trace::Finding& finding : trace->info().findings) {
        ASSERT_GE(finding.step, 0);
        ASSERT_TRUE(finding.time);
        EXPECT_GE(finding.time->value(), trace->steps().begin[trace::at(finding.step)]);
        EXPECT_LE(finding.time->value(), trace->steps().end[trace::at(finding.step)]);
        first = std::min(first, finding.time->value());
    }
    EXPECT_EQ(timesOf(*trace, "first:finding"), BreakTimes{first});
    EXPECT_EQ(timesOf(*traceOf(someKernels().front()), "first:finding"), BreakTimes{});
}

TEST(BreakStops, areGoneThroughInBothDirections)
{
    const auto trace = traceOf(someKernels().front());
    const std::vector<BreakTimes> stops{timesOf(*trace, "grid:1,0,1"),
                                        timesOf(*trace, "block:x(1,0)"),
                                        timesOf(*trace, "first:stall"),
                                        timesOf(*trace, "line:matmul.cpp:24"),
                                        {}};
    Times all;
    for (const BreakTimes& times : stops) {
        all.insert(times.begin(), times.end());
    }
    ASSERT_GT(all.size(), 10U);
    for (std::int64_t t = -1; t <= trace->end().value() + 1; t += 9973) {
        std::optional<std::int64_t> next, previous;
        for (const std::int64_t time : all) {
            next = time > t && !next ? time : next;
            previous = time < t ? time : previous;
        }
        const auto hit = nextHit(stops, Picoseconds(t)), back = previousHit(stops, Picoseconds(t));
        ASSERT_EQ(hit ? std::optional(hit->time.value()) : std::nullopt, next);
        ASSERT_EQ(back ? std::optional(back->time.value()) : std::nullopt, previous);
        for (std::size_t i = 0; hit && i < stops.size(); ++i) {
            const bool stopsThere =
                std::find(stops[i].begin(), stops[i].end(), hit->time.value()) != stops[i].end();
            const bool isNamed = std::find(hit->breakpoints.begin(), hit->breakpoints.end(), i)
                                 != hit->breakpoints.end();
            EXPECT_EQ(isNamed, stopsThere);
        }
    }
    EXPECT_EQ(nextHit({}, Picoseconds(0)), std::nullopt);
    EXPECT_EQ(previousHit({{}}, trace->end()), std::nullopt);
}

TEST(BreakStops, thatTheRunCannotHaveAreRefused)
{
    const auto trace = traceOf(someKernels().front());
    EXPECT_EQ(refusal(*trace, "grid:2,0,0"),
              "There is no grid step (2,0,0); expected one below (2,2,2) of matmul.");
    EXPECT_EQ(refusal(*trace, "block:z(0,0)"),
              "There is no array \"z\" in blocks; expected x, y or out.");
    EXPECT_EQ(refusal(*trace, "block:x(0,2)"),
              "There is no block x(0,2); x has (2,2) blocks, and they are numbered from 0.");
    EXPECT_NE(refusal(*trace, "line:other.cpp:3").find("No file \"other.cpp\" has lines that run"),
              std::string::npos);
    EXPECT_NE(refusal(*trace, "line:matmul.cpp:1").find("Nothing that takes time runs at line 1"),
              std::string::npos);
}

TEST(BreakTargets, areTheBreakpointsOfThings)
{
    namespace target = layout::target;
    const auto trace = traceOf(someKernels().front());
    const auto textAt = [&](const layout::Target& thing, std::int64_t now = 0) {
        const auto breakpoint = breakpointOf(*trace, thing, Picoseconds(now));
        return breakpoint ? trace::textOf(*breakpoint) : "";
    };
    EXPECT_EQ(textAt(target::Steps{5, 5}), "grid:1,0,1");
    EXPECT_EQ(textAt(target::Steps{5, 6}), ""); // two steps are none
    EXPECT_EQ(textAt(target::Block{0, 3}), "block:x(1,1)");
    EXPECT_EQ(textAt(target::Copy{0}), "block:x(0,0)");
    EXPECT_EQ(textAt(target::Buffer{0}, trace->steps().bodyBegin[0]), "block:x(0,0)");
    EXPECT_EQ(textAt(target::Buffer{0}), ""); // which holds nothing yet
    const auto& listing = trace->info().listing;
    for (std::size_t i = 0; i < listing.size(); ++i) {
        if (listing[i].text.find("dot_general") != std::string::npos) {
            EXPECT_EQ(textAt(target::ListingLine{static_cast<std::int64_t>(i)}),
                      "line:matmul.cpp:24");
            EXPECT_EQ(textAt(target::Operation{listing[i].operation, {}}), "line:matmul.cpp:24");
        }
    }
    EXPECT_EQ(textAt(target::SourceLine{0, 1}), "");
    EXPECT_EQ(textAt({}), "");
}

TEST(BreakTargets, areComeToNextOrElseWereLast)
{
    namespace target = layout::target;
    const auto trace = traceOf(someKernels().front());
    const BreakTimes uses = timesOf(*trace, "block:x(1,1)");
    ASSERT_GT(uses.size(), 1U);
    const layout::Target block = target::Block{0, 3};
    EXPECT_EQ(timeToRunTo(*trace, block, Picoseconds(0)), Picoseconds(uses.front()));
    EXPECT_EQ(timeToRunTo(*trace, block, Picoseconds(uses[0])), Picoseconds(uses[1]));
    EXPECT_EQ(timeToRunTo(*trace, block, trace->end()), Picoseconds(uses.back()));
    EXPECT_EQ(timeToRunTo(*trace, target::Copy{2}, trace->end()),
              Picoseconds(trace->copies().start[2]));
    EXPECT_EQ(timeToRunTo(*trace, {}, Picoseconds(0)), std::nullopt);
}
