// Lanes that many agents share. What is drawn must be the share of agents that is busy or waits, as
// found by looking at every row.
#include "core/base/format.h"
#include "core/trace/mark_time.h"
#include "tests/support/many_agents.h"
#include "views/layout/run/unit_state.h"
#include "views/layout/timeline/timeline.h"
#include "views/layout/tooltip/tooltip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace pallascope;
using namespace pallascope::layout;
using namespace pallascope::layout::timeline;

namespace {

RunView viewOf(std::uint64_t seed, std::int32_t subcores)
{
    RunView run;
    run.trace = test::manyAgents(seed, subcores);
    run.index = std::make_shared<trace::Index>(run.trace);
    return run;
}

struct Stretch
{
    std::int64_t begin = 0, end = 0;
    std::int32_t agent = 0;
};

// When each agent of a lane is busy or waits, found row by row.
std::vector<Stretch> stretchesOf(const RunView& run, const Lane& lane)
{
    const trace::Trace& trace = *run.trace;
    std::vector<Stretch> all;
    const auto add = [&](std::int64_t begin, std::int64_t end, std::int32_t agent) {
        if (end > begin
            && std::find(lane.agents.begin(), lane.agents.end(), agent) != lane.agents.end()) {
            all.push_back({begin, end, agent});
        }
    };
    if (lane.kind == LaneKind::Wait) {
        const trace::Waits& waits = trace.waits();
        for (std::size_t row = 0; row < waits.size(); ++row) {
            add(waits.begin[row], waits.end[row], waits.agent[row]);
        }
        return all;
    }
    const trace::Segments& segments = trace.segments();
    for (std::size_t row = 0; row < segments.size(); ++row) {
        const auto id = static_cast<std::size_t>(segments.templateId[row]);
        const trace::SegmentTemplate& of = trace.info().templates[id];
        for (const trace::Mark& mark : of.marks) {
            if (mark.unit == lane.unit) {
                add(segments.begin[row] + trace::markTime(of, mark.offset),
                    segments.begin[row] + trace::markTime(of, mark.offset + mark.length),
                    segments.agent[row]);
            }
        }
    }
    return all;
}

std::vector<std::int32_t> busyAt(const std::vector<Stretch>& all, std::int64_t t)
{
    std::vector<std::int32_t> agents;
    for (const Stretch& one : all) {
        if (one.begin <= t && t < one.end) {
            agents.push_back(one.agent);
        }
    }
    std::sort(agents.begin(), agents.end());
    return agents;
}

ViewState randomState(std::mt19937_64& random, Picoseconds end)
{
    const double exponent = 4
                            + (std::log10(static_cast<double>(end.value())) - 4)
                                  * static_cast<double>(random() % 1001) / 1000;
    const auto length = std::min(end.value(), static_cast<std::int64_t>(std::pow(10.0, exponent)));
    const auto most = static_cast<std::uint64_t>(end.value() - length + 1);
    const auto begin = static_cast<std::int64_t>(random() % most);
    ViewState state;
    state.visible = {Picoseconds(begin), Picoseconds(begin + length)};
    state.now = Picoseconds(-1); // so that the playhead does not cover the lanes
    return state;
}

std::vector<Lane> sharedLanes(const RunView& run, double height)
{
    std::vector<Lane> lanes = lanesOf(run, Level::Operations, height);
    std::erase_if(lanes, [](const Lane& lane) { return lane.agents.size() < 2 || !lane.used; });
    return lanes;
}

// How high a lane is filled in one column of pixels. Its parts stand on each other without gaps.
double inkAt(const Scene& scene, const Lane& lane, double px)
{
    std::vector<bool> rows(static_cast<std::size_t>(lane.h), false);
    const auto add = [&](const Rect& rect) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double y = lane.y + static_cast<double>(i) + 0.5;
            rows[i] = rows[i] || rect.contains(px, y);
        }
    };
    for (const Item& item : scene.items) {
        const auto* fill = std::get_if<FillItem>(&item);
        const auto* hatch = std::get_if<HatchItem>(&item);
        if (fill != nullptr && fill->color == Color(lane.role) && fill->rect.right() > kHead) {
            add(fill->rect);
        } else if (hatch != nullptr && hatch->color == Color(lane.role)) {
            add(hatch->rect);
        }
    }
    return static_cast<double>(std::count(rows.begin(), rows.end(), true));
}

} // namespace

TEST(SharedLanes, haveTheAverageOfEachPixelsTime)
{
    std::mt19937_64 random(1);
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE(seed);
        const RunView run = viewOf(seed, 32);
        const ViewState state = randomState(random, run.trace->end());
        const TimeAxis axis = timelineAxis(state, {500, 183});
        for (const Lane& lane : sharedLanes(run, 183)) {
            std::vector<double> px(static_cast<std::size_t>(axis.width), 0.0);
            for (const Stretch& one : stretchesOf(run, lane)) {
                const double from = axis.toX(Picoseconds(one.begin)) - axis.left;
                const double to = axis.toX(Picoseconds(one.end)) - axis.left;
                for (std::size_t i = 0; i < px.size(); ++i) {
                    const auto at = static_cast<double>(i);
                    px[i] += std::max(0.0, std::min(to, at + 1) - std::max(from, at));
                }
            }
            const std::vector<Share> shares = sharesOf(run, lane, axis);
            ASSERT_EQ(shares.size(), px.size());
            double sum = 0;
            for (std::size_t i = 0; i < px.size(); ++i) {
                ASSERT_NEAR(shares[i].share * 32, px[i], 1e-6) << lane.name << " pixel " << i;
                sum += shares[i].share;
            }
            // This is what the head of the lane says.
            const Picoseconds busyTime =
                busy(run, lane, state.visible.end) - busy(run, lane, state.visible.begin);
            const Picoseconds length = state.visible.end - state.visible.begin;
            EXPECT_NEAR(sum / axis.width, ratio(busyTime, length),
                        2 / static_cast<double>(length.value()))
                << lane.name;
        }
    }
}

TEST(SharedLanes, areAsHighAsTheShareOfTheirAgentsThatIsBusy)
{
    std::mt19937_64 random(2);
    std::size_t looked = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE(seed);
        const RunView run = viewOf(seed, 32);
        const ViewState state = randomState(random, run.trace->end());
        const Size size = {500, seed % 2 == 0 ? 183.0 : 500.0};
        const TimeAxis axis = timelineAxis(state, size);
        const Scene scene = layoutTimeline(run, state, size);
        for (const Lane& lane : sharedLanes(run, size.height)) {
            ASSERT_TRUE(tracksOf(lane).empty());
            const std::vector<Stretch> all = stretchesOf(run, lane);
            for (double px = axis.left; px < axis.left + axis.width; px += 7) {
                const std::int64_t from = axis.toTime(px).value(), to = axis.toTime(px + 1).value();
                const bool changes = std::any_of(all.begin(), all.end(), [&](const Stretch& one) {
                    return (one.begin >= from - 1 && one.begin <= to)
                           || (one.end >= from - 1 && one.end <= to);
                });
                if (changes) {
                    continue;
                }
                const auto count = static_cast<double>(busyAt(all, from).size());
                const double high = count == 0 ? 0 : std::max(1.0, std::round(lane.h * count / 32));
                ASSERT_EQ(inkAt(scene, lane, px + 0.5), high) << lane.name << " at " << px;
                ++looked;
            }
        }
    }
    EXPECT_GT(looked, 500U);
}

TEST(SharedLanes, ofFewAgentsHaveATrackForEach)
{
    std::mt19937_64 random(3);
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE(seed);
        const RunView run = viewOf(seed, 2);
        const ViewState state = randomState(random, run.trace->end());
        const Size size = {500, 300};
        const TimeAxis axis = timelineAxis(state, size);
        const Scene scene = layoutTimeline(run, state, size);
        for (const Lane& lane : sharedLanes(run, size.height)) {
            ASSERT_EQ(lane.kind, LaneKind::Unit) << "waits of few agents have a lane each";
            const std::vector<Track> tracks = tracksOf(lane);
            ASSERT_EQ(tracks.size(), 2U);
            EXPECT_LE(tracks[0].y + tracks[0].h, tracks[1].y);
            EXPECT_LE(tracks[1].y + tracks[1].h, lane.y + lane.h);
            const std::vector<Stretch> all = stretchesOf(run, lane);
            for (const Track& track : tracks) {
                Lane own = lane;
                own.y = track.y;
                own.h = track.h;
                for (double px = axis.left; px < axis.left + axis.width; px += 3) {
                    // Bars round their edges to whole pixels, and join if no pixel lies between
                    // them.
                    const std::int64_t from = axis.toTime(px - 1).value();
                    const std::int64_t to = axis.toTime(px + 2).value();
                    const bool changes =
                        std::any_of(all.begin(), all.end(), [&](const Stretch& one) {
                            return one.agent == track.agent
                                   && ((one.begin >= from && one.begin <= to)
                                       || (one.end >= from && one.end <= to));
                        });
                    if (changes) {
                        continue;
                    }
                    const std::vector<std::int32_t> now = busyAt(all, from);
                    const bool works = std::binary_search(now.begin(), now.end(), track.agent);
                    ASSERT_EQ(inkAt(scene, own, px + 0.5), works ? track.h : 0)
                        << lane.name << " agent " << track.agent << " at " << px;
                }
            }
        }
    }
}

TEST(SharedLanes, sayWhoIsBusyOrWaitsWhereTheyArePointedAt)
{
    std::mt19937_64 random(4);
    std::size_t several = 0, single = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE(seed);
        const RunView run = viewOf(seed, 32);
        const ViewState state = randomState(random, run.trace->end());
        const TimeAxis axis = timelineAxis(state, {900, 183});
        const Scene scene = layoutTimeline(run, state, {900, 183});
        for (const Lane& lane : sharedLanes(run, 183)) {
            const std::vector<Stretch> all = stretchesOf(run, lane);
            for (double px = axis.left; px < axis.left + axis.width; px += 11) {
                const Target target = hitTest(scene, px + 0.5, lane.y + lane.h / 2, 0);
                if (const auto* wait = std::get_if<target::Wait>(&target)) {
                    const std::string agent = run.trace->info().agents[static_cast<std::size_t>(
                        run.trace->waits().agent[static_cast<std::size_t>(wait->row)])];
                    const std::vector<std::string> tip = tooltip(run, state, target);
                    EXPECT_NE(std::find(tip.begin(), tip.end(), agent), tip.end());
                    ++single;
                }
                const auto* moment = std::get_if<target::Moment>(&target);
                if (moment == nullptr) {
                    continue;
                }
                const std::vector<std::int32_t> now = busyAt(all, moment->time.value());
                std::string said;
                for (const std::string& line : tooltip(run, state, target)) {
                    said += line + "\n";
                }
                const std::string count = std::to_string(now.size()) + " of 32 ";
                EXPECT_NE(said.find(count), std::string::npos) << said << lane.name;
                if (lane.kind == LaneKind::Wait) {
                    const std::string names =
                        "for done: " + trace::agentNames(run.trace->info(), now);
                    EXPECT_NE(said.find(now.empty() ? "" : names), std::string::npos) << said;
                } else {
                    const UnitState unit =
                        unitState(*run.trace, trace::UnitRow{lane.unit}, moment->time);
                    EXPECT_EQ(unit.share.value_or(0) * 32, static_cast<double>(now.size()));
                }
                ++several;
            }
        }
    }
    EXPECT_GT(several, 300U);
    EXPECT_GT(single, 30U);
}

// In a window of 1280x800 the time line is 183 px high.
TEST(SharedLanes, holdTheWaitsOfAKindWhereNotEachAgentHasRoom)
{
    const RunView run = viewOf(1, 32);
    const auto waitsIn = [&](double height) {
        std::vector<Lane> lanes = lanesOf(run, Level::Steps, height);
        EXPECT_LE(lanes.back().y + lanes.back().h, height);
        std::erase_if(lanes, [](const Lane& lane) { return lane.kind != LaneKind::Wait; });
        return lanes;
    };
    for (const double height : {140.0, 183.0, 219.0, 400.0}) {
        SCOPED_TRACE(height);
        const std::vector<Lane> lanes = waitsIn(height);
        ASSERT_EQ(lanes.size(), 2U);
        EXPECT_EQ(lanes[0].name, "wait 0");
        EXPECT_EQ(lanes[1].name, "wait 1–32");
        const std::optional<Lane> again = laneOf(run, idOf(lanes[1]));
        ASSERT_TRUE(again);
        EXPECT_EQ(again->agents, lanes[1].agents);
        ViewState state;
        state.visible = {Picoseconds(0), run.trace->end()};
        const std::vector<std::string> tip = tooltip(run, state, target::Lane{idOf(lanes[1])});
        ASSERT_GE(tip.size(), 4U);
        EXPECT_EQ(tip[3], "on average of SparseCore 0 vector subcore 0–15 · SparseCore 1 vector "
                          "subcore 0–15");
    }
    const std::vector<Lane> apart = waitsIn(1000);
    ASSERT_EQ(apart.size(), 33U);
    EXPECT_EQ(apart[32].name, "wait 32");
    EXPECT_EQ(laneOf(run, idOf(apart[32]))->agents, (std::vector<std::int32_t>{32}));
}

// The first agent waits all the time; the unit belongs to the others.
TEST(SharedLanes, haveHeadsThatSayHowManyAgentsTheyAreOf)
{
    const RunView run = viewOf(1, 32);
    ViewState state;
    state.visible = {Picoseconds(0), run.trace->end()};
    const Scene scene = layoutTimeline(run, state, {1280, 400});
    EXPECT_TRUE(std::any_of(scene.items.begin(), scene.items.end(), [](const Item& item) {
        const auto* text = std::get_if<TextItem>(&item);
        return text != nullptr && text->text.starts_with("32 ") && text->text.ends_with("subcores");
    }));
}
