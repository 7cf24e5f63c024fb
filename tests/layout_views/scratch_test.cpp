// The memory view of kernels that copy by manual DMA: slots of scratch, their semaphores, SMEM, and
// whose memory it is.
#include "core/base/format.h"
#include "core/trace/columns.h"
#include "core/trace/copy_ends.h"
#include "core/trace/scratch_slots.h"
#include "tests/layout_views/generic_run.h"
#include "tests/layout_views/scene_probe.h"
#include "tests/support/scratch_trace.h"
#include "views/layout/memory/memory.h"
#include "views/layout/memory/scratch_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace pallascope::test {

namespace {

using layout::Rect;
using layout::RunView;
using layout::Scene;
using trace::ScratchPhase;
namespace target = layout::target;

constexpr std::uint64_t kRuns = 40;
constexpr layout::Size kRoomy = {520, 900};

// The places of VMEM that the view shows, and the rectangle of each.
std::vector<std::pair<layout::Place, Rect>> shownSlots(const RunView& run, const Scene& scene,
                                                       std::int32_t agent)
{
    std::vector<std::pair<layout::Place, Rect>> shown;
    std::map<std::int32_t, std::size_t> next; // rectangle by buffer: slots stand in order
    for (const layout::Place& place : layout::placesOf(run, {0, 1, 2, 3}, agent)) {
        const std::vector<Rect> rects = framesOf(scene, target::Buffer{place.buffer});
        const std::size_t number = next[place.buffer]++;
        EXPECT_LT(number, rects.size()) << place.buffer;
        if (number < rects.size()) {
            shown.emplace_back(place, rects[number]);
        }
    }
    return shown;
}

bool hasTextIn(const Scene& scene, const Rect& rect, const std::string& text)
{
    const std::vector<layout::TextItem> texts = textsOf(scene);
    return std::any_of(texts.begin(), texts.end(), [&](const layout::TextItem& item) {
        const Rect ink = inkOf(item);
        return item.text == text && ink.x >= rect.x && ink.right() <= rect.right() + 1
               && ink.y >= rect.y - 2 && ink.bottom() <= rect.bottom() + 2;
    });
}

} // namespace

TEST(ScratchView, aSlotSaysItsNameAndItsState)
{
    std::set<ScratchPhase> seen;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        SCOPED_TRACE(seed);
        const RunView run = viewOf(scratchBuilder(seed));
        for (const double share : {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}) {
            const layout::ViewState state = at(run, share);
            const Scene scene = layoutMemory(run, state, kRoomy);
            const std::int32_t agent = layout::shownAgent(run, state);
            for (const auto& [place, rect] : shownSlots(run, scene, agent)) {
                if (!place.slot) {
                    continue;
                }
                const trace::ScratchState now =
                    run.index->scratch().stateAt(*run.trace, *place.slot, state.now);
                seen.insert(now.phase);
                EXPECT_TRUE(hasTextIn(scene, rect, layout::placeName(run, place)));
                EXPECT_TRUE(
                    hasTextIn(scene, rect, layout::scratchWords(run, *place.slot, state.now)))
                    << layout::scratchWords(run, *place.slot, state.now);
            }
        }
    }
    EXPECT_EQ(seen.size(), 8U) << "every phase must occur";
}

// The stronger fill of a slot that one copy fills is as wide as the share that has arrived.
TEST(ScratchView, aSlotIsFilledAsFarAsItsBytesHaveArrived)
{
    int arriving = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        SCOPED_TRACE(seed);
        const RunView run = viewOf(scratchBuilder(seed));
        for (std::size_t copy = 0; copy < run.trace->copies().size(); ++copy) {
            const trace::Copies& copies = run.trace->copies();
            const Picoseconds now((copies.start[copy] * 2 + copies.end[copy]) / 3);
            const layout::ViewState state = at(now);
            const Scene scene = layoutMemory(run, state, kRoomy);
            for (const auto& [place, rect] :
                 shownSlots(run, scene, layout::shownAgent(run, state))) {
                if (!place.slot) {
                    continue;
                }
                const trace::ScratchState slot =
                    run.index->scratch().stateAt(*run.trace, *place.slot, now);
                if (slot.phase != ScratchPhase::Arriving || slot.ends.size() != 1) {
                    continue;
                }
                const layout::FillItem* const inside =
                    fillAt(scene, rect.x + rect.w * slot.moved - 4, rect.y + 1);
                const layout::FillItem* const behind =
                    fillAt(scene, rect.x + rect.w * slot.moved + 4, rect.y + 1);
                ASSERT_TRUE(inside != nullptr && behind != nullptr);
                EXPECT_GT(inside->color.share, behind->color.share);
                ++arriving;
            }
        }
    }
    EXPECT_GT(arriving, 50);
}

TEST(ScratchView, severalCopiesIntoOneSlotAreItsPieces)
{
    int pieces = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        SCOPED_TRACE(seed);
        const RunView run = viewOf(scratchBuilder(seed));
        const layout::ViewState state = at(run, 0.37);
        const Scene scene = layoutMemory(run, state, kRoomy);
        for (const auto& [place, rect] : shownSlots(run, scene, layout::shownAgent(run, state))) {
            if (!place.slot) {
                continue;
            }
            const trace::ScratchState slot =
                run.index->scratch().stateAt(*run.trace, *place.slot, state.now);
            if (slot.ends.size() < 2
                || (slot.phase != ScratchPhase::Arriving && slot.phase != ScratchPhase::Leaving)) {
                continue;
            }
            for (const trace::EndRow end : slot.ends) {
                const std::int64_t copy = trace::copyOf(*run.trace, end).number;
                const std::vector<Rect> frames = framesOf(scene, target::Copy{copy});
                EXPECT_TRUE(std::any_of(frames.begin(), frames.end(), [&](const Rect& piece) {
                    return piece.x >= rect.x && piece.right() <= rect.right() + 1
                           && piece.y >= rect.y && piece.bottom() <= rect.bottom() + 1;
                }));
                ++pieces;
            }
        }
    }
    EXPECT_GT(pieces, 20);
}

TEST(ScratchView, theSemaphoreOfASlotStandsBesideItWithItsCount)
{
    int waited = 0, counted = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        const RunView run = viewOf(scratchBuilder(seed));
        for (int i = 0; i < 20; ++i) {
            const layout::ViewState state = at(run, i / 20.0);
            const Scene scene = layoutMemory(run, state, kRoomy);
            for (const auto& [place, rect] :
                 shownSlots(run, scene, layout::shownAgent(run, state))) {
                if (!place.slot) {
                    continue;
                }
                const std::int32_t semaphore =
                    run.index->scratch().stateAt(*run.trace, *place.slot, state.now).semaphore;
                const bool isUsed = !run.index->scratch()
                                         .stateAt(*run.trace, *place.slot, run.trace->end())
                                         .ends.empty();
                ASSERT_EQ(semaphore != trace::kNone, isUsed);
                if (!isUsed) { // no copy ever addresses this index
                    continue;
                }
                const Rect beside{rect.right(), rect.y - 4, kRoomy.width - rect.right(),
                                  rect.h + 8};
                const std::string& name = run.trace->info().semaphores[trace::at(semaphore)].name;
                EXPECT_TRUE(hasTextIn(scene, beside, name)) << name;
                const std::int64_t count = run.index->semaphores().countAt(semaphore, state.now);
                const bool waits = state.now < run.trace->end()
                                   && trace::waitOn(*run.trace, semaphore, state.now).has_value();
                if (rect.h >= 40 && count == 0) {
                    EXPECT_TRUE(hasTextIn(scene, beside, waits ? "0, waited for" : "0"));
                    waited += waits ? 1 : 0;
                }
                counted += count > 0 ? 1 : 0;
            }
        }
    }
    EXPECT_GT(waited, 10);
    EXPECT_GT(counted, 10);
}

TEST(ScratchView, semaphoresThatGuardNoSlotAndNumbersInSmemAreListed)
{
    const RunView run = viewOf(scratchBuilder(5));
    const layout::ViewState state = at(run, 1);
    const Scene scene = layoutMemory(run, state, kRoomy);
    EXPECT_TRUE(hasText(scene, "numbers"));
    EXPECT_EQ(framesOf(scene, target::Buffer{4}).size(), 1U);
    for (const std::int32_t semaphore :
         layout::listedSemaphores(run, layout::shownAgent(run, state))) {
        const trace::Semaphore& of = run.trace->info().semaphores[trace::at(semaphore)];
        const layout::TextItem name = textWith(scene, of.name);
        const std::vector<std::string> line = textsAt(scene, name.rect.y + name.rect.h / 2);
        const std::string count = countText(run.index->semaphores().countAt(semaphore, state.now));
        EXPECT_NE(std::find(line.begin(), line.end(), count), line.end()) << of.name;
    }
}

// What is selected says whose memory is shown.
TEST(ScratchView, theMemoryIsThatOfTheCoreOfWhatIsSelected)
{
    int seen = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        const RunView run = viewOf(scratchBuilder(seed));
        const trace::CopyEnds& ends = run.trace->copyEnds();
        for (std::size_t row = 0; row < ends.size(); row += 2) {
            layout::ViewState state = at(run, 0.5);
            state.selection = target::Copy{ends.copy[row]};
            ASSERT_EQ(layout::shownAgent(run, state), ends.agent[row]);
            if (row == 0) {
                const std::string caption = layoutMemory(run, state, kRoomy).caption;
                EXPECT_NE(caption.find(run.trace->info().agents[trace::at(ends.agent[row])]),
                          std::string::npos)
                    << caption;
            }
            ++seen;
        }
    }
    EXPECT_GT(seen, 500);
}

TEST(ScratchView, nothingOverlapsOrLeavesTheSceneAtAnySize)
{
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        SCOPED_TRACE(seed);
        const RunView run = viewOf(scratchBuilder(seed));
        for (const layout::Size size :
             {layout::Size{232, 300}, {347, 420}, {323, 330}, {449, 664}, {960, 1400}}) {
            for (const double share : {0.1, 0.45, 0.9, 1.0}) {
                const Scene scene = layoutMemory(run, at(run, share), size);
                EXPECT_EQ(textsOutside(scene), std::vector<std::string>()) << size.width;
                EXPECT_EQ(overlaps(scene), std::vector<std::string>())
                    << size.width << " x " << size.height << " at " << share;
            }
        }
    }
}

} // namespace pallascope::test
