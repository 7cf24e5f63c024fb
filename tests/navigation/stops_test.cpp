// Where a playhead stops, compared with a search through every row of a run.
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

std::set<std::int64_t> timesOf(const trace::Trace& trace, StepUnit unit)
{
    switch (unit) {
    case StepUnit::Step: {
        std::set<std::int64_t> times{trace.steps().begin.begin(), trace.steps().begin.end()};
        if (trace.steps().size() < 2) {
            const bool copies = trace.copies().size() > 0;
            const auto& more = copies ? trace.copies().start : trace.segments().begin;
            times.insert(more.begin(), more.end());
        }
        return times;
    }
    case StepUnit::Copy:
        return {trace.copies().start.begin(), trace.copies().start.end()};
    case StepUnit::Wait: {
        std::set<std::int64_t> times;
        for (std::size_t row = 0; row < trace.waits().size(); ++row) {
            if (trace.waits().end[row] > trace.waits().begin[row]) {
                times.insert(trace.waits().begin[row]);
            }
        }
        return times;
    }
    case StepUnit::Operation:
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
        for (const StepUnit unit : {StepUnit::Step, StepUnit::Copy, StepUnit::Wait}) {
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
