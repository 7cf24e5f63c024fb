// The time line of one core: axis, bars, lanes, folding, rulers, frames and the caption.
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/scene/svg.h"
#include "views/layout/timeline/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <random>

using namespace pallascope;
using namespace pallascope::layout;
using namespace pallascope::layout::timeline;

namespace {

constexpr Size kSize = {1280, 220};

// 32 768 steps: enough that bars stand for several steps and that a pixel has many rows.
const RunView& fineJob()
{
    static const RunView run = test::runViewOf(test::mainJob(128));
    return run;
}

// A range between a nanosecond and the whole run.
TimeRange randomRange(std::mt19937_64& random, Picoseconds end)
{
    const double most = std::log10(static_cast<double>(end.value()));
    const double exponent = 3 + (most - 3) * static_cast<double>(random() % 1001) / 1000;
    const auto length = std::min(end.value(), static_cast<std::int64_t>(std::pow(10, exponent)));
    const std::int64_t begin = length == end.value()
                                   ? 0
                                   : static_cast<std::int64_t>(
                                       random() % static_cast<std::uint64_t>(end.value() - length));
    return {Picoseconds(begin), Picoseconds(begin + length)};
}

ViewState stateOf(TimeRange range, Picoseconds now = Picoseconds(0))
{
    ViewState state;
    state.visible = range;
    state.now = now;
    return state;
}

std::vector<Bar> barsOf(const RunView& run, const Lane& lane, const TimeAxis& axis, Level level)
{
    switch (lane.kind) {
    case LaneKind::CopyIn:
    case LaneKind::CopyOut:
    case LaneKind::DeviceCopy:
    case LaneKind::SmCopies:
        return copyBars(run, lane, lane.links, axis, level);
    case LaneKind::Unit:
    case LaneKind::Device:
    case LaneKind::DeviceUnit:
    case LaneKind::SmUnit:
        return unitBars(run, trace::UnitRow{lane.unit}, axis, level);
    case LaneKind::Wait:
    case LaneKind::DeviceWait:
        return waitBars(run, axis);
    case LaneKind::Agent:
        return agentBars(run, trace::AgentRow{lane.agents.front()}, axis, level);
    case LaneKind::Sms: // these have no bars
    case LaneKind::Sm:
        break;
    }
    return {};
}

} // namespace

TEST(TimeAxis, toTimeUndoesToXWithinAPixelsTime)
{
    std::mt19937_64 random(3);
    const Picoseconds end = test::sharedMainJob().trace->end();
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        const TimeAxis axis = timelineAxis(stateOf(randomRange(random, end)), kSize);
        const std::int64_t length = (axis.range.end - axis.range.begin).value();
        const std::int64_t t =
            axis.range.begin.value()
            + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length));
        ASSERT_LE(std::abs((axis.toTime(axis.toX(Picoseconds(t))) - Picoseconds(t)).value()), 1);
        const double x = axis.left + axis.width * static_cast<double>(random() % 1000) / 1000;
        const double pixel = static_cast<double>(length) / axis.width;
        ASSERT_LE(std::fabs(axis.toX(axis.toTime(x)) - x), std::max(1.0, 1.0 / pixel));
    }
}

TEST(TimeAxis, zoomKeepsTheTimeUnderTheCursor)
{
    std::mt19937_64 random(4);
    const Picoseconds end = test::sharedMainJob().trace->end();
    int free = 0;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        TimeAxis axis = timelineAxis(stateOf(randomRange(random, end)), kSize);
        const double x = axis.left + axis.width * static_cast<double>(random() % 1001) / 1000;
        const double factor = std::pow(2.0, static_cast<double>(random() % 601) / 100 - 3);
        const Picoseconds before = axis.toTime(x);
        axis.range = zoomed(axis, x, factor, end);
        ASSERT_GE(axis.range.begin.value(), 0);
        ASSERT_LE(axis.range.end, end);
        ASSERT_GE((axis.range.end - axis.range.begin).value(), 1000);
        const bool clamped = axis.range.begin.value() == 0 || axis.range.end == end;
        if (!clamped) {
            const auto pixel =
                static_cast<double>((axis.range.end - axis.range.begin).value()) / axis.width;
            ASSERT_LE(std::abs((axis.toTime(x) - before).value()), 2 + pixel);
            ++free;
        }
    }
    EXPECT_GT(free, 200);
}

TEST(TimeAxis, zoomStopsAtANanosecondAndAtTheWholeRun)
{
    const Picoseconds end = test::sharedMainJob().trace->end();
    TimeAxis axis = timelineAxis(stateOf({Picoseconds(5'000'000), Picoseconds(9'000'000)}), kSize);
    EXPECT_EQ(zoomed(axis, 500, 1e-9, end), (TimeRange{Picoseconds(0), end}));
    axis.range = zoomed(axis, 500, 1e12, end);
    EXPECT_EQ((axis.range.end - axis.range.begin).value(), 1000);
    // A run shorter than a nanosecond is shown whole.
    EXPECT_EQ(zoomed(axis, 500, 2, Picoseconds(10)), (TimeRange{Picoseconds(0), Picoseconds(10)}));
}

TEST(TimeAxis, panFollowsTheHandAndStopsAtTheEnds)
{
    const Picoseconds end = test::sharedMainJob().trace->end();
    const TimeAxis axis =
        timelineAxis(stateOf({Picoseconds(100'000'000), Picoseconds(108'000'000)}), kSize);
    const TimeRange right = panned(axis, 100, end);
    EXPECT_EQ(right.end - right.begin, axis.range.end - axis.range.begin);
    TimeAxis moved = axis;
    moved.range = right;
    // What was under the hand stays under it.
    EXPECT_NEAR(moved.toX(axis.toTime(400)), 500, 0.01);
    EXPECT_EQ(panned(axis, 1e9, end).begin.value(), 0);
    EXPECT_EQ(panned(axis, -1e9, end).end, end);
}

TEST(Frame, theFirstOneHoldsStepsZeroToThreeAndALittleMore)
{
    const auto& steps = test::sharedMainJob().trace->steps();
    const TimeRange range = firstFrame(*test::sharedMainJob().trace);
    EXPECT_EQ(range.begin.value(), 0);
    EXPECT_GT(range.end.value(), steps.end[3]);
    EXPECT_LT(range.end.value(), steps.end[4]);
}

TEST(Frame, aroundATimeItHoldsFourStepsWithIt)
{
    const auto& trace = *test::sharedMainJob().trace;
    for (std::size_t step = 0; step < trace.steps().size(); step += 17) {
        const Picoseconds t(trace.steps().begin[step] + 1);
        const TimeRange range = frameAround(trace, t);
        EXPECT_LE(range.begin, t);
        EXPECT_GE(range.end, t);
        EXPECT_GE(range.begin.value(), 0);
        EXPECT_LE(range.end, trace.end());
    }
}

TEST(Zoom, levelsFollowThePixelsOfAStep)
{
    const auto& trace = *test::sharedMainJob().trace;
    const auto step = static_cast<double>(trace.end().value()) / 512;
    const auto levelAt = [&](double pxPerStep) {
        TimeAxis axis = {
            112, 1156, {Picoseconds(0), Picoseconds(std::llround(1156 / pxPerStep * step))}};
        return zoomOf(trace, axis).level;
    };
    EXPECT_EQ(levelAt(401), Level::Operations);
    EXPECT_EQ(levelAt(399), Level::Steps);
    EXPECT_EQ(levelAt(41), Level::Steps);
    EXPECT_EQ(levelAt(39), Level::Periods);
    EXPECT_EQ(levelAt(6.1), Level::Periods);
    EXPECT_EQ(levelAt(5.9), Level::Run);
}

TEST(Zoom, foldedBarsStandForAPowerOfTwoOfStepsAndFourPixels)
{
    const auto& trace = *fineJob().trace;
    for (double share = 1; share > 0.02; share *= 0.7) {
        const TimeAxis axis = {
            112,
            1156,
            {Picoseconds(0),
             Picoseconds(std::llround(share * static_cast<double>(trace.end().value())))}};
        const Zoom zoom = zoomOf(trace, axis);
        ASSERT_EQ(zoom.level, Level::Run);
        EXPECT_EQ(zoom.stepsPerBar & (zoom.stepsPerBar - 1), 0);
        EXPECT_GE(static_cast<double>(zoom.stepsPerBar) * zoom.pxPerStep, 4);
        EXPECT_LT(static_cast<double>(zoom.stepsPerBar) * zoom.pxPerStep, 8);
    }
}

TEST(Bars, neverMoreThanPixelsNeverOverlappingWhateverTheRange)
{
    std::mt19937_64 random(5);
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        SCOPED_TRACE(seed);
        const RunView& run = seed % 2 == 0 ? test::sharedMainJob() : fineJob();
        const TimeAxis axis = timelineAxis(stateOf(randomRange(random, run.trace->end())),
                                           {200 + static_cast<double>(random() % 1700), 220});
        for (const Lane& lane : lanesOf(run, Level::Operations, 400)) {
            // Every level is tried, even those that this range is too wide for.
            for (const Level level : {Level::Operations, Level::Steps, Level::Periods}) {
                const std::vector<Bar> bars = barsOf(run, lane, axis, level);
                ASSERT_LE(static_cast<double>(bars.size()), axis.width + 10) << lane.name;
                for (std::size_t i = 0; i < bars.size(); ++i) {
                    ASSERT_EQ(bars[i].x0, std::round(bars[i].x0));
                    ASSERT_LT(bars[i].x0, bars[i].x1);
                    ASSERT_LT(bars[i].begin, bars[i].end);
                    if (i > 0) {
                        ASSERT_GE(bars[i].x0, bars[i - 1].x1) << lane.name;
                    }
                }
            }
        }
    }
}

// Every pixel that holds anything has a bar, as found by looking at every row.
TEST(Bars, coverEveryPixelThatARowTouches)
{
    std::mt19937_64 random(6);
    const RunView& run = fineJob();
    const auto& copies = run.trace->copies();
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
        SCOPED_TRACE(seed);
        const TimeAxis axis =
            timelineAxis(stateOf(randomRange(random, run.trace->end())), {600, 220});
        const std::vector<Bar> bars = copyBars(run, {LaneKind::CopyIn}, {0}, axis, Level::Steps);
        std::vector<bool> covered(700, false);
        for (const Bar& bar : bars) {
            for (double x = std::max(0.0, bar.x0); x < bar.x1 && x < 700; ++x) {
                covered[static_cast<std::size_t>(x)] = true;
            }
        }
        for (std::size_t row = 0; row < copies.size(); ++row) {
            if (copies.out[row] != 0 || copies.end[row] <= axis.range.begin.value()
                || copies.start[row] >= axis.range.end.value()) {
                continue;
            }
            const double x = std::round(axis.toX(Picoseconds(copies.start[row])));
            if (x >= axis.left && x < axis.left + axis.width) {
                ASSERT_TRUE(covered[static_cast<std::size_t>(x)]) << "copy " << row << " at " << x;
            }
        }
    }
}

TEST(Bars, atTheStepLevelEveryEventHasItsOwnWithItsTimes)
{
    const RunView& run = test::sharedMainJob();
    const TimeAxis axis = timelineAxis(stateOf(firstFrame(*run.trace)), kSize);
    const auto& copies = run.trace->copies();
    std::size_t expected = 0;
    const std::vector<Bar> bars = copyBars(run, {LaneKind::CopyIn}, {0}, axis, Level::Steps);
    for (std::size_t row = 0; row < copies.size(); ++row) {
        if (copies.out[row] == 0 && copies.start[row] < axis.range.end.value()) {
            ASSERT_LT(expected, bars.size());
            EXPECT_EQ(bars[expected].target,
                      (Target(target::Copy{static_cast<std::int64_t>(row)})));
            EXPECT_EQ(bars[expected].begin, copies.start[row]);
            EXPECT_EQ(bars[expected].end, copies.end[row]);
            ++expected;
        }
    }
    EXPECT_EQ(bars.size(), expected);
}

TEST(Bars, unitBarsSumToTheUnitsBusyTime)
{
    const RunView& run = test::sharedMainJob();
    const auto& trace = *run.trace;
    // The range consists of whole steps that are wide enough for no two marks to share a pixel.
    const TimeRange range = {Picoseconds(trace.steps().begin[8]),
                             Picoseconds(trace.steps().begin[12])};
    const TimeAxis axis = timelineAxis(stateOf(range), {8000, 220});
    for (std::size_t unit = 0; unit < trace.info().units.size(); ++unit) {
        const auto id = static_cast<std::int32_t>(unit);
        std::int64_t sum = 0;
        for (const Bar& bar : unitBars(run, trace::UnitRow{id}, axis, Level::Operations)) {
            sum += bar.end - bar.begin;
        }
        const Picoseconds busy = run.index->unitBusy(trace::UnitRow{id}, range.end)
                                 - run.index->unitBusy(trace::UnitRow{id}, range.begin);
        EXPECT_EQ(sum, busy.value()) << trace.info().units[unit].name;
    }
}

TEST(Folds, loseNoTime)
{
    for (const RunView* run : {&test::sharedMainJob(), &fineJob()}) {
        const Picoseconds end = run->trace->end();
        const TimeAxis axis = timelineAxis(stateOf({Picoseconds(0), end}), kSize);
        for (const std::int64_t stepsPerBar : {1, 2, 16, 4096}) {
            const std::vector<Fold> all = folds(*run, axis, stepsPerBar);
            ASSERT_FALSE(all.empty());
            ASSERT_LE(static_cast<double>(all.size()), axis.width);
            EXPECT_EQ(all.front().begin, 0);
            EXPECT_EQ(all.back().end, end.value());
            for (const Lane& lane : lanesOf(*run, Level::Operations, 400)) {
                Picoseconds sum;
                std::int64_t nextStep = 0;
                for (const Fold& fold : all) {
                    ASSERT_EQ(fold.firstStep, nextStep);
                    ASSERT_GE(fold.lastStep, fold.firstStep);
                    nextStep = fold.lastStep + 1;
                    sum += busy(*run, lane, Picoseconds(fold.end))
                           - busy(*run, lane, Picoseconds(fold.begin));
                }
                EXPECT_EQ(nextStep, static_cast<std::int64_t>(run->trace->steps().size()));
                EXPECT_EQ(sum, busy(*run, lane, end)) << lane.name;
            }
        }
    }
}

TEST(Folds, doNotChangeWhilePanning)
{
    const RunView& run = fineJob();
    const Picoseconds end = run.trace->end();
    const Picoseconds length(end.value() / 10);
    std::map<std::int64_t, std::int64_t> ends; // of bars, by their begin
    for (std::int64_t begin = 0; begin + length.value() <= end.value();
         begin += length.value() / 7) {
        const TimeAxis axis =
            timelineAxis(stateOf({Picoseconds(begin), Picoseconds(begin) + length}), kSize);
        for (const Fold& fold : folds(run, axis, zoomOf(*run.trace, axis).stepsPerBar)) {
            const auto [found, added] = ends.emplace(fold.begin, fold.end);
            ASSERT_EQ(found->second, fold.end);
        }
    }
}

TEST(Lanes, copiesAreOneLinkAboveTheUnitsAndWaitsAreLast)
{
    const std::vector<Lane> lanes = lanesOf(test::sharedMainJob(), Level::Steps, 220);
    std::vector<std::string> names;
    for (const Lane& lane : lanes) {
        names.push_back(lane.name);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"copy in", "copy out", "MXU", "VPU", "EUP", "scalar",
                                               "wait"}));
    // The EUP does nothing in a matmul, so its lane is only a head.
    EXPECT_FALSE(lanes[4].used);
    EXPECT_LE(lanes[4].h, 12);
}

TEST(Lanes, loadsAndStoresShowAtTheOperationLevelWhereThereIsRoom)
{
    const auto has = [](const std::vector<Lane>& lanes, const std::string& name) {
        return std::any_of(lanes.begin(), lanes.end(),
                           [&](const Lane& lane) { return lane.name == name; });
    };
    EXPECT_FALSE(has(lanesOf(test::sharedMainJob(), Level::Steps, 400), "store"));
    EXPECT_TRUE(has(lanesOf(test::sharedMainJob(), Level::Operations, 400), "store"));
    EXPECT_FALSE(has(lanesOf(test::sharedMainJob(), Level::Operations, 150), "store"));
}

TEST(Lanes, ofUnitsTheIdlestGoFirstWhereThereIsNoRoom)
{
    const RunView& run = test::sharedMainJob();
    const std::vector<Lane> all = lanesOf(run, Level::Steps, 400);
    const auto timeOf = [&](const Lane& lane) { return busy(run, lane, run.trace->end()); };
    bool isOneGone = false;
    for (double height = 60; height < 220; height += 10) {
        const std::vector<Lane> lanes = lanesOf(run, Level::Steps, height);
        for (const Lane& lane : all) {
            const bool isGone = std::none_of(lanes.begin(), lanes.end(), [&](const Lane& kept) {
                return kept.name == lane.name;
            });
            isOneGone = isOneGone || (isGone && timeOf(lane).value() > 0);
            for (const Lane& kept : lanes) {
                if (isGone && kept.kind == LaneKind::Unit && kept.unit != mainUnit(run)) {
                    EXPECT_LE(timeOf(lane), timeOf(kept)) << lane.name << " at " << height;
                }
            }
        }
    }
    EXPECT_TRUE(isOneGone);
}

TEST(Lanes, fitTheHeightAndNeverOverlap)
{
    for (double height = 190; height < 500; height += 13) {
        const std::vector<Lane> lanes = lanesOf(test::sharedMainJob(), Level::Steps, height);
        double y = kPlotTop;
        for (const Lane& lane : lanes) {
            EXPECT_EQ(lane.y, y);
            EXPECT_GE(lane.h, 7);
            y += lane.h + kLaneGap;
        }
        EXPECT_LE(y - kLaneGap, height);
    }
}

TEST(Timeline, everyBarsOwnCentreHitsIt)
{
    const RunView& run = test::sharedMainJob();
    std::mt19937_64 random(8);
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        const TimeRange range = randomRange(random, run.trace->end());
        const TimeAxis axis = timelineAxis(stateOf(range), kSize);
        const Zoom zoom = zoomOf(*run.trace, axis);
        if (zoom.level == Level::Run) {
            continue;
        }
        const auto now = Picoseconds(static_cast<std::int64_t>(
            random() % static_cast<std::uint64_t>(run.trace->end().value())));
        const Scene scene = layoutTimeline(run, stateOf(range, now), kSize);
        for (const Lane& lane : lanesOf(run, zoom.level, kSize.height)) {
            for (const Bar& bar : barsOf(run, lane, axis, zoom.level)) {
                const double x0 = std::max(bar.x0, axis.left);
                const double x1 = std::min(bar.x1, axis.left + axis.width);
                if (x1 > x0) {
                    ASSERT_EQ(hitTest(scene, (x0 + x1) / 2, lane.y + lane.h / 2, 0), bar.target)
                        << lane.name;
                }
            }
        }
    }
}

TEST(Timeline, foldedBarsHitTheirSteps)
{
    const RunView& run = test::sharedMainJob();
    const TimeRange range = {Picoseconds(0), run.trace->end()};
    const Scene scene = layoutTimeline(run, stateOf(range), kSize);
    const TimeAxis axis = timelineAxis(stateOf(range), kSize);
    const Zoom zoom = zoomOf(*run.trace, axis);
    ASSERT_EQ(zoom.level, Level::Run);
    const std::vector<Lane> lanes = lanesOf(run, zoom.level, kSize.height);
    for (const Fold& fold : folds(run, axis, zoom.stepsPerBar)) {
        const Target hit = hitTest(scene, (fold.x0 + fold.x1) / 2, lanes[2].y + 2, 0);
        EXPECT_EQ(hit, (Target(target::Steps{fold.firstStep, fold.lastStep})));
    }
}

TEST(Timeline, textsStayInsideThePictureAndLabelsInsideTheirBars)
{
    std::mt19937_64 random(9);
    for (std::uint64_t seed = 0; seed < 80; ++seed) {
        SCOPED_TRACE(seed);
        const RunView& run = test::sharedMainJob();
        const Size size = {400 + static_cast<double>(random() % 1500),
                           190 + static_cast<double>(random() % 200)};
        const auto now = Picoseconds(static_cast<std::int64_t>(
            random() % static_cast<std::uint64_t>(run.trace->end().value())));
        const Scene scene =
            layoutTimeline(run, stateOf(randomRange(random, run.trace->end()), now), size);
        for (const Item& item : scene.items) {
            const auto* text = std::get_if<TextItem>(&item);
            if (text == nullptr) {
                continue;
            }
            const double w = textWidth(text->text, text->size, text->weight);
            ASSERT_LE(w, text->rect.w + 0.6) << text->text;
            ASSERT_GE(text->rect.x, 0) << text->text;
            ASSERT_LE(text->rect.x + w, size.width + 1) << text->text;
            if (!text->onFill) {
                continue;
            }
            const bool onBar =
                std::any_of(scene.items.begin(), scene.items.end(), [&](const Item& other) {
                    const auto* fill = std::get_if<FillItem>(&other);
                    return fill != nullptr && fill->color == text->color
                           && fill->rect.x <= text->rect.x && fill->rect.right() >= text->rect.x + w
                           && fill->rect.y <= text->rect.y
                           && fill->rect.bottom() >= text->rect.y + text->size;
                });
            ASSERT_TRUE(onBar) << text->text;
        }
    }
}

TEST(Timeline, aCopyUnderWayIsSolidUpToNowAndTintedBehind)
{
    const RunView& run = test::sharedMainJob();
    const auto& copies = run.trace->copies();
    const std::size_t row = 6;
    const auto now = Picoseconds((copies.start[row] * 2 + copies.end[row]) / 3);
    const ViewState state = stateOf(firstFrame(*run.trace), now);
    const TimeAxis axis = timelineAxis(state, kSize);
    const Scene scene = layoutTimeline(run, state, kSize);
    const Role role = operandRole(run, trace::OperandRow{copies.operand[row]});
    const double front = std::round(axis.toX(now));
    const double begin = std::round(axis.toX(Picoseconds(copies.start[row])));
    int solid = 0, tinted = 0;
    for (const Item& item : scene.items) {
        if (const auto* fill = std::get_if<FillItem>(&item)) {
            solid +=
                fill->color == Color(role) && fill->rect.x == begin && fill->rect.right() == front
                    ? 1
                    : 0;
            tinted += fill->color == mix(role, 0.35) && fill->rect.x == front ? 1 : 0;
        }
    }
    EXPECT_EQ(solid, 1);
    EXPECT_EQ(tinted, 1);
}

TEST(Timeline, consecutiveCopiesLeaveAPixelBetweenThem)
{
    const RunView& run = test::sharedMainJob();
    const ViewState state = stateOf(firstFrame(*run.trace));
    const TimeAxis axis = timelineAxis(state, kSize);
    const auto& copies = run.trace->copies();
    ASSERT_EQ(copies.end[0], copies.start[1]); // x(0,0) and y(0,0) follow each other directly
    const double edge = std::round(axis.toX(Picoseconds(copies.end[0])));
    const Scene scene = layoutTimeline(run, state, kSize);
    bool found = false;
    for (const Item& item : scene.items) {
        const auto* fill = std::get_if<FillItem>(&item);
        if (fill != nullptr && fill->color == Color(Role::Operand1) && fill->rect.h > 10) {
            found = found || fill->rect.right() == edge - 1;
            EXPECT_NE(fill->rect.right(), edge);
        }
    }
    EXPECT_TRUE(found);
}

TEST(Timeline, hoveringACopyFramesTheWaitItCauses)
{
    const RunView& run = test::sharedMainJob();
    const auto& waits = run.trace->waits();
    std::size_t wait = 0;
    while (waits.end[wait] == waits.begin[wait]) {
        ++wait;
    }
    ViewState state = stateOf(frameAround(*run.trace, Picoseconds(waits.begin[wait])));
    const auto framed = [&](const Scene& scene) {
        int count = 0;
        for (const Item& item : scene.items) {
            const auto* fill = std::get_if<FillItem>(&item);
            count += fill != nullptr && fill->color == Color(Role::Text) ? 1 : 0;
        }
        return count / 4; // a frame has four sides
    };
    EXPECT_EQ(framed(layoutTimeline(run, state, kSize)), 0);
    state.hover = target::Copy{waits.copy[wait]};
    EXPECT_EQ(framed(layoutTimeline(run, state, kSize)), 2);
    EXPECT_TRUE(belongs(*run.trace, target::Wait{static_cast<std::int64_t>(wait)}, state.hover));
    EXPECT_TRUE(belongs(*run.trace, state.hover, target::Wait{static_cast<std::int64_t>(wait)}));
    EXPECT_FALSE(belongs(*run.trace, target::Copy{waits.copy[wait] + 1}, state.hover));
}

TEST(Timeline, theCaptionSaysWhatIsHappening)
{
    const RunView& run = test::sharedMainJob();
    const auto& trace = *run.trace;
    const TimeRange range = firstFrame(trace);
    const auto captionAt = [&](std::int64_t t) {
        return analysis::plain(layoutTimeline(run, stateOf(range, Picoseconds(t)), kSize).caption);
    };
    EXPECT_EQ(
        captionAt(0).rfind(
            "prologue: first x and y arrive in 1.60 µs, nothing to overlap yet · then a step every",
            0),
        0U)
        << captionAt(0);
    const std::string inStep = captionAt(trace.steps().bodyBegin[2] + 300'000);
    EXPECT_EQ(inStep.rfind("step 2: MXU busy ", 0), 0U) << inStep;
    EXPECT_NE(inStep.find("next x(0,3) "), std::string::npos) << inStep;
    EXPECT_NE(inStep.find("1 queued behind it"), std::string::npos) << inStep;
    const std::string waiting = captionAt(trace.waits().begin[0] + 100);
    EXPECT_NE(waiting.find("nothing to overlap yet"), std::string::npos) << waiting;
    EXPECT_EQ(captionAt(trace.end().value()).rfind("end: 512 steps in ", 0), 0U);
    // When zoomed far out, the caption says how many steps one bar stands for.
    const std::string folded =
        analysis::plain(layoutTimeline(run, stateOf({Picoseconds(0), trace.end()}), kSize).caption);
    EXPECT_NE(folded.find("each bar is 2 steps"), std::string::npos) << folded;
}

// A run that begins with a launch, whose prologue goes on in step 0.
TEST(Timeline, namesAboveTheLanesDoNotOverlap)
{
    constexpr std::int64_t kLaunch = 2'000'000;
    trace::TraceBuilder builder = test::mainJobBuilder(2048);
    for (auto* times :
         {&builder.steps.begin, &builder.steps.bodyBegin, &builder.steps.bodyEnd,
          &builder.steps.end, &builder.segments.begin, &builder.copies.issue, &builder.copies.start,
          &builder.copies.end, &builder.waits.begin, &builder.waits.end}) {
        for (std::int64_t& time : *times) {
            time += kLaunch;
        }
    }
    builder.end += Picoseconds(kLaunch);
    RunView run = test::runViewOf(std::move(builder).finish().value());
    for (const std::int64_t prologue : {kLaunch / 2, kLaunch, kLaunch + 25'600'000}) {
        run.report.split.prologue = Picoseconds(prologue);
        const Scene scene = layoutTimeline(run, stateOf(firstFrame(*run.trace)), {1920, 281});
        std::vector<std::pair<double, double>> names; // from, to
        for (const Item& item : scene.items) {
            const auto* text = std::get_if<TextItem>(&item);
            if (text != nullptr && text->rect.y == 18) {
                names.emplace_back(text->rect.x,
                                   text->rect.x + textWidth(text->text, text->size, text->weight));
            }
        }
        std::sort(names.begin(), names.end());
        ASSERT_GE(names.size(), 3U);
        for (std::size_t i = 1; i < names.size(); ++i) {
            EXPECT_LE(names[i - 1].second, names[i].first) << prologue;
        }
    }
}

TEST(Timeline, theSameInputGivesTheSamePicture)
{
    const RunView& run = test::sharedMainJob();
    const ViewState state = stateOf(firstFrame(*run.trace), Picoseconds(5'320'000));
    EXPECT_EQ(toSvg(layoutTimeline(run, state, kSize), Theme::Light),
              toSvg(layoutTimeline(run, state, kSize), Theme::Light));
}
