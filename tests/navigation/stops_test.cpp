// Where a playhead stops, compared with a search through every row of a run.
#include "core/trace/agents.h"
#include "core/trace/lookup.h"
#include "core/trace/loop_rounds.h"
#include "core/trace/pipelines.h"
#include "tests/support/random_trace.h"
#include "tests/support/synthetic_trace.h"
#include "views/navigation/stops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace pallascope;
using navigation::StepUnit;
using navigation::Stops;

namespace {

std::set<std::int64_t> setOf(const std::vector<std::int64_t>& times)
{
    return {times.begin(), times.end()};
}

// The agent by whose steps or loops a run is gone through.
std::int32_t leader(const trace::Trace& trace)
{
    if (trace.steps().size() > 0) {
        const trace::LeadingSteps leading(trace);
        const auto pipeline = trace.steps().pipeline[leading.row(0).index()];
        return trace.info().pipelines[static_cast<std::size_t>(pipeline)].agent;
    }
    const trace::LoopRounds loops(trace);
    return loops.outermost().empty() ? 0 : loops.agent(loops.outermost().front());
}

// By what a run goes on where none of its loops runs: on GPUs, what the SM of the leader does.
std::set<std::int64_t> timesOutside(const trace::Trace& trace)
{
    std::set<std::int64_t> times = setOf(trace.steps().begin);
    if (trace.steps().size() >= 2) {
        return times;
    }
    const std::vector<std::int32_t> smOf = trace::agentsOf(trace).smOf;
    const auto isHere = [&](std::int32_t agent) {
        return smOf.empty()
               || smOf[static_cast<std::size_t>(agent)]
                      == smOf[static_cast<std::size_t>(leader(trace))];
    };
    for (std::size_t row = 0; row < trace.steps().size(); ++row) {
        const auto pipeline = static_cast<std::size_t>(trace.steps().pipeline[row]);
        if (!isHere(trace.info().pipelines[pipeline].agent)) {
            times.erase(trace.steps().begin[row]);
        }
    }
    std::set<std::int64_t> copied = setOf(trace.copies().start), computed;
    if (!smOf.empty()) {
        copied.clear();
        for (std::size_t end = 0; end < trace.copyEnds().size(); ++end) {
            if (isHere(trace.copyEnds().agent[end])) {
                const auto copy = trace.copyEnds().copy[end / 2];
                copied.insert(trace.copies().start[static_cast<std::size_t>(copy)]);
            }
        }
    }
    for (std::size_t row = 0; row < trace.segments().size(); ++row) {
        if (isHere(trace.segments().agent[row])) {
            computed.insert(trace.segments().begin[row]);
        }
    }
    times.merge(copied.empty() ? computed : copied);
    return times;
}

// Of one agent: the begins of the rounds of a loop, the ends of the loop, and what lies outside.
std::set<std::int64_t> timesOfRounds(const trace::Trace& trace,
                                     const std::vector<std::int32_t>& loops)
{
    const trace::Rounds& rounds = trace.rounds();
    std::set<std::int64_t> times, outside = timesOutside(trace);
    for (const std::int32_t loop : loops) {
        std::int64_t begin = 0, end = -1; // of one entry
        const auto leave = [&] {
            std::erase_if(outside, [&](std::int64_t t) { return t >= begin && t < end; });
            times.insert(end);
        };
        for (std::size_t row = 0; row < rounds.size(); ++row) {
            if (rounds.loop[row] != loop) {
                continue;
            }
            if (rounds.round[row] == 0 && end >= 0) {
                leave();
            }
            begin = rounds.round[row] == 0 ? rounds.begin[row] : begin;
            end = rounds.end[row];
            times.insert(rounds.begin[row]);
        }
        leave();
    }
    times.merge(outside);
    return times;
}

std::vector<std::int32_t> outermost(const trace::Trace& trace)
{
    return trace::LoopRounds(trace).outermost();
}

std::set<std::int64_t> timesOf(const trace::Trace& trace, StepUnit unit)
{
    switch (unit) {
    case StepUnit::Step:
        return trace.steps().size() < 2 && !outermost(trace).empty()
                   ? timesOfRounds(trace, outermost(trace))
                   : timesOutside(trace);
    case StepUnit::Round:
        return outermost(trace).empty() ? timesOutside(trace)
                                        : timesOfRounds(trace, outermost(trace));
    case StepUnit::Copy:
        return setOf(trace.copies().start);
    case StepUnit::Wait: {
        std::set<std::int64_t> times;
        for (std::size_t row = 0; row < trace.waits().size(); ++row) {
            if (trace.waits().end[row] > trace.waits().begin[row]) {
                times.insert(trace.waits().begin[row]);
            }
        }
        return times;
    }
    case StepUnit::Event: {
        std::set<std::int64_t> times{0};
        const auto add = [&](const auto&... columns) { (times.merge(setOf(columns)), ...); };
        add(trace.steps().begin, trace.steps().bodyBegin, trace.steps().bodyEnd, trace.steps().end,
            trace.copies().issue, trace.copies().start, trace.copies().end, trace.waits().begin,
            trace.waits().end, trace.rounds().begin, trace.rounds().end, trace.signals().time);
        for (std::size_t row = 0; row < trace.segments().size(); ++row) {
            const auto id = static_cast<std::size_t>(trace.segments().templateId[row]);
            const std::int64_t begin = trace.segments().begin[row];
            times.insert({begin, begin + trace.info().templates[id].duration.value()});
        }
        return times;
    }
    case StepUnit::Operation:
    case StepUnit::Line:
        break;
    }
    return {};
}

} // namespace

TEST(Stops, areTheNextAndThePreviousOfAllRows)
{
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        const auto trace = test::randomTrace(seed);
        const Stops stops(trace);
        const std::int64_t end = trace->end().value();
        for (const StepUnit unit :
             {StepUnit::Step, StepUnit::Round, StepUnit::Copy, StepUnit::Event, StepUnit::Wait}) {
            const std::set<std::int64_t> times = timesOf(*trace, unit);
            for (std::int64_t t = 0; t <= end; t += std::max<std::int64_t>(1, end / 37)) {
                const auto after = times.upper_bound(t);
                const auto next = stops.next(unit, Picoseconds(t));
                if (after != times.end()) {
                    EXPECT_EQ(next, Picoseconds(*after));
                } else {
                    EXPECT_EQ(next.has_value(), unit != StepUnit::Wait);
                    EXPECT_EQ(next.value_or(trace->end()), trace->end());
                }
                const auto from = times.lower_bound(t);
                const auto previous = stops.previous(unit, Picoseconds(t));
                if (from != times.begin()) {
                    EXPECT_EQ(previous, Picoseconds(*std::prev(from)));
                } else {
                    EXPECT_EQ(previous.has_value(), unit != StepUnit::Wait);
                    EXPECT_EQ(previous.value_or(Picoseconds(0)), Picoseconds(0));
                }
            }
        }
    }
}

TEST(Stops, ofOperationsLeadThereAndBackThroughTheSameTimes)
{
    const auto trace = test::mainJob(512, 1024);
    const Stops stops(trace);
    std::vector<Picoseconds> way{Picoseconds(0)};
    while (way.back() < trace->end()) {
        const auto next = stops.next(StepUnit::Operation, way.back());
        ASSERT_TRUE(next);
        ASSERT_GT(*next, way.back());
        way.push_back(*next);
    }
    EXPECT_GT(way.size(), trace->segments().size());
    for (std::size_t i = way.size() - 1; i-- > 0;) {
        EXPECT_EQ(stops.previous(StepUnit::Operation, way[i + 1]), way[i]);
    }
}

// An inner loop is gone through by its own rounds alone, each time that it is entered.
TEST(Stops, goToTheRoundsOfTheMarkedLoop)
{
    int marked = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        const auto trace = test::randomTrace(seed);
        const trace::LoopRounds rounds(*trace);
        Stops stops(trace);
        for (std::int32_t loop = 0; static_cast<std::size_t>(loop) < trace->info().loops.size();
             ++loop) {
            if (rounds.size(loop) == 0) {
                continue;
            }
            ++marked;
            stops.mark(loop);
            std::set<std::int64_t> way;
            for (auto t = stops.next(StepUnit::Round, Picoseconds(-1)); *t < trace->end();
                 t = stops.next(StepUnit::Round, *t)) {
                way.insert(t->value());
            }
            std::set<std::int64_t> wanted = timesOfRounds(*trace, {loop});
            wanted.erase(trace->end().value());
            EXPECT_EQ(way, wanted);
        }
    }
    EXPECT_GT(marked, 20);
}

TEST(Stops, ofLinesLeadThereAndBackThroughTheSameTimes)
{
    const auto trace = test::mainJob(512, 1024);
    const Stops stops(trace);
    const auto lineAt = [&](Picoseconds t) {
        const auto operation = trace::operationAt(*trace, trace::AgentRow{0}, t);
        return operation ? trace->info().operations[operation->index()].source
                         : trace::SourceLine{};
    };
    std::vector<Picoseconds> way;
    for (auto t = stops.next(StepUnit::Line, Picoseconds(0)); *t < trace->end();
         t = stops.next(StepUnit::Line, *t)) {
        ASSERT_TRUE(way.empty() || *t > way.back());
        ASSERT_TRUE(way.empty() || lineAt(*t) != lineAt(way.back()));
        ASSERT_GT(lineAt(*t).line, 0);
        way.push_back(*t);
    }
    ASSERT_GT(way.size(), 4U);
    for (std::size_t i = way.size() - 1; i-- > 0;) {
        EXPECT_EQ(stops.previous(StepUnit::Line, way[i + 1]), way[i]);
    }
}

// A run without grid steps goes by round, without loops by copy; never by what it does not have.
TEST(Stops, offerTheUnitsThatARunHas)
{
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        const auto trace = test::randomTrace(seed);
        const Stops stops(trace);
        const std::vector<StepUnit> units = stops.units();
        const auto has = [&](StepUnit unit) {
            return std::find(units.begin(), units.end(), unit) != units.end();
        };
        EXPECT_TRUE(has(stops.ownUnit()));
        EXPECT_EQ(has(StepUnit::Step), trace->steps().size() > 1);
        EXPECT_EQ(has(StepUnit::Round), !outermost(*trace).empty());
        EXPECT_EQ(has(StepUnit::Copy), trace->copies().size() > 0);
        if (trace->steps().size() < 2 && has(StepUnit::Round)) {
            EXPECT_EQ(stops.ownUnit(), StepUnit::Round);
        }
    }
}
