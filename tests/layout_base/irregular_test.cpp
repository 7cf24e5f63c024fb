// Runs whose steps differ a thousandfold in length, so that no zoom level suits all of them. The
// time line must still draw at most one bar per pixel and lose nothing.
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"
#include "views/layout/timeline/timeline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace pallascope;
using namespace pallascope::layout;
using namespace pallascope::layout::timeline;

namespace {

std::shared_ptr<const trace::Trace> irregularTrace(std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    const auto between = [&](std::int64_t least, double exponent) {
        const double share = static_cast<double>(random() % 1001) / 1000;
        return least + std::llround(std::pow(10.0, exponent * share));
    };
    trace::TraceBuilder b = test::mainJobBuilder(128);
    const std::size_t steps = b.steps.size();
    b.segments = {};
    b.copies = {};
    b.waits = {};
    b.visits = {};
    b.info.findings.clear();
    std::int64_t t = 0, link = 0;
    for (std::size_t step = 0; step < steps; ++step) {
        const auto row = static_cast<std::int32_t>(step);
        b.steps.begin[step] = t;
        for (std::uint64_t i = random() % 3; i > 0; --i) {
            const auto operand = static_cast<std::int32_t>(random() % 3);
            link = std::max(link, t);
            b.copies.operand.push_back(operand);
            b.copies.block.push_back(0);
            b.copies.slot.push_back(0);
            b.copies.out.push_back(operand == 2 ? 1 : 0);
            b.copies.link.push_back(0);
            b.copies.step.push_back(row);
            b.copies.bytes.push_back(1024);
            b.copies.issue.push_back(t);
            b.copies.start.push_back(link);
            link += between(1, 6);
            b.copies.end.push_back(link);
        }
        t += random() % 4 == 0 ? between(0, 7) : 0;
        b.steps.bodyBegin[step] = t;
        const auto id = static_cast<std::int32_t>(random() % b.info.templates.size());
        b.segments.templateId.push_back(id);
        b.segments.agent.push_back(0);
        b.segments.step.push_back(row);
        b.segments.begin.push_back(t);
        t += b.info.templates[static_cast<std::size_t>(id)].duration.value();
        b.steps.bodyEnd[step] = t;
        t += random() % 8 == 0 ? between(1, 8) : 1;
        b.steps.end[step] = t;
    }
    b.end = Picoseconds(std::max(t, link));
    b.steps.end.back() = b.end.value();
    auto trace = std::move(b).finish();
    if (!trace) {
        ADD_FAILURE() << trace.error().message;
        return nullptr;
    }
    return *trace;
}

RunView viewOf(std::shared_ptr<const trace::Trace> trace)
{
    RunView run = test::mainJobView();
    run.trace = trace;
    run.index = std::make_shared<const trace::Index>(trace);
    run.report.split = {};
    return run;
}

} // namespace

TEST(IrregularRun, neverMoreBarsThanPixelsAtAnyZoom)
{
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        SCOPED_TRACE(seed);
        const auto trace = irregularTrace(seed);
        ASSERT_NE(trace, nullptr);
        const RunView run = viewOf(trace);
        std::mt19937_64 random(seed);
        for (double share = 1; share > 1e-6; share *= 0.5) {
            const auto length = std::max<std::int64_t>(
                1000, std::llround(share * static_cast<double>(trace->end().value())));
            const auto begin = static_cast<std::int64_t>(
                random() % static_cast<std::uint64_t>(trace->end().value() - length + 1));
            ViewState state;
            state.visible = {Picoseconds(begin), Picoseconds(begin + length)};
            const TimeAxis axis = timelineAxis(state, {724, 220});
            const Zoom zoom = zoomOf(*trace, axis);
            for (const LaneKind kind : {LaneKind::CopyIn, LaneKind::CopyOut}) {
                ASSERT_LE(copyBars(run, {kind}, {0}, axis, zoom.level).size(), 610U);
            }
            for (std::int32_t unit = 0;
                 unit < static_cast<std::int32_t>(trace->info().units.size()); ++unit) {
                ASSERT_LE(unitBars(run, trace::UnitRow{unit}, axis, zoom.level).size(), 610U);
            }
            ASSERT_LE(folds(run, axis, zoom.stepsPerBar).size(), 610U);
            // The number of all items (rulers, lanes, whiskers) is bounded by the size of the
            // picture, not by the run.
            ASSERT_LE(layoutTimeline(run, state, {724, 220}).items.size(), 20'000U);
        }
    }
}

TEST(IrregularRun, everyPixelThatASegmentTouchesIsDrawn)
{
    const auto trace = irregularTrace(17);
    ASSERT_NE(trace, nullptr);
    const RunView run = viewOf(trace);
    const auto& segments = trace->segments();
    const std::int32_t unit = mainUnit(run).value();
    for (const double share : {1.0, 0.1, 0.01, 0.001}) {
        SCOPED_TRACE(share);
        ViewState state;
        state.visible = {Picoseconds(0), Picoseconds(std::llround(
                                             share * static_cast<double>(trace->end().value())))};
        const TimeAxis axis = timelineAxis(state, {724, 220});
        std::vector<bool> covered(800, false);
        for (const Bar& bar : unitBars(run, trace::UnitRow{unit}, axis, Level::Steps)) {
            for (double x = bar.x0; x < bar.x1; ++x) {
                covered[static_cast<std::size_t>(x)] = true;
            }
        }
        for (std::size_t row = 0;
             row < segments.size() && segments.begin[row] < state.visible.end.value(); ++row) {
            const auto& of =
                trace->info().templates[static_cast<std::size_t>(segments.templateId[row])];
            for (const trace::Mark& mark : of.marks) {
                const std::int64_t begin =
                    segments.begin[row] + toPicoseconds(mark.offset, of.clock).value();
                if (mark.unit == unit && begin < state.visible.end.value()) {
                    const double x = std::round(axis.toX(Picoseconds(begin)));
                    ASSERT_TRUE(covered[static_cast<std::size_t>(x)] || x >= axis.left + axis.width)
                        << "segment " << row << " at " << x;
                }
            }
        }
    }
}

TEST(IrregularRun, foldingLosesNoTime)
{
    const auto trace = irregularTrace(5);
    ASSERT_NE(trace, nullptr);
    const RunView run = viewOf(trace);
    ViewState state;
    state.visible = {Picoseconds(0), trace->end()};
    const TimeAxis axis = timelineAxis(state, {724, 220});
    const std::vector<Fold> all = folds(run, axis, zoomOf(*trace, axis).stepsPerBar);
    for (const Lane& lane : lanesOf(run, Level::Operations, 400)) {
        Picoseconds sum;
        for (std::size_t i = 0; i < all.size(); ++i) {
            ASSERT_EQ(all[i].begin, i == 0 ? 0 : all[i - 1].end);
            ASSERT_GE(all[i].x0, i == 0 ? 0 : all[i - 1].x1);
            sum += busy(run, lane, Picoseconds(all[i].end))
                   - busy(run, lane, Picoseconds(all[i].begin));
        }
        EXPECT_EQ(sum, busy(run, lane, trace->end())) << lane.name;
    }
}
