// The grid view of arrays that manual DMA copies, and of arrays of any rank: every cell in its
// state, against a search through the whole trace.
#include "core/base/format.h"
#include "core/trace/manual_arrays.h"
#include "core/trace/manual_cut.h"
#include "tests/layout_views/generic_run.h"
#include "tests/layout_views/scene_probe.h"
#include "views/layout/grid/block_cells.h"
#include "views/layout/grid/flow.h"
#include "views/layout/grid/grid.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/run/view_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace pallascope::test {

namespace {

using layout::Rect;
using layout::RunView;
using layout::Scene;
namespace target = layout::target;

constexpr layout::Size kArraysSize = {560, 578};
constexpr Extent kPages = 12; // of which the last two are never copied

trace::Operand manualOperand(const std::string& name, trace::Direction direction,
                             const std::vector<Extent>& array, const std::vector<Extent>& block)
{
    trace::Operand operand;
    operand.name = name;
    operand.direction = direction;
    operand.array = Shape(array);
    operand.block = Shape(block);
    for (std::size_t axis = 0; axis < array.size(); ++axis) {
        operand.blockCounts.push_back(ceilDiv(array[axis], block[axis]));
        operand.gridAxes.push_back(-1);
    }
    operand.pipeline = -1;
    operand.slots = 0;
    operand.arrayBytes = Bytes(operand.array.elements() * 4);
    operand.blockBytes = Bytes(operand.block.elements() * 4);
    return operand;
}

void addCopy(trace::TraceBuilder& builder, std::int32_t operand, std::int64_t block,
             std::int64_t issue, std::int64_t length)
{
    trace::Copies& copies = builder.copies;
    const trace::Operand& of = builder.info.operands[static_cast<std::size_t>(operand)];
    const std::int64_t free = copies.end.empty() ? 0 : copies.end.back();
    copies.operand.push_back(operand);
    copies.block.push_back(block);
    copies.slot.push_back(0);
    copies.out.push_back(of.direction == trace::Direction::Out ? 1 : 0);
    copies.link.push_back(0);
    copies.step.push_back(-1);
    copies.bytes.push_back(of.blockBytes.value());
    copies.issue.push_back(issue);
    copies.start.push_back(std::max(issue, free));
    copies.end.push_back(copies.start.back() + length);
    builder.end = std::max(builder.end, Picoseconds(copies.end.back()));
}

trace::TraceBuilder withoutPipeline()
{
    trace::TraceBuilder builder = genericBuilder(gridless());
    builder.info.pipelines.clear();
    builder.info.buffers.edit().clear();
    builder.info.operands.edit().clear();
    builder.steps = {};
    builder.segments = {};
    builder.copies = {};
    builder.waits = {};
    builder.visits = {};
    builder.end = Picoseconds(0);
    return builder;
}

// No grid: 60 copies of pages into scratch from two lines, and 12 of rows out of it.
RunView manualRun()
{
    trace::TraceBuilder builder = withoutPipeline();
    const std::vector<Extent> pages = {kPages, 8, 128}, page = {1, 8, 128};
    builder.info.operands.edit() = {
        manualOperand("kv → bufs", trace::Direction::In, pages, page),
        manualOperand("kv → bufs", trace::Direction::In, pages, page),
        manualOperand("acc → out", trace::Direction::Out, {96, 128}, {8, 128})};
    builder.info.operands.edit()[1].source.line = 7;
    std::mt19937 random(5);
    std::int64_t now = 0;
    for (int i = 0; i < 60; ++i) {
        addCopy(builder, i % 5 == 0 ? 1 : 0, static_cast<std::int64_t>(random() % (kPages - 2)),
                now, 800'000);
        if (i % 5 == 4) {
            addCopy(builder, 2, i / 5, now, 300'000);
        }
        now += static_cast<std::int64_t>(random() % 3) * 700'000;
    }
    return viewOf(std::move(builder));
}

// What a search through all copies says of the blocks of these operands.
trace::BlockState searched(const RunView& run, const std::set<std::int32_t>& operands,
                           std::int64_t block, std::int64_t now)
{
    const trace::Copies& copies = run.trace->copies();
    trace::BlockState state;
    for (std::size_t row = 0; row < copies.size(); ++row) {
        if (!operands.contains(copies.operand[row]) || copies.block[row] != block
            || copies.issue[row] > now) {
            continue;
        }
        const bool out = copies.out[row] != 0;
        if (copies.end[row] <= now) {
            ++state.copies;
            state.phase = out ? trace::BlockPhase::Written : trace::BlockPhase::Before;
            continue;
        }
        state.phase = out                        ? trace::BlockPhase::Leaving
                      : copies.start[row] <= now ? trace::BlockPhase::Arriving
                                                 : trace::BlockPhase::Queued;
        state.fraction = trace::copyFraction(*run.trace, trace::CopyRow::at(row), Picoseconds(now));
        break; // those behind it have not begun
    }
    return state;
}

// The colour at the bottom of a cell or at its top, where a block that arrives and one that leaves
// show how far they are.
layout::Color colorAt(const Scene& scene, const Rect& cell, bool bottom)
{
    const layout::FillItem* fill =
        fillAt(scene, cell.x + 3, bottom ? cell.bottom() - 4 : cell.y + 2.5);
    return fill == nullptr ? layout::Color(layout::Role::View) : fill->color;
}

std::vector<Picoseconds> moments(const RunView& run)
{
    std::mt19937 random(11);
    std::vector<Picoseconds> times{Picoseconds(0), run.trace->end()};
    const trace::Copies& copies = run.trace->copies();
    for (std::size_t row = 0; row < std::min<std::size_t>(copies.size(), 20); ++row) {
        times.insert(times.end(), {Picoseconds(copies.issue[row]), Picoseconds(copies.start[row]),
                                   Picoseconds(copies.end[row])});
    }
    for (int i = 0; i < 40; ++i) {
        times.emplace_back(static_cast<std::int64_t>(random())
                           % std::max<std::int64_t>(1, run.trace->end().value()));
    }
    return times;
}

} // namespace

TEST(Arrays, eachCellOfManualDmaIsInTheStateThatItsCopiesGiveIt)
{
    const RunView run = manualRun();
    const auto& all = run.index->manualArrays(0).all();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].name, "kv");
    EXPECT_EQ(all[0].cells(), kPages);
    EXPECT_EQ(all[1].name, "out");
    EXPECT_EQ(all[1].cells(), 12);
    std::set<trace::BlockPhase> seen;
    for (const Picoseconds now : moments(run)) {
        for (const trace::ManualArray& array : all) {
            for (std::int64_t cell = 0; cell < array.cells(); ++cell) {
                const trace::BlockState state =
                    run.index->manualArrays(0).stateAt(*run.trace, array, cell, now);
                const trace::BlockState wanted = searched(
                    run, {array.operands.begin(), array.operands.end()}, cell, now.value());
                ASSERT_EQ(state.phase, wanted.phase) << array.name << cell << " " << now.value();
                ASSERT_EQ(state.copies, wanted.copies) << array.name << cell;
                ASSERT_EQ(state.fraction, wanted.fraction) << array.name << cell;
                seen.insert(state.phase);
            }
        }
    }
    EXPECT_EQ(seen.size(), 6U); // all that a trace without the ends of copies can say
}

// Pages 4 and 7 go to two slots, then page 2 goes where page 4 lay.
TEST(Arrays, aBlockIsInItsSlotUntilACopyIntoItIsStarted)
{
    trace::TraceBuilder builder = withoutPipeline();
    builder.info.operands.edit() = {
        manualOperand("kv → bufs", trace::Direction::In, {kPages, 8, 128}, {1, 8, 128})};
    builder.info.buffers.edit() = {{"bufs", -1, 0, 1, Bytes(0), Bytes(2 * 4096), DType::F32,
                                    Shape(std::vector<Extent>{2, 8, 128})}};
    builder.info.copiedShapes = {Shape(std::vector<Extent>{1, 8, 128})};
    const auto copyTo = [&](std::int64_t page, std::int64_t slot, std::int64_t issue) {
        addCopy(builder, 0, page, issue, 500);
        const auto copy = static_cast<std::int32_t>(builder.copies.size()) - 1;
        trace::CopyEnds& ends = builder.copyEnds;
        for (const bool isTarget : {false, true}) {
            ends.copy.push_back(copy);
            ends.agent.push_back(0);
            ends.buffer.push_back(isTarget ? 0 : -1);
            ends.first.push_back((isTarget ? slot : page) * 1024);
            ends.shape.push_back(0);
            ends.semaphore.push_back(-1);
        }
    };
    copyTo(4, 0, 0);
    copyTo(7, 1, 600);
    copyTo(2, 0, 2000);
    const RunView run = viewOf(std::move(builder));
    const auto& manual = run.index->manualArrays(0);
    ASSERT_EQ(manual.all().size(), 1U);
    const auto phaseAt = [&](std::int64_t cell, std::int64_t now) {
        return manual.stateAt(*run.trace, manual.all()[0], cell, Picoseconds(now)).phase;
    };
    EXPECT_EQ(phaseAt(4, 500), trace::BlockPhase::Ready); // nobody waits for it
    EXPECT_EQ(phaseAt(4, 1999), trace::BlockPhase::Ready);
    EXPECT_EQ(phaseAt(4, 2000), trace::BlockPhase::Before);
    EXPECT_EQ(phaseAt(7, 2400), trace::BlockPhase::Ready);
    EXPECT_EQ(phaseAt(2, 2400), trace::BlockPhase::Arriving);
    EXPECT_EQ(phaseAt(3, 2400), trace::BlockPhase::Never);
    const auto moved = trace::ManualArrays::movedBy(*run.trace, manual.all()[0], Picoseconds(2250));
    EXPECT_EQ(moved.read, 2.5 * 4096);
    EXPECT_EQ(moved.written, 0);
    EXPECT_TRUE(hasText(layoutGrid(run, at(Picoseconds(2400)), kArraysSize), "kv(2) → bufs[0]"));
}

TEST(Arrays, eachCellOfManualDmaLooksLikeItsState)
{
    const RunView run = manualRun();
    for (const Picoseconds now : moments(run)) {
        const Scene scene = layoutGrid(run, at(now), kArraysSize);
        std::set<std::pair<std::int64_t, std::int64_t>> found;
        for (const layout::Hit& hit : scene.hits) {
            const auto* block = std::get_if<target::Block>(&hit.target);
            if (block == nullptr || block->operand == 2) {
                continue;
            }
            const trace::BlockState wanted = searched(run, {0, 1}, block->block, now.value());
            const layout::Role role = layout::operandRole(run, trace::OperandRow{0});
            found.insert({0, block->block});
            if (wanted.phase == trace::BlockPhase::Arriving && wanted.fraction > 0.4) {
                EXPECT_EQ(colorAt(scene, hit.rect, true), layout::Color(role));
            } else if (wanted.phase == trace::BlockPhase::Never
                       || wanted.phase == trace::BlockPhase::Before) {
                EXPECT_EQ(colorAt(scene, hit.rect, true), blockFill(wanted, role, false));
            }
        }
        EXPECT_EQ(found.size(), std::size_t{kPages}); // those that are never copied too
    }
}

TEST(Arrays, theCaptionSaysWhatIsOnItsWayAndWhatWasRead)
{
    const RunView run = manualRun();
    const trace::Copies& copies = run.trace->copies();
    const std::size_t row = 3;
    const Picoseconds now((copies.start[row] + copies.end[row]) / 2);
    const std::string caption = layoutGrid(run, at(now), kArraysSize).caption;
    EXPECT_NE(
        caption.find(trace::copyLabel(*run.trace, trace::CopyRow::at(row)) + " |50 %| on its way"),
        std::string::npos)
        << caption;
    EXPECT_NE(caption.find("|14 KiB| read"), std::string::npos) << caption; // 3.5 pages of 4 KiB
    EXPECT_TRUE(hasText(layoutGrid(run, at(now), kArraysSize), "Copies between arrays and slots"));
}

TEST(Arrays, ofManualDmaNothingIsEverBlank)
{
    const RunView run = manualRun();
    for (const layout::Size size : {layout::Size{232, 200}, {333, 462}, {495, 706}, {960, 700}}) {
        for (const double share : {0.0, 0.3, 1.0}) {
            const Scene scene = layoutGrid(run, at(run, share), size);
            EXPECT_FALSE(scene.hits.empty()) << size.width;
            EXPECT_FALSE(scene.caption.empty());
            EXPECT_EQ(textsOutside(scene), std::vector<std::string>()) << size.width;
        }
    }
}

TEST(Arrays, ofAnyRankEachBlockHasACellInItsState)
{
    const RunView run = genericRun(rankFour());
    const auto& operands = run.trace->info().operands;
    for (const Picoseconds now : moments(run)) {
        const Scene scene = layoutGrid(run, at(now), kArraysSize);
        std::map<std::int64_t, std::set<std::int64_t>> found;
        for (const layout::Hit& hit : scene.hits) {
            const auto* block = std::get_if<target::Block>(&hit.target);
            ASSERT_NE(block, nullptr);
            found[block->operand].insert(block->block);
            const auto operand = static_cast<std::int32_t>(block->operand);
            const trace::BlockState state =
                run.index->blockStateAt(trace::OperandRow{operand}, block->block, now);
            if (state.phase == trace::BlockPhase::Never
                || state.phase == trace::BlockPhase::Written) {
                const bool out = layout::parts::writes(operands[static_cast<std::size_t>(operand)]);
                EXPECT_EQ(
                    colorAt(scene, hit.rect, true),
                    blockFill(state, layout::operandRole(run, trace::OperandRow{operand}), out));
            }
        }
        for (std::size_t operand = 0; operand < operands.size(); ++operand) {
            EXPECT_EQ(static_cast<std::int64_t>(found[static_cast<std::int64_t>(operand)].size()),
                      layout::parts::blockTotal(operands[operand]));
        }
    }
}

// Twelve arrays of rank 1 to 5, in blocks of one row.
GenericKernel twelveOperands()
{
    GenericKernel kernel;
    kernel.grid = {2, 16};
    for (int i = 0; i < 12; ++i) {
        const std::size_t rank = 1 + static_cast<std::size_t>(i) % 5;
        std::vector<Extent> array(rank, 2), block(rank, 1);
        std::vector<std::int32_t> axes(rank, 0);
        array.back() = block.back() = 128;
        axes.back() = -1;
        if (rank > 1) {
            array[rank - 2] = 16;
            axes[rank - 2] = 1;
        }
        for (std::size_t axis = 1; axis + 2 < rank; ++axis) {
            axes[axis] = -1;
            block[axis] = array[axis];
        }
        kernel.operands.push_back({"operand" + std::to_string(i),
                                   i < 9 ? trace::Direction::In : trace::Direction::Out, array,
                                   block, axes});
    }
    return kernel;
}

TEST(Arrays, twelveOperandsAreAllReadable)
{
    const RunView run = genericRun(twelveOperands());
    const Scene scene = layoutGrid(run, at(run, 0.4), {333, 420});
    std::map<std::int64_t, Rect> first;
    for (const layout::Hit& hit : scene.hits) {
        if (const auto* block = std::get_if<target::Block>(&hit.target)) {
            first.try_emplace(block->operand, hit.rect);
        }
    }
    ASSERT_EQ(first.size(), 12U);
    for (const auto& [operand, rect] : first) {
        EXPECT_TRUE(hasText(scene, "operand" + std::to_string(operand)));
        EXPECT_GE(rect.w, 4) << operand;
        EXPECT_GE(rect.h, 4) << operand;
        EXPECT_LE(rect.w / rect.h, 8) << operand; // of a whole array in one cell
        EXPECT_LE(rect.h / rect.w, 4) << operand;
    }
    EXPECT_EQ(textsOutside(scene), std::vector<std::string>());
}

TEST(Arrays, whatIsCutUnevenlyIsCutWhereCopiesBeginAndEnd)
{
    const trace::ManualEnd first{0, false, {{0, 48}}}, second{1, false, {{48, 112}}},
        third{2, false, {{113, 177}}};
    EXPECT_EQ(trace::cutOf({192}, {first, second, third}),
              (std::vector<std::vector<Extent>>{{0, 48, 112, 113, 177, 192}}));
    EXPECT_FALSE(trace::isEvenCut({0, 48, 112, 192}));
    const trace::ManualEnd page{0, false, {{32, 48}}}, row{1, true, {{7, 8}}},
        last{2, false, {{96, 100}}};
    EXPECT_EQ(trace::cutOf({100}, {page, last}).front(),
              (std::vector<Extent>{0, 16, 32, 48, 64, 80, 96, 100}));
    EXPECT_EQ(trace::cutOf({100}, {page, row}).front().size(), 101U);
    EXPECT_EQ(trace::cutOf({100}, {{0, false, {{0, 100}}}}).front(), (std::vector<Extent>{0, 100}));
    EXPECT_TRUE(trace::isEvenCut({0, 16, 32, 36}));
}

} // namespace pallascope::test
