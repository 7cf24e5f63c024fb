// The memory view: strips, links, slots and units.
#include "core/base/format.h"
#include "core/trace/mark_time.h"
#include "tests/layout_views/generic_run.h"
#include "tests/layout_views/scene_probe.h"
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"
#include "views/layout/memory/memory.h"
#include "views/layout/memory/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pallascope::test {

namespace {

using layout::Rect;
using layout::RunView;
using layout::Scene;
namespace target = layout::target;

constexpr layout::Size kMemorySize = {520, 598};

bool isBlockOf(const layout::Target& target, std::int64_t operand)
{
    const auto* block = std::get_if<target::Block>(&target);
    return block != nullptr && block->operand == operand;
}

Rect bufferRect(const Scene& scene, std::int32_t buffer)
{
    const std::vector<Rect> frames = framesOf(scene, target::Buffer{buffer});
    EXPECT_EQ(frames.size(), 1U) << buffer;
    return frames.empty() ? Rect() : frames[0];
}

// The first time at which a slot is in a phase, found by trying 20 000 times.
Picoseconds whenSlotIs(const RunView& run, std::int32_t buffer, trace::SlotPhase phase)
{
    const std::int64_t end = run.trace->end().value();
    for (std::int64_t i = 0; i < 20'000; ++i) {
        const Picoseconds t(end / 20'000 * i);
        if (trace::slotStateAt(*run.trace, trace::BufferRow{buffer}, t).phase == phase) {
            return t;
        }
    }
    ADD_FAILURE() << "buffer " << buffer << " is never in phase " << static_cast<int>(phase);
    return {};
}

// The buffers of a memory, each as a place of its own.
std::vector<layout::Place> placesIn(const trace::Info& info, std::int32_t memory)
{
    std::vector<layout::Place> places;
    for (std::size_t i = 0; i < info.buffers.size(); ++i) {
        const trace::Buffer& buffer = info.buffers[i];
        if (buffer.memory == memory) {
            places.push_back(
                {static_cast<std::int32_t>(i), {}, buffer.address, buffer.bytes, buffer.operand});
        }
    }
    return places;
}

layout::Place placeOf(const RunView& run, std::int32_t buffer)
{
    return layout::placesOf(run, {buffer}, 0).front();
}

} // namespace

TEST(Memory, slotHeightsAreInProportionToTheirBytes)
{
    const RunView run = mainJobView();
    const Scene scene = layoutMemory(run, at(run, 0.3), kMemorySize);
    const trace::Info& info = run.trace->info();
    const double perByte =
        bufferRect(scene, 4).h / static_cast<double>(info.buffers[4].bytes.value());
    double y = 0;
    for (std::int32_t i = 0; i < 6; ++i) {
        const Rect rect = bufferRect(scene, i);
        const auto bytes =
            static_cast<double>(info.buffers[static_cast<std::size_t>(i)].bytes.value());
        EXPECT_NEAR(rect.h, perByte * bytes, 2.5) << i; // one pixel of gap and one of rounding
        EXPECT_GE(rect.y, y) << "slots stand at their addresses";
        y = rect.bottom();
    }
}

TEST(Memory, slotsFillTheirHeightExactlyAndSmallOnesAreRaised)
{
    const trace::Info info = genericRun(sixOperands()).trace->info();
    const layout::SlotStack stack = layout::stackSlots(info, placesIn(info, 1), 10, 400);
    EXPECT_FALSE(stack.scaled);
    EXPECT_NEAR(stack.bottom, 410, 1e-6);
    for (const layout::SlotRow& row : stack.rows) {
        EXPECT_GE(row.height, layout::kLeastSlot);
    }
    EXPECT_EQ(stack.rows.size(), info.buffers.size());
}

TEST(Memory, slotsOfOneOperandMergeBeforeAnyGetsTooLow)
{
    const trace::Info info = genericRun(sixOperands()).trace->info();
    const layout::SlotStack stack = layout::stackSlots(info, placesIn(info, 1), 0, 140);
    ASSERT_EQ(stack.rows.size(), 8U); // six operands and two scratch buffers
    Bytes sum;
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_TRUE(stack.rows[i].merged());
    }
    for (const layout::SlotRow& row : stack.rows) {
        EXPECT_GE(row.height, layout::kLeastSlot);
        sum += row.bytes;
    }
    Bytes all;
    for (const trace::Buffer& buffer : info.buffers) {
        all += buffer.bytes;
    }
    EXPECT_EQ(sum, all);
}

TEST(Memory, ofMoreSlotsThanCanBeToldApartTheLargestAreShown)
{
    GenericKernel kernel = sixOperands();
    std::int64_t largest = 0;
    for (std::int64_t i = 0; i < 60; ++i) {
        kernel.scratch.emplace_back("s" + std::to_string(i), 4096 * (1 + i * 37 % 60));
        largest = std::max(largest, kernel.scratch.back().second);
    }
    const RunView run = genericRun(kernel);
    const trace::Info& info = run.trace->info();
    const layout::SlotStack stack = layout::stackSlots(info, placesIn(info, 1), 0, 200);
    EXPECT_FALSE(stack.scaled);
    EXPECT_LE(stack.bottom, 200 - layout::kLeastSlot); // the last line says how many are hidden
    ASSERT_FALSE(stack.rows.empty());
    Bytes least = stack.rows.front().bytes, shown;
    std::int64_t buffers = 0;
    for (const layout::SlotRow& row : stack.rows) {
        EXPECT_GE(row.height, layout::kLeastSlot);
        least = std::min(least, row.bytes);
        shown += row.bytes;
        buffers += static_cast<std::int64_t>(row.size());
    }
    Bytes all;
    for (const trace::Buffer& buffer : info.buffers) {
        all += buffer.bytes;
    }
    EXPECT_EQ(shown + stack.hiddenBytes, all);
    EXPECT_EQ(buffers + stack.hidden, static_cast<std::int64_t>(info.buffers.size()));
    EXPECT_GT(stack.hidden, 0);
    for (std::size_t i = 0; i < info.buffers.size(); ++i) {
        const bool inRow =
            std::any_of(stack.rows.begin(), stack.rows.end(), [&](const layout::SlotRow& row) {
                const auto* const first = stack.places.data() + row.first;
                return std::any_of(first, first + row.size(), [i](const layout::Place& place) {
                    return place.buffer == static_cast<std::int32_t>(i);
                });
            });
        EXPECT_TRUE(inRow || info.buffers[i].operand >= 0 || info.buffers[i].bytes <= least) << i;
    }
    const Scene scene = layoutMemory(run, at(run, 0.5), {347, 420});
    const std::vector<layout::TextItem> texts = textsOf(scene);
    EXPECT_TRUE(std::any_of(texts.begin(), texts.end(), [](const layout::TextItem& item) {
        return item.text.starts_with("and ") && item.text.ends_with("iB");
    }));
}

// Even with as many arrays as there may be, slots get room, because the view is for them.
TEST(Memory, manyArraysLeaveRoomForTheSlots)
{
    trace::TraceBuilder builder = genericBuilder(sixOperands());
    const trace::Operand first = builder.info.operands[0];
    for (int i = 0; i < 40; ++i) {
        trace::Operand more = first;
        more.name = "copy " + std::to_string(i);
        more.pipeline = trace::kNone;
        more.slots = 0;
        std::fill(more.gridAxes.begin(), more.gridAxes.end(), trace::kNone);
        builder.info.operands.edit().push_back(more);
    }
    const RunView run = viewOf(std::move(builder));
    for (const layout::Size size : {layout::Size{347, 420}, layout::Size{449, 660}}) {
        const Scene scene = layoutMemory(run, at(run, 0.5), size);
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(run.trace->info().buffers.size());
             ++i) {
            EXPECT_GE(bufferRect(scene, i).h, layout::kLeastSlot - 3) << i;
        }
    }
    // All operands that copy one array share a strip, whatever their lines. Strips of pipelines
    // come first.
    trace::TraceBuilder other = genericBuilder(sixOperands());
    other.info = run.trace->info();
    std::vector<trace::Operand>& operands = other.info.operands.edit();
    operands.push_back(operands.back());
    operands[6].arrayBytes = first.arrayBytes * 2;
    operands[7].arrayBytes = first.arrayBytes * 4;
    const layout::Strips strips = layout::stripsOf(viewOf(std::move(other)), Picoseconds(0));
    ASSERT_EQ(strips.size(), 46U);
    EXPECT_EQ(strips[5], (std::vector<std::int32_t>{5}));
    EXPECT_EQ(strips[6], (std::vector<std::int32_t>{7}));
    EXPECT_EQ(strips[7], (std::vector<std::int32_t>{6}));
    EXPECT_EQ(strips.back(), (std::vector<std::int32_t>{45, 46}));
}

TEST(Memory, everyBufferIsFoundUnderTheCursorMergedOrNot)
{
    const RunView run = genericRun(sixOperands());
    for (const layout::Size size : {kMemorySize, layout::Size{347, 420}, layout::Size{347, 760}}) {
        const Scene scene = layoutMemory(run, at(run, 0.5), size);
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(run.trace->info().buffers.size());
             ++i) {
            const Rect rect = bufferRect(scene, i);
            const layout::Target found =
                hitTest(scene, rect.x + rect.w / 2, rect.y + rect.h / 2, 0);
            EXPECT_EQ(found, (layout::Target(target::Buffer{i})));
        }
    }
}

TEST(Memory, theStripsSayTheBytesOfTheIndex)
{
    for (const RunView& run : {mainJobView(), genericRun(sixOperands())}) {
        for (const double share : {0.0, 0.013, 0.5, 1.0}) {
            const layout::ViewState state = at(run, share);
            const Scene scene = layoutMemory(run, state, kMemorySize);
            for (std::size_t i = 0; i < run.trace->info().operands.size(); ++i) {
                const auto operand = static_cast<std::int32_t>(i);
                const layout::TextItem name = textWith(scene, run.trace->info().operands[i].name);
                const double moved = run.index->moved(trace::OperandRow{operand}, state.now).all();
                const std::vector<std::string> row =
                    textsAt(scene, name.rect.y + name.rect.h / 2, 1);
                ASSERT_EQ(row.size(), 2U);
                EXPECT_EQ(row[1], bytesText(Bytes(std::llround(moved))));
            }
        }
    }
}

TEST(Memory, theStripsHoldEveryBlockOrFoldThem)
{
    const RunView run = mainJobView();
    const Scene scene = layoutMemory(run, at(run, 0), kMemorySize);
    std::int64_t blocks = 0;
    for (const layout::Hit& hit : scene.hits) {
        blocks += isBlockOf(hit.target, 1) ? 1 : 0;
    }
    EXPECT_EQ(blocks, 64);
    const RunView many = genericRun(product(64, 1));
    const Scene folded = layoutMemory(many, at(many, 0.5), kMemorySize);
    for (const layout::Hit& hit : folded.hits) {
        EXPECT_GE(hit.rect.w, 1);
        EXPECT_LE(hit.rect.right(), kMemorySize.width);
    }
}

// Their numbers are those of their first elements, of which no two neighbours are copied.
TEST(Memory, theStripsDrawWindowsWholeInCellsOfTheirArray)
{
    const RunView run = windowsRun(1);
    const Rect strip = aroundAll(layoutMemory(run, at(run, 1), kMemorySize), 0, {});
    const trace::Copies& copies = run.trace->copies();
    std::int64_t seen = 0;
    for (std::size_t row = 0; row < copies.size(); ++row) {
        if (copies.operand[row] != 0) {
            continue;
        }
        SCOPED_TRACE(copies.block[row]);
        const Scene scene = layoutMemory(run, at(Picoseconds(copies.start[row])), kMemorySize);
        const layout::FillItem* inFlight = nullptr;
        for (std::int64_t cell = 0; cell < 9; ++cell) { // of two rows
            const double x = strip.x + strip.w * (static_cast<double>(cell) + 0.5) / 9;
            const layout::FillItem* const fill = fillAt(scene, x, strip.y + strip.h / 2);
            ASSERT_NE(fill, nullptr);
            const bool isItsCell =
                cell >= copies.block[row] / 2 && cell < copies.block[row] / 2 + 3;
            if (isItsCell) {
                EXPECT_EQ(hitTest(scene, x, strip.y + strip.h / 2, 0),
                          layout::Target(target::Block{0, copies.block[row]}));
                inFlight = inFlight == nullptr ? fill : inFlight;
            }
            EXPECT_EQ(inFlight != nullptr && fill->color == inFlight->color, isItsCell) << cell;
        }
        ++seen;
    }
    EXPECT_EQ(seen, 4);
}

TEST(Memory, theQueueStandsInIssueOrderAndTheFirstOneMoves)
{
    const RunView run = mainJobView();
    const trace::Copies& copies = run.trace->copies();
    const std::size_t row = 6;
    const Picoseconds now((copies.start[row] + copies.end[row]) / 2);
    const Scene scene = layoutMemory(run, at(now), kMemorySize);
    const trace::CopyRange range = trace::copiesInFlight(*run.trace, trace::LinkRow{0}, now);
    ASSERT_GE(range.size(), 2U);
    double x = 0;
    for (std::size_t copy = range.first; copy < range.last; ++copy) {
        const std::vector<Rect> frames =
            framesOf(scene, target::Copy{static_cast<std::int64_t>(copy)});
        ASSERT_FALSE(frames.empty());
        EXPECT_GT(frames.back().x, x);
        x = frames.back().x;
    }
    EXPECT_TRUE(hasText(scene, "50 %"));
    EXPECT_TRUE(hasText(scene, "waits"));
}

// The core waits for the matrix unit, which itself does not wait.
TEST(Memory, aUnitAtWorkOnItsOwnDoesNotWaitWithTheCore)
{
    trace::TraceBuilder builder = mainJobBuilder();
    const trace::Waits& waits = builder.waits;
    std::size_t longest = 0;
    for (std::size_t row = 0; row < waits.begin.size(); ++row) {
        const auto length = [&](std::size_t of) { return waits.end[of] - waits.begin[of]; };
        longest = waits.step[row] > 4 && length(row) > length(longest) ? row : longest;
    }
    const std::int64_t begin = waits.begin[longest];
    std::size_t dot = 0;
    trace::Mark mark;
    for (std::size_t i = 0; i < builder.info.templates.size(); ++i) {
        for (const trace::Mark& one : builder.info.templates[i].marks) {
            if (builder.info.units[static_cast<std::size_t>(one.unit)].kind == UnitKind::Matrix) {
                dot = i;
                mark = one;
            }
        }
    }
    const trace::SegmentTemplate& segment = builder.info.templates[dot];
    const Picoseconds now(begin + trace::markTime(segment, mark.offset) + 1);
    ASSERT_LT(now.value(), waits.end[longest]);
    const auto unitWaits = [&](const RunView& run) {
        const Scene scene = layoutMemory(run, at(now), kMemorySize);
        const Rect name = textWith(scene, "MXU").rect;
        const std::vector<std::string> line = textsAt(scene, name.y + name.h / 2);
        return std::count(line.begin(), line.end(), "waits") == 1;
    };
    EXPECT_TRUE(unitWaits(runViewOf(mainJobBuilder().finish().value())));

    builder.info.agents.push_back(builder.info.agents[0] + " MXU 0");
    trace::Segments& segments = builder.segments;
    const auto row = std::upper_bound(segments.begin.begin(), segments.begin.end(), begin)
                     - segments.begin.begin();
    segments.templateId.insert(segments.templateId.begin() + row, static_cast<std::int32_t>(dot));
    segments.agent.insert(segments.agent.begin() + row, 1);
    segments.step.insert(segments.step.begin() + row, waits.step[longest]);
    segments.begin.insert(segments.begin.begin() + row, begin);
    EXPECT_FALSE(unitWaits(runViewOf(std::move(builder).finish().value())));
}

TEST(Memory, aLongQueueEndsInACount)
{
    GenericKernel kernel = sixOperands();
    kernel.bodyCycles = 1; // the core runs ahead of the link, so all inputs of a step queue up
    const RunView run = genericRun(kernel);
    const trace::CopyRange first =
        trace::copiesInFlight(*run.trace, trace::LinkRow{0}, Picoseconds(1));
    ASSERT_GE(first.size(), 5U);
    const Scene scene = layoutMemory(run, at(Picoseconds(1)), {232, 400});
    std::size_t shown = 0;
    for (std::size_t row = first.first; row < first.last; ++row) {
        shown += framesOf(scene, target::Copy{static_cast<std::int64_t>(row)}).empty() ? 0U : 1U;
    }
    EXPECT_LT(shown, first.size());
    EXPECT_TRUE(hasText(scene, "+" + std::to_string(first.size() - shown)));
}

TEST(Memory, theCaptionSaysRateFractionQueueAndBytes)
{
    const RunView run = mainJobView();
    for (const double share : {0.0, 0.05, 0.31, 0.77, 1.0}) {
        const layout::ViewState state = at(run, share);
        const std::string caption = layoutMemory(run, state, kMemorySize).caption;
        const trace::CopyRange range =
            trace::copiesInFlight(*run.trace, trace::LinkRow{0}, state.now);
        EXPECT_NE(caption.find("VMEM |4| of 16 MiB"), std::string::npos) << caption;
        if (range.empty()) {
            EXPECT_NE(caption.find("link |idle|"), std::string::npos) << caption;
            continue;
        }
        const double fraction =
            trace::copyFraction(*run.trace, trace::CopyRow::at(range.first), state.now);
        EXPECT_NE(caption.find("|655 GB/s|"), std::string::npos) << caption;
        EXPECT_NE(caption.find("|" + percentText(fraction, 0) + "|"), std::string::npos) << caption;
        EXPECT_NE(caption.find("|" + std::to_string(range.size() - 1) + "| queued"),
                  std::string::npos)
            << caption;
    }
}

TEST(Memory, everyPhaseOfASlotHasItsWords)
{
    const RunView run = mainJobView();
    const auto words = [&](std::int32_t buffer, trace::SlotPhase phase) {
        const Picoseconds t = whenSlotIs(run, buffer, phase);
        return layout::slotWords(run, placeOf(run, buffer), t);
    };
    EXPECT_EQ(words(5, trace::SlotPhase::Empty), "undefined until step 8");
    EXPECT_EQ(words(1, trace::SlotPhase::Queued), "queued");
    EXPECT_EQ(words(1, trace::SlotPhase::Arriving).rfind("arriving ", 0), 0U);
    EXPECT_EQ(words(1, trace::SlotPhase::Ready).rfind("ready for step ", 0), 0U);
    EXPECT_EQ(words(1, trace::SlotPhase::InUse), "in use");
    EXPECT_EQ(words(4, trace::SlotPhase::Leaving).rfind("leaving ", 0), 0U);
    EXPECT_EQ(layout::slotWords(run, placeOf(run, 4), Picoseconds(0)), "undefined until stored");
    const trace::Steps& steps = run.trace->steps();
    EXPECT_EQ(layout::slotWords(run, placeOf(run, 4), Picoseconds(steps.bodyBegin[2] + 1)),
              "step 3 of 8 of this block");
    EXPECT_EQ(layout::slotWords(run, placeOf(run, 4), Picoseconds(steps.end[2] - 1)),
              "step 3 of 8 of this block")
        << "its overhead is its own";
    EXPECT_EQ(layout::slotWords(run, placeOf(run, 4), Picoseconds(steps.bodyBegin[12])),
              "written back, free");
}

TEST(Memory, undefinedSlotsAreHatched)
{
    const RunView run = mainJobView();
    const Scene scene = layoutMemory(run, at(Picoseconds(0)), kMemorySize);
    const Rect slot = bufferRect(scene, 5);
    bool hatched = false;
    for (const layout::Item& item : scene.items) {
        const auto* hatch = std::get_if<layout::HatchItem>(&item);
        hatched = hatched
                  || (hatch != nullptr && hatch->hatch == layout::Hatch::Undefined
                      && hatch->rect.contains(slot.x + 5, slot.y + 5));
    }
    EXPECT_TRUE(hatched);
}

TEST(Memory, aBusyUnitSaysWhatItDoesAndHowFarItIs)
{
    const RunView run = mainJobView();
    const trace::Steps& steps = run.trace->steps();
    const std::int64_t middle = (steps.bodyBegin[2] + steps.bodyEnd[2]) / 2;
    EXPECT_TRUE(hasText(layoutMemory(run, at(Picoseconds(middle)), kMemorySize), "dot 50 %"));
    EXPECT_TRUE(hasText(layoutMemory(run, at(Picoseconds(steps.bodyEnd[2] + 10)), kMemorySize),
                        "step 0 %"));
    EXPECT_TRUE(hasText(layoutMemory(run, at(Picoseconds(100)), kMemorySize), "waits"));
}

TEST(Memory, noTextLeavesTheSceneAtAnySize)
{
    const RunView runs[] = {mainJobView(), genericRun(vectorSum()), genericRun(gridless()),
                            genericRun(rankFour()), genericRun(sixOperands())};
    for (const RunView& run : runs) {
        for (const layout::Size size :
             {layout::Size{232, 420}, {232, 300}, {347, 420}, {449, 664}, {960, 700}}) {
            for (const double share : {0.0, 0.35, 0.8, 1.0}) {
                const Scene scene = layoutMemory(run, at(run, share), size);
                EXPECT_EQ(textsOutside(scene), std::vector<std::string>()) << size.width;
            }
        }
    }
}

} // namespace pallascope::test
