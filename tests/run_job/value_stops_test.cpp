// Where breakpoints stop that need values, compared with a walk through all moments of a replay.
#include "app/run_job/run_job.h"
#include "core/base/element.h"
#include "core/study/value_stops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace pallascope;

namespace {

constexpr const char* kAttention = PALLASCOPE_DOCS "/examples/attention.kernel.json";

std::unique_ptr<machine::Replay> begun(const std::string& kernel, bool fullValues = true)
{
    auto replay = app::startReplay({.kernel = kernel, .fullValues = fullValues, .check = false});
    EXPECT_TRUE(replay) << (replay ? "" : replay.error().message);
    return replay ? std::move(*replay) : nullptr;
}

std::vector<std::int64_t> stopsOf(machine::Replay& replay, const std::string& text)
{
    const auto stops = study::valueStops(replay, true, *trace::parseBreakpoint(text));
    EXPECT_TRUE(stops) << (stops ? "" : stops.error().message);
    return stops && *stops ? study::timesOf(**stops) : std::vector<std::int64_t>{-1};
}

// Whether the condition holds at `time`, which is not before now, for the ref on some agent.
bool holds(machine::Replay& replay, const trace::breaks::When& wanted, Picoseconds time = {})
{
    const auto places = replay.places();
    for (std::size_t agent = 0; agent < places.size(); ++agent) {
        for (const ir::ValueId id : places[agent].refs) {
            if (replay.program().value(id).name != wanted.ref) {
                continue;
            }
            const auto contents = replay.contents(agent, id, time);
            std::int64_t element = 0;
            for (std::size_t axis = 0; axis < wanted.index.size(); ++axis) {
                element = element * contents.elements.shape[axis] + wanted.index[axis];
            }
            const double value = contents.elements.at(element);
            const bool isEqual =
                std::isnan(wanted.value) ? std::isnan(value) : value == wanted.value;
            if (contents.defined[static_cast<std::size_t>(element)] != 0
                && (wanted.comparator == Comparator::Equal
                        ? isEqual
                        : compared(value, wanted.comparator, wanted.value))) {
                return true;
            }
        }
    }
    return false;
}

} // namespace

// `scores` is scratch: one memory, which operations write.
TEST(ValueStops, ofAConditionAreWhereItComesToHold)
{
    const auto replay = begun(kAttention);
    std::size_t found = 0;
    for (const char* text : {"when:scores[0,3]<-5", "when:scores[0,3]>-5", "when:scores[7,100]<=0",
                             "when:scores[2,2]!=0", "when:scores[0,3]=0"}) {
        const auto wanted = std::get<trace::breaks::When>(*trace::parseBreakpoint(text));
        std::vector<std::int64_t> expected;
        bool before = false;
        ASSERT_TRUE(*replay->seek(0));
        while (!replay->isAtEnd()) {
            const bool now = holds(*replay, wanted);
            if (now && !before) {
                expected.push_back(replay->time().value());
            }
            before = now;
            ASSERT_TRUE(*replay->step(machine::Replay::Unit::Operation, true));
        }
        EXPECT_EQ(stopsOf(*replay, text), expected) << text;
        found += expected.size();
    }
    EXPECT_GT(found, 5U);
}

// `weights` is an array that copies fill, which land between two operations.
TEST(ValueStops, areMomentsAtWhichTheReplayShowsThem)
{
    const auto replay = begun(kAttention);
    for (const char* text :
         {"when:weights[0,3]=nan", "when:weights[40,3]>0", "when:scores[0,3]<-5"}) {
        const auto wanted = std::get<trace::breaks::When>(*trace::parseBreakpoint(text));
        const std::vector<std::int64_t> stops = stopsOf(*replay, text);
        EXPECT_FALSE(stops.empty()) << text;
        for (const std::int64_t stop : stops) {
            ASSERT_TRUE(*replay->seekTime(Picoseconds(stop)));
            EXPECT_TRUE(holds(*replay, wanted, Picoseconds(stop))) << text << " at " << stop;
            ASSERT_TRUE(*replay->seekTime(Picoseconds(stop - 1)));
            EXPECT_FALSE(holds(*replay, wanted, Picoseconds(stop - 1)))
                << text << " before " << stop;
        }
    }
}

// What an operation does shows behind it at once, whatever else happens at that time.
TEST(ValueStops, tellTheMomentBehindTheOperation)
{
    const auto replay = begun(kAttention);
    for (const char* text : {"when:scores[0,3]<-5", "when:scores[7,100]<=0"}) {
        const auto wanted = std::get<trace::breaks::When>(*trace::parseBreakpoint(text));
        const auto stops = study::valueStops(*replay, true, wanted);
        ASSERT_TRUE(stops && *stops && !(**stops).empty()) << text;
        for (const study::ValueStop& stop : **stops) {
            ASSERT_TRUE(stop.event.has_value()) << text;
            ASSERT_TRUE(*replay->seek(*stop.event));
            EXPECT_TRUE(holds(*replay, wanted)) << text << " at event " << *stop.event;
            EXPECT_EQ(replay->time(), stop.time);
            ASSERT_TRUE(*replay->seek(*stop.event - 1));
            EXPECT_FALSE(holds(*replay, wanted)) << text << " before event " << *stop.event;
        }
    }
    const auto landed =
        study::valueStops(*replay, true, *trace::parseBreakpoint("when:weights[40,3]>0"));
    ASSERT_TRUE(landed && *landed && !(**landed).empty());
    EXPECT_FALSE((**landed).front().event.has_value()); // a copy lands between two moments
}

TEST(ValueStops, ofWhatIsGivenAreAtTheStart)
{
    const auto replay = begun(kAttention);
    EXPECT_EQ(stopsOf(*replay, "when:q[0,0]>-100"), stopsOf(*replay, "when:q[0,0]<100"));
    EXPECT_EQ(stopsOf(*replay, "when:q[0,0]>-100").front(), 0);
}

TEST(ValueStops, ofTheFirstNanIsWhereTheRunFindsItsBirth)
{
    const auto replay = begun(kAttention);
    const std::vector<std::int64_t> stops = stopsOf(*replay, "first:nan");
    ASSERT_EQ(stops.size(), 1U);
    const auto run = app::runKernel({.kernel = kAttention, .check = false});
    const trace::Trace& trace = *run->view->trace;
    ASSERT_EQ(trace.info().findings.front().kind, "nan_born");
    const auto step = static_cast<std::size_t>(trace.info().findings.front().step);
    EXPECT_GE(stops.front(), trace.steps().bodyBegin[step]);
    EXPECT_LE(stops.front(), trace.steps().bodyEnd[step]);
    EXPECT_EQ(stopsOf(*begun(PALLASCOPE_DOCS "/examples/add.kernel.json"), "first:nan"),
              std::vector<std::int64_t>{});
}

TEST(ValueStops, areNotLookedForInWhatIsNotKnown)
{
    const auto replay = begun(kAttention, false);
    for (const auto& [text, what] :
         {std::pair("first:nan", "The first NaN is not known"),
          std::pair("when:scores[0,3]<-5", "What scores holds is not known")}) {
        const auto stops = study::valueStops(*replay, false, *trace::parseBreakpoint(text));
        ASSERT_FALSE(stops);
        EXPECT_EQ(stops.error().message.rfind(what, 0), 0U) << stops.error().message;
    }
}

TEST(ValueStops, areRefusedForElementsThatDoNotExist)
{
    const auto replay = begun(kAttention);
    const auto refusal = [&](const char* text) {
        return study::valueStops(*replay, true, *trace::parseBreakpoint(text)).error().message;
    };
    EXPECT_NE(refusal("when:nothing[0]>1").find("There is no ref \"nothing\""), std::string::npos);
    EXPECT_NE(refusal("when:scores[99,0]>1").find("There is no element scores[99,0]"),
              std::string::npos);
}

TEST(ValueStops, areCancelled)
{
    const auto replay = begun(kAttention);
    const auto stops = study::valueStops(*replay, true, *trace::parseBreakpoint("first:nan"),
                                         [](double) { return false; });
    ASSERT_TRUE(stops);
    EXPECT_FALSE(*stops);
}
