// The strip of a program.
#include "core/base/format.h"
#include "tests/layout_program/runs.h"
#include "tests/layout_views/scene_probe.h"
#include "tests/support/run_view_fixture.h"
#include "views/layout/program/program.h"
#include "views/layout/run/pieces.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/source/source.h"
#include "views/layout/timeline/timeline.h"
#include "views/layout/tooltip/tooltip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace pallascope;
using namespace pallascope::layout;

namespace {

constexpr Size kStripSize{1280, program::kHeight};

trace::Pieces piecesOfTimes(const std::vector<std::int64_t>& times)
{
    trace::Pieces pieces;
    Picoseconds at(0);
    for (const std::int64_t time : times) {
        trace::Piece& piece = pieces.all.emplace_back();
        piece.begin = at;
        at += Picoseconds(time);
        piece.end = at;
    }
    return pieces;
}

std::vector<Hit> hitsOfPieces(const Scene& scene)
{
    std::vector<Hit> found;
    std::copy_if(scene.hits.begin(), scene.hits.end(), std::back_inserter(found),
                 [](const Hit& hit) { return is<target::Piece>(hit.target); });
    return found;
}

ViewState stateAt(Picoseconds now, std::int32_t device = 0)
{
    ViewState state;
    state.now = now;
    state.device = device;
    return state;
}

} // namespace

// The widths are those of the times, but for pieces that would be too narrow.
TEST(Boxes, areAsWideAsTheirTimesAndNeverTooNarrow)
{
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        std::vector<std::int64_t> times(1 + random() % 30);
        for (std::int64_t& time : times) {
            time = random() % 5 == 0 ? 0 : static_cast<std::int64_t>(1 + random() % 1'000'000);
        }
        const trace::Pieces pieces = piecesOfTimes(times);
        const auto boxes = program::boxesOf(pieces, 10, 1260);
        ASSERT_EQ(boxes.size(), times.size());
        double end = 7;
        for (const program::Box& box : boxes) {
            EXPECT_NEAR(box.x, end + 3, 1);
            EXPECT_GE(box.w, 23);
            end = box.x + box.w;
        }
        EXPECT_NEAR(end, 1270, 1);
        for (std::size_t i = 0; i < times.size(); ++i) {
            for (std::size_t j = 0; j < times.size(); ++j) {
                if (boxes[i].w > 25 && boxes[j].w > 25 && times[j] > 0) {
                    const double ratio =
                        static_cast<double>(times[i]) / static_cast<double>(times[j]);
                    EXPECT_NEAR(boxes[i].w, boxes[j].w * ratio, 1 + ratio);
                }
            }
        }
    }
}

TEST(Boxes, ofMoreThanThereIsRoomForFollowTheTimeAlone)
{
    std::vector<std::int64_t> times(5000);
    for (std::size_t i = 0; i < times.size(); ++i) {
        times[i] = static_cast<std::int64_t>(1 + i % 7);
    }
    const trace::Pieces pieces = piecesOfTimes(times);
    const auto boxes = program::boxesOf(pieces, 10, 1000);
    const double whole = static_cast<double>(pieces.all.back().end.value());
    for (std::size_t i = 0; i < times.size(); ++i) {
        EXPECT_NEAR(boxes[i].x,
                    10 + 1000 * static_cast<double>(pieces.all[i].begin.value()) / whole, 1);
    }
}

TEST(Strip, hasAPlaceForEachPieceInOrder)
{
    const RunView& run = *test::runOf("kernels and fusions").view;
    const auto& pieces = run.index->pieces().all;
    const Scene scene = layoutProgram(run, stateAt(Picoseconds(0)), kStripSize);
    const std::vector<Hit> hits = hitsOfPieces(scene);
    ASSERT_EQ(hits.size(), pieces.size());
    for (std::size_t i = 0; i < hits.size(); ++i) {
        EXPECT_EQ(hits[i].target,
                  Target(target::Piece{0, static_cast<std::int64_t>(i), pieces[i].begin}));
        EXPECT_TRUE(i == 0 || hits[i].rect.x >= hits[i - 1].rect.right());
        const double x = hits[i].rect.x + hits[i].rect.w / 2;
        EXPECT_EQ(hitTest(scene, x, kStripSize.height / 2), hits[i].target);
        EXPECT_FALSE(tooltip(run, stateAt(Picoseconds(0)), hits[i].target).empty());
    }
    EXPECT_TRUE(test::textsOutside(scene).empty());
}

// At every moment the caption says what a scan of the pieces finds.
TEST(Strip, saysWhereThePlayheadIs)
{
    const RunView& run = *test::runOf("kernels and fusions").view;
    const auto& pieces = run.index->pieces().all;
    Picoseconds outside;
    for (const trace::Piece& piece : pieces) {
        outside += piece.isKernel() ? Picoseconds(0) : piece.end - piece.begin;
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const Picoseconds now =
            pieces[i].begin + Picoseconds((pieces[i].end - pieces[i].begin).value() / 2);
        const Scene scene = layoutProgram(run, stateAt(now), kStripSize);
        const std::string caption = parts::plain(scene.caption);
        if (pieces[i].isKernel()) {
            EXPECT_TRUE(caption.starts_with("kernel " + std::to_string(pieces[i].number) + " of 5"))
                << caption;
        } else {
            EXPECT_TRUE(caption.starts_with("fusion " + pieces[i].name + ", between")) << caption;
        }
        EXPECT_NE(caption.find("operations around kernels take " + timeText(outside)),
                  std::string::npos)
            << caption;
    }
}

// The caption of the time line says so too, in the launches of kernels as well.
TEST(Strip, agreesWithTheTimeLineOnWhatRunsOutsideOfKernels)
{
    const RunView& run = *test::runOf("kernels and fusions").view;
    const auto captionAt = [&](Picoseconds now) {
        ViewState state = stateAt(now);
        state.visible = firstFrame(*run.trace);
        return parts::plain(layoutTimeline(run, state, {1280, 281}).caption);
    };
    EXPECT_TRUE(captionAt(Picoseconds(0)).starts_with("before step 0: launch 2.00 µs, first x"))
        << captionAt(Picoseconds(0));
    const auto middle = [](Picoseconds from, Picoseconds to) {
        return from + Picoseconds((to - from).value() / 2);
    };
    for (const trace::Piece& piece : run.index->pieces().all) {
        const Picoseconds launched = piece.begin + piece.launch;
        const std::string what = piece.isKernel()
                                     ? "kernel " + std::to_string(piece.number) + " of 5"
                                     : "fusion " + piece.name;
        const std::string launch = captionAt(middle(piece.begin, launched));
        EXPECT_TRUE(launch.starts_with("launch of " + what + ", ")) << launch;
        EXPECT_NE(launch.find(" of " + timeText(piece.launch)), std::string::npos) << launch;
        const std::string work = captionAt(middle(launched, piece.end));
        EXPECT_EQ(work.starts_with(what + ", "), !piece.isKernel()) << work;
        EXPECT_FALSE(work.starts_with("launch")) << work;
    }
}

// Between kernels, the Source view names no step: the last one is over. In a kernel it does.
TEST(Strip, agreesWithTheSourceOnWhetherAStepIsUnderWay)
{
    const RunView& run = *test::runOf("kernels and fusions").view;
    for (const trace::Piece& piece : run.index->pieces().all) {
        const Picoseconds last = piece.end - Picoseconds(1);
        const Scene scene = layoutSource(run, stateAt(last), {1280, 300}, SourceTab::Source);
        const std::string caption = parts::plain(scene.caption);
        EXPECT_EQ(caption.find(" step ") != std::string::npos, piece.isKernel()) << caption;
    }
}

// A kernel without steps is named, and what it does: the last step of the one before it is over,
// and it is not the prologue of the one behind it.
TEST(Strip, agreesWithTheTimeLineOnAKernelWithoutSteps)
{
    const RunView& run = *test::runOf("kernels by hand around one with steps").view;
    for (const trace::Piece& piece : run.index->pieces().all) {
        const Picoseconds begin = piece.begin + piece.launch;
        ViewState state = stateAt(begin + Picoseconds((piece.end - begin).value() / 2));
        state.visible = firstFrame(*run.trace);
        const std::string line = parts::plain(layoutTimeline(run, state, {1280, 281}).caption);
        const std::string source =
            parts::plain(layoutSource(run, state, {1280, 300}, SourceTab::Source).caption);
        const bool hasSteps = piece.name == "steps";
        const std::string kernel = "kernel " + std::to_string(piece.number) + " of 3: ";
        EXPECT_EQ(line.starts_with(kernel), !hasSteps) << line;
        EXPECT_EQ(line.starts_with("step "), hasSteps) << line;
        EXPECT_EQ(source.find(" step ") != std::string::npos, hasSteps) << source;
    }
}

// Before the first step, the caption of the time line says how often the first kernel begins one.
TEST(Strip, ofSeveralKernelsHasTheMeanStepOfTheFirst)
{
    const RunView& run = *test::runOf("kernels and fusions").view;
    const trace::Steps& steps = run.trace->steps();
    std::size_t last = 0;
    while (last + 1 < steps.size() && steps.pipeline[last + 1] == steps.pipeline[0]) {
        ++last;
    }
    ASSERT_GT(last, 0U);
    ASSERT_LT(last + 1, steps.size());
    const Picoseconds mean((steps.bodyBegin[last] - steps.bodyBegin[0])
                           / static_cast<std::int64_t>(last));
    ViewState state = stateAt(Picoseconds(0));
    state.visible = firstFrame(*run.trace);
    const std::string caption = parts::plain(layoutTimeline(run, state, {1280, 281}).caption);
    EXPECT_TRUE(caption.ends_with("then a step every " + timeText(mean) + " on average"))
        << caption;
}

TEST(Strip, isOfTheChosenDevice)
{
    const RunView& run = *test::runOf("a ring of devices").view;
    EXPECT_EQ(hitsOfPieces(layoutProgram(run, stateAt(Picoseconds(0), 2), kStripSize)).size(), 3U);
    const Scene scene = layoutProgram(run, stateAt(Picoseconds(0), 3), kStripSize);
    EXPECT_EQ(hitsOfPieces(scene).size(), 4U);
    EXPECT_TRUE(scene.caption.starts_with("device |3|, kernel |1| of |3|")) << scene.caption;
    EXPECT_NE(scene.caption.find("a collective takes"), std::string::npos) << scene.caption;
}

TEST(Strip, isForProgramsOfMoreThanOnePiece)
{
    EXPECT_TRUE(isProgram(*test::runOf("kernels and fusions").view));
    EXPECT_FALSE(isProgram(*test::runOf("pipelines one after the other").view));
    EXPECT_FALSE(isProgram(test::sharedMainJob()));
}

// Which was busy longest, by a sum over the rows that lie in the piece.
TEST(Bounds, areWhatWasBusyLongestInAPiece)
{
    const RunView& run = *test::runOf("kernels and fusions").view;
    const trace::Copies& copies = run.trace->copies();
    for (const trace::Piece& piece : run.index->pieces().all) {
        Picoseconds moving;
        for (std::size_t row = 0; row < copies.size(); ++row) {
            const std::int64_t from = std::max(copies.start[row], piece.begin.value());
            const std::int64_t to = std::min(copies.end[row], piece.end.value());
            moving += Picoseconds(std::max<std::int64_t>(0, to - from));
        }
        const auto bound = boundOf(run, 0, piece);
        const double third = static_cast<double>((piece.end - piece.begin).value()) / 3;
        const Picoseconds longest = std::max({piece.launch, piece.overhead, moving});
        if (bound) {
            EXPECT_GE(bound->share * 3 * third, static_cast<double>(longest.value()) - 1);
        } else {
            EXPECT_LT(static_cast<double>(longest.value()), third);
        }
    }
}
