// Rounds of loops in the time line and in what is said of the position.
#include "tests/layout_views/generic_run.h"
#include "tests/layout_views/scene_probe.h"
#include "views/layout/kernel/kernel.h"
#include "views/layout/overview/overview.h"
#include "views/layout/run/position.h"
#include "views/layout/timeline/round_bands.h"
#include "views/layout/timeline/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::layout {

namespace {

constexpr Size kLarge{1600, 260};

// A run of a single step whose body is a loop of four rounds, in each of which another loop has
// three.
RunView nested(test::GenericKernel kernel = test::gridless())
{
    trace::TraceBuilder builder = test::genericBuilder(kernel);
    builder.info.loops = {{"sequence", {0, 1}, trace::kNone, trace::kNone},
                          {"kv_block", {0, 4}, trace::kNone, 0}};
    const std::int64_t part = builder.end.value() / 12;
    trace::Rounds& rounds = builder.rounds;
    const auto add = [&](std::int32_t loop, std::int64_t round, std::int64_t from,
                         std::int64_t to) {
        rounds.loop.push_back(loop);
        rounds.agent.push_back(0);
        rounds.round.push_back(round);
        rounds.begin.push_back(from * part);
        rounds.end.push_back(to * part);
    };
    for (std::int64_t outer = 0; outer < 4; ++outer) {
        add(0, outer, 3 * outer, 3 * outer + 3);
        for (std::int64_t inner = 0; inner < 3; ++inner) {
            add(1, inner, 3 * outer + inner, 3 * outer + inner + 1);
        }
    }
    return test::viewOf(std::move(builder));
}

// In the middle of inner round 7: the second of the third outer one.
ViewState inRound7(const RunView& run, std::int32_t loop = trace::kNone)
{
    ViewState state;
    state.now = Picoseconds(run.trace->end().value() * 15 / 24);
    state.visible = {Picoseconds(0), run.trace->end()};
    state.loop = loop;
    return state;
}

} // namespace

TEST(Rounds, areNestedBandsAboveTheLanes)
{
    const RunView run = nested();
    const Scene scene = layoutTimeline(run, inRound7(run), kLarge);
    const TextItem outer = test::textWith(scene, "sequence 2 of 0–3");
    const TextItem inner = test::textWith(scene, "kv_block 1 of 0–2");
    EXPECT_LT(outer.rect.y, inner.rect.y);
    for (const timeline::Lane& lane : timeline::lanesOf(run, timeline::Level::Operations, 260)) {
        EXPECT_GE(lane.y, timeline::plotTopOf(run, kLarge.height));
    }
    EXPECT_FALSE(test::hasText(scene, "step 0"));
}

TEST(Rounds, thatAreUnderThePlayheadAreBold)
{
    const RunView run = nested();
    const Scene scene = layoutTimeline(run, inRound7(run), kLarge);
    std::vector<std::string> bold;
    for (const TextItem& text : test::textsOf(scene)) {
        if (text.weight == Weight::SemiBold && text.text.find(" of 0–") != std::string::npos) {
            bold.push_back(text.text);
        }
    }
    EXPECT_EQ(bold, (std::vector<std::string>{"sequence 2 of 0–3", "kv_block 1 of 0–2"}));
}

TEST(Rounds, leaveInnerBandsOutWhereThereIsLittleHeight)
{
    const RunView run = nested();
    EXPECT_EQ(timeline::roundBandsOf(run, 260).size(), 2U);
    EXPECT_EQ(timeline::roundBandsOf(run, 120).size(), 1U);
    const Scene scene = layoutTimeline(run, inRound7(run), {1600, 120});
    EXPECT_TRUE(test::hasText(scene, "sequence 2"));
    EXPECT_FALSE(test::hasText(scene, "kv_block"));
}

// A name is dropped rather than cut, and narrow rounds share a cell.
TEST(Rounds, keepTheirTextsInTheirCells)
{
    const RunView run = nested();
    for (const double width : {1600.0, 600.0, 300.0, 180.0}) {
        const Scene scene = layoutTimeline(run, inRound7(run), {width, 260});
        EXPECT_TRUE(test::textsOutside(scene).empty()) << width;
    }
}

TEST(Rounds, canBePointedAt)
{
    const RunView run = nested();
    const Scene scene = layoutTimeline(run, inRound7(run), kLarge);
    const TextItem inner = test::textWith(scene, "kv_block 1 of 0–2");
    std::vector<std::int64_t> rows;
    for (const Hit& hit : scene.hits) {
        if (const auto* round = std::get_if<target::Round>(&hit.target)) {
            rows.push_back(round->row);
            EXPECT_TRUE(hit.rect.h > 0 && hit.rect.w > 0);
        }
    }
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows.size(), 16U);
    EXPECT_EQ(std::unique(rows.begin(), rows.end()), rows.end());
    EXPECT_GT(inner.rect.x, timeline::kHead);
}

TEST(Rounds, areThePositionOfARunWithoutGridSteps)
{
    const RunView run = nested();
    const ViewState outer = inRound7(run), inner = inRound7(run, 1);
    EXPECT_NE(positionText(run, outer).find(" · round |2| of 4"), std::string::npos);
    EXPECT_EQ(positionText(run, outer).find("step"), std::string::npos);
    EXPECT_NE(positionText(run, inner).find(" · round |7| of 12"), std::string::npos);
    EXPECT_NE(layoutTimeline(run, outer, kLarge).caption.find("round |2| of |4|: "),
              std::string::npos);
    EXPECT_NE(layoutTimeline(run, inner, kLarge).caption.find("round |7| of |12|: "),
              std::string::npos);
    EXPECT_LE(positionText(run, inner).size(), widestPositionText(run, 1).size());
}

TEST(Rounds, areSaidBesideTheStepOfAGridWhereALoopIsMarked)
{
    const RunView run = nested(test::vectorSum());
    const ViewState unmarked = inRound7(run), marked = inRound7(run, 0);
    EXPECT_EQ(positionText(run, unmarked).find("round"), std::string::npos);
    EXPECT_NE(positionText(run, unmarked).find("step |"), std::string::npos);
    EXPECT_NE(positionText(run, marked).find("step |"), std::string::npos);
    EXPECT_NE(positionText(run, marked).find(" · round |2| of 4"), std::string::npos);
}

TEST(Rounds, areStatedByTheTransportAndTheTimeLineAlike)
{
    const RunView run = nested();
    const ViewState state = inRound7(run, 1);
    for (const Scene& scene :
         {layoutTimeline(run, state, kLarge), layoutOverview(run, state, {900, 40})}) {
        const auto fact = std::find_if(scene.facts.begin(), scene.facts.end(),
                                       [](const Fact& one) { return one.kind == FactKind::Round; });
        ASSERT_NE(fact, scene.facts.end());
        EXPECT_EQ(fact->value, 7);
    }
}

TEST(Rounds, areListedInTheKernelViewWithTheOneThatRuns)
{
    const RunView run = nested();
    const Scene scene = layoutBudget(run, inRound7(run), {304, 400});
    const TextItem outer = test::textWith(scene, "sequence"),
                   inner = test::textWith(scene, "kv_block");
    EXPECT_LT(outer.rect.x, inner.rect.x); // it lies in it
    EXPECT_EQ(test::textsAt(scene, outer.rect.y + outer.rect.h / 2),
              (std::vector<std::string>{"sequence ", "2", " of 0–3", "line 1", "4"}));
    EXPECT_EQ(test::textsAt(scene, inner.rect.y + inner.rect.h / 2),
              (std::vector<std::string>{"kv_block ", "1", " of 0–2", "line 4", "12"}));
    // → goes by the rounds of the outer one.
    const FillItem* band = test::fillAt(scene, 100, outer.rect.y + outer.rect.h / 2);
    ASSERT_NE(band, nullptr);
    EXPECT_EQ(band->color, Color(Role::SelectBackground));
}

TEST(Rounds, areGoneToFromTheKernelView)
{
    const RunView run = nested();
    const auto begins = [&](const ViewState& state) {
        std::vector<std::int64_t> rounds;
        for (const Hit& hit : layoutBudget(run, state, {304, 400}).hits) {
            if (const auto* round = std::get_if<target::Round>(&hit.target)) {
                rounds.push_back(run.trace->rounds().begin[static_cast<std::size_t>(round->row)]);
            }
        }
        return rounds;
    };
    const std::int64_t part = run.trace->end().value() / 12;
    EXPECT_EQ(begins(inRound7(run)), (std::vector<std::int64_t>{9 * part, 8 * part}));
    ViewState last = inRound7(run);
    last.now = run.trace->end();
    EXPECT_EQ(begins(last), (std::vector<std::int64_t>{0, 0})); // no next one: the first
}

TEST(Rounds, giveWayInTheKernelViewAsFarAsTheirRoomGoes)
{
    const RunView run = nested();
    for (double height = 60; height < 400; height += 17) {
        for (const double width : {200.0, 232.0, 304.0}) {
            const Scene scene = layoutBudget(run, inRound7(run), {width, height});
            EXPECT_TRUE(test::textsOutside(scene).empty()) << width << " " << height;
        }
    }
}

TEST(Rounds, areFramedByFourLikeSteps)
{
    const RunView run = nested();
    EXPECT_EQ(firstFrame(*run.trace).end, run.trace->end()); // all four
    EXPECT_EQ(frameAround(*run.trace, run.trace->end()).end, run.trace->end());
}

} // namespace pallascope::layout
