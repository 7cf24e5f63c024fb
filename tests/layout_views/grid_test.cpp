// The grid view: its cells, headings, path, odometer, and blocks that are lists of elements.
#include "core/base/format.h"
#include "tests/layout_views/generic_run.h"
#include "tests/layout_views/scene_probe.h"
#include "tests/support/run_view_fixture.h"
#include "views/layout/grid/arrangement.h"
#include "views/layout/grid/block_cells.h"
#include "views/layout/grid/cells.h"
#include "views/layout/grid/grid.h"
#include "views/layout/memory/memory.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

namespace pallascope::test {

namespace {

using layout::Rect;
using layout::RunView;
using layout::Scene;
using layout::Target;
namespace target = layout::target;

constexpr layout::Size kGridSize = {560, 578};

std::int64_t blocksOf(const RunView& run, std::int32_t operand)
{
    std::int64_t count = 1;
    for (const Extent extent :
         run.trace->info().operands[static_cast<std::size_t>(operand)].blockCounts) {
        count *= extent;
    }
    return count;
}

// For each operand, the blocks that have a place of their own.
std::map<std::int64_t, std::set<std::int64_t>> hitBlocks(const Scene& scene)
{
    std::map<std::int64_t, std::set<std::int64_t>> blocks;
    for (const layout::Hit& hit : scene.hits) {
        if (const auto* block = std::get_if<target::Block>(&hit.target)) {
            blocks[block->operand].insert(block->block);
        }
    }
    return blocks;
}

void expectEveryCellIsItsBlock(const RunView& run, layout::Size size)
{
    const Scene scene = layoutGrid(run, at(run, 0.4), size);
    const auto blocks = hitBlocks(scene);
    for (std::int32_t operand = 0;
         operand < static_cast<std::int32_t>(run.trace->info().operands.size()); ++operand) {
        ASSERT_TRUE(blocks.count(operand) == 1) << "operand " << operand;
        EXPECT_EQ(static_cast<std::int64_t>(blocks.at(operand).size()), blocksOf(run, operand));
    }
    for (const layout::Hit& hit : scene.hits) {
        const Target found =
            hitTest(scene, hit.rect.x + hit.rect.w / 2, hit.rect.y + hit.rect.h / 2, 0);
        ASSERT_EQ(found, hit.target);
    }
}

std::size_t imagesIn(const Scene& scene)
{
    return static_cast<std::size_t>(
        std::count_if(scene.items.begin(), scene.items.end(), [](const layout::Item& item) {
            return std::holds_alternative<layout::ImageItem>(item);
        }));
}

layout::GridArrangement arranged(const RunView& run, double width = 540, double height = 500)
{
    const std::size_t count = run.trace->info().operands.size();
    const layout::HeadWidths heads = {std::vector<double>(count, 100),
                                      std::vector<double>(count, 60)};
    return arrangeGrid(run, trace::PipelineRow{0}, {0, 0, width, height}, heads);
}

} // namespace

TEST(Grid, everyBlockOfEveryOperandIsFoundUnderTheCursor)
{
    expectEveryCellIsItsBlock(mainJobView(), kGridSize);
    expectEveryCellIsItsBlock(mainJobView(), {333, 420});
    expectEveryCellIsItsBlock(genericRun(vectorSum()), kGridSize);
    expectEveryCellIsItsBlock(genericRun(rankFour()), kGridSize);
    expectEveryCellIsItsBlock(genericRun(sixOperands()), kGridSize);
    expectEveryCellIsItsBlock(genericRun(gridless()), kGridSize);
}

TEST(Grid, theNamesOfAxesAreWhole)
{
    trace::TraceBuilder builder = genericBuilder(rankFour());
    builder.info.pipelines[0].axisNames = {"batch_index", "head", "q_seq_index", "kv"};
    const RunView run = viewOf(std::move(builder));
    const Scene scene = layoutGrid(run, at(run, 0.5), kGridSize);
    // Elided if there is not enough room.
    const std::vector<layout::TextItem> texts = textsOf(scene);
    for (const std::string& name : run.trace->info().pipelines[0].axisNames) {
        const auto found =
            std::count_if(texts.begin(), texts.end(),
                          [&name](const layout::TextItem& item) { return item.text == name; });
        EXPECT_GE(found, 1) << name; // beside the steps along this axis
    }
    EXPECT_TRUE(hasText(scene, "q_seq_index ↓  kv →")); // over the blocks
}

TEST(Grid, blocksLieInRowMajorOrder)
{
    const Scene scene = layoutGrid(mainJobView(), at(Picoseconds(0)), kGridSize);
    const std::vector<Rect> first = framesOf(scene, target::Block{0, 0});
    const std::vector<Rect> right = framesOf(scene, target::Block{0, 1});
    const std::vector<Rect> below = framesOf(scene, target::Block{0, 8});
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(right[0].y, first[0].y);
    EXPECT_GT(right[0].x, first[0].x);
    EXPECT_EQ(below[0].x, first[0].x);
    EXPECT_GT(below[0].y, first[0].y);
}

TEST(Grid, dimensionsThatFollowTheSameGridAxisLineUp)
{
    const layout::GridArrangement grid = arranged(mainJobView());
    ASSERT_EQ(grid.anchor, 2U);
    ASSERT_EQ(grid.left, std::vector<std::size_t>{0});
    ASSERT_EQ(grid.above, std::vector<std::size_t>{1});
    EXPECT_EQ(grid.panels[0].y, grid.panels[2].y);
    EXPECT_EQ(grid.panels[0].cellHeight, grid.panels[2].cellHeight);
    EXPECT_EQ(grid.panels[1].x, grid.panels[2].x);
    EXPECT_EQ(grid.panels[1].cellWidth, grid.panels[2].cellWidth);
    EXPECT_LT(grid.panels[0].x, grid.panels[2].x);
    EXPECT_LT(grid.panels[1].y, grid.panels[2].y);
}

TEST(Grid, arraysThatShareNoAxisStandInARow)
{
    const layout::GridArrangement grid = arranged(genericRun(gridless()));
    EXPECT_FALSE(grid.anchor.has_value());
    EXPECT_EQ(grid.panels[0].y, grid.panels[1].y);
    EXPECT_LT(grid.panels[0].x + grid.panels[0].cellsWidth(), grid.panels[1].x);
}

TEST(Grid, panelsNeverOverlap)
{
    for (const GenericKernel& kernel :
         {vectorSum(), gridless(), rankFour(), sixOperands(), product(64, 1), product(20, 20)}) {
        for (const layout::Size size :
             {layout::Size{212, 380}, {313, 376}, {540, 534}, {940, 656}}) {
            const layout::GridArrangement grid =
                arranged(genericRun(kernel), size.width, size.height);
            for (std::size_t i = 0; i < grid.panels.size(); ++i) {
                for (std::size_t j = 0; j < i; ++j) {
                    const layout::ArrayPanel& a = grid.panels[i];
                    const layout::ArrayPanel& b = grid.panels[j];
                    const bool apart = a.x >= b.x + b.cellsWidth() || b.x >= a.x + a.cellsWidth()
                                       || a.y >= b.y + b.cellsHeight()
                                       || b.y >= a.y + a.cellsHeight();
                    EXPECT_TRUE(apart) << i << " and " << j << " at " << size.width;
                }
            }
        }
    }
}

TEST(Grid, manyBlocksBecomeOneImagePerArray)
{
    const RunView run = genericRun(product(64, 1));
    const Scene scene = layoutGrid(run, at(run, 0.3), {400, 440});
    EXPECT_EQ(imagesIn(scene), 3U);
    EXPECT_EQ(hitBlocks(scene).at(2).size(), 4096U);
    const RunView small = mainJobView();
    EXPECT_EQ(imagesIn(layoutGrid(small, at(small, 0.3), {400, 440})), 0U);
}

TEST(Grid, aFoldedImageHasNoMoreCellsThanPixelsAndKeepsTheCurrentBlock)
{
    const RunView run = genericRun(product(512, 1));
    const layout::ViewState state = at(run, 0.37);
    const Scene scene = layoutGrid(run, state, {400, 440});
    for (const layout::Item& item : scene.items) {
        if (const auto* image = std::get_if<layout::ImageItem>(&item)) {
            EXPECT_LE(image->columns, image->rect.w + 1);
            EXPECT_LE(image->rows, image->rect.h + 1);
            EXPECT_EQ(image->cells.size(), static_cast<std::size_t>(image->columns * image->rows));
            for (const std::uint8_t cell : image->cells) {
                ASSERT_LT(cell, image->palette.size());
            }
        }
    }
    const trace::StepRow step = *trace::stepAt(*run.trace, state.now);
    const trace::OptionalRow<trace::VisitRow> visit =
        trace::visitAt(*run.trace, trace::OperandRow{2}, step);
    const std::int64_t current = run.trace->visits().block[visit->index()];
    EXPECT_EQ(hitBlocks(scene).at(2).count(current), 1U);
    EXPECT_LT(scene.hits.size(), 60'000U);
}

TEST(Grid, theOverhangingBlockIsDrawnCut)
{
    const RunView run = genericRun(vectorSum()); // 1000 = 7 · 128 + 104
    const Scene scene = layoutGrid(run, at(run, 0.1), kGridSize);
    const Rect whole = framesOf(scene, target::Block{0, 6}).at(0);
    const Rect cut = framesOf(scene, target::Block{0, 7}).at(0);
    EXPECT_NEAR((cut.w - 1) / (whole.w - 1), 104.0 / 128, 0.03);
}

TEST(Grid, aBlockInUseStandsInATextFrameAndAnUntouchedOneIsEmpty)
{
    const RunView run = mainJobView();
    const Scene scene =
        layoutGrid(run, at(Picoseconds(run.trace->steps().bodyBegin[2] + 1000)), kGridSize);
    const Rect used = framesOf(scene, target::Block{0, 2}).at(0); // x(0,2)
    const layout::FillItem* frame = fillAt(scene, used.x - 0.5, used.y + used.h / 2);
    ASSERT_NE(frame, nullptr);
    EXPECT_EQ(frame->color, layout::Color(layout::Role::Text));
    const Rect never = framesOf(scene, target::Block{0, 63}).at(0);
    const layout::FillItem* fill = fillAt(scene, never.x + 2, never.y + 2);
    ASSERT_NE(fill, nullptr);
    EXPECT_EQ(fill->color, layout::Color(layout::Role::Grid));
}

TEST(Grid, theArrivingBlockIsFilledFromBelowToItsFraction)
{
    const RunView run = mainJobView();
    const trace::Copies& copies = run.trace->copies();
    const std::size_t row = 6; // x(0,3), issued in step 2
    const std::int64_t now = copies.start[row] + (copies.end[row] - copies.start[row]) * 3 / 4;
    const Scene scene = layoutGrid(run, at(Picoseconds(now)), kGridSize);
    const Rect cell = framesOf(scene, target::Block{copies.operand[row], copies.block[row]}).at(0);
    double filled = 0;
    for (const layout::Item& item : scene.items) {
        const auto* fill = std::get_if<layout::FillItem>(&item);
        if (fill != nullptr && fill->color == layout::Color(layout::Role::Operand1)
            && fill->rect.x == cell.x && fill->rect.w == cell.w - 1
            && fill->rect.bottom() == cell.y + cell.h - 1) {
            filled = std::max(filled, fill->rect.h);
        }
    }
    EXPECT_NEAR(filled / (cell.h - 1), 0.75, 0.05);
}

TEST(Grid, theCaptionSaysTheStepTheBlockAndWhatIsWritten)
{
    const RunView run = mainJobView();
    for (const double share : {0.0, 0.1, 0.6, 1.0}) {
        const layout::ViewState state = at(run, share);
        const std::int32_t step = trace::stepAt(*run.trace, state.now)->number;
        const auto index = trace::gridIndices(run.trace->info().pipelines[0], step);
        const std::string caption = layoutGrid(run, state, kGridSize).caption;
        EXPECT_NE(caption.find("step |" + countText(step) + "| of |512|"), std::string::npos)
            << caption;
        EXPECT_NE(caption.find("block |" + trace::indexText(index) + "|"), std::string::npos)
            << caption;
        const std::int64_t written = run.index->blocksWritten(trace::OperandRow{2}, state.now);
        EXPECT_NE(caption.find("|" + countText(written) + "| of |64| out written"),
                  std::string::npos);
    }
}

TEST(Grid, indicesCountFromZeroToTheLast)
{
    const Scene scene = layoutGrid(mainJobView(), at(Picoseconds(0)), kGridSize);
    EXPECT_TRUE(hasText(scene, "0 of 0–7"));
}

TEST(Grid, everyCopyMakesTheTintOfABlockStronger)
{
    float before = 0;
    for (std::int64_t copies = 1; copies < 8; ++copies) {
        const layout::Color tint = layout::copiedTint(layout::Role::Operand1, copies);
        EXPECT_GT(tint.share, before);
        before = tint.share;
    }
    EXPECT_LT(layout::copiedTint(layout::Role::Operand1, 1000).share, 1.0F);
}

TEST(Grid, noTextLeavesTheSceneAtAnySize)
{
    const RunView runs[] = {mainJobView(),
                            genericRun(vectorSum()),
                            genericRun(gridless()),
                            genericRun(rankFour()),
                            genericRun(sixOperands()),
                            genericRun(product(64, 1)),
                            genericRun(product(1, 300))};
    for (const RunView& run : runs) {
        for (const layout::Size size :
             {layout::Size{232, 420}, {333, 420}, {260, 200}, {400, 240}, {495, 664}, {960, 700}}) {
            for (const double share : {0.0, 0.5, 1.0}) {
                const Scene scene = layoutGrid(run, at(run, share), size);
                EXPECT_EQ(textsOutside(scene), std::vector<std::string>()) << size.width;
            }
        }
    }
}

TEST(Grid, moreBlocksThanNumbersReachLeaveNoneOfTheLast)
{
    trace::Info info;
    trace::Operand& operand = info.operands.edit().emplace_back();
    operand.array = Shape(std::vector<Extent>{12});
    operand.block = Shape(std::vector<Extent>{3});
    operand.blockCounts = {Extent{1} << 62};
    EXPECT_EQ(layout::arrayShape(info, trace::OperandRow{0}).lastColumn, 0);
    operand.blockCounts = {4};
    EXPECT_EQ(layout::arrayShape(info, trace::OperandRow{0}).lastColumn, 1);
}

// Four steps, each with four of the 16 rows, given by a list. No list has rows 10, 11 and 12.
RunView listedRun()
{
    GenericKernel kernel;
    kernel.grid = {4};
    kernel.operands = {{"x", trace::Direction::In, {16, 8}, {4, 8}, {0, -1}},
                       {"out", trace::Direction::Out, {16, 8}, {4, 8}, {0, -1}}};
    trace::TraceBuilder builder = genericBuilder(kernel);
    builder.info.operands.edit()[0].indirectAxis = 0;
    builder.info.operands.edit()[0].gridAxes = {-1, -1};
    builder.info.operands.edit()[0].indices = {0, 5, 5, 9, 1, 2, 3, 4, 0, 15, 14, 13, 6, 7, 8, 16};
    return viewOf(std::move(builder));
}

// As in a file that somebody has changed.
TEST(Grid, arraysOfVeryManyCellsAreDrawn)
{
    for (const bool isListed : {true, false}) {
        GenericKernel kernel;
        kernel.grid = {4};
        kernel.operands = {{"x", trace::Direction::In, {16}, {4}, {0}},
                           {"out", trace::Direction::Out, {16}, {4}, {0}}};
        trace::TraceBuilder builder = genericBuilder(kernel);
        trace::Operand& x = builder.info.operands.edit()[0];
        if (isListed) {
            x.indirectAxis = 0;
            x.gridAxes = {-1};
            x.indices = {0, 5, 5, 9, 1, 2, 3, 4, 0, 15, 14, 13, 6, 7, 8, 16};
            x.array = Shape(std::vector<Extent>{std::numeric_limits<Extent>::max()});
            EXPECT_FALSE(layout::hasListedCells(x));
        } else {
            x.blockCounts = {Extent{1} << 62};
        }
        const RunView run = viewOf(std::move(builder));
        EXPECT_FALSE(layoutGrid(run, at(run.trace->end()), kGridSize).items.empty());
        EXPECT_FALSE(layoutMemory(run, at(run.trace->end()), kGridSize).items.empty());
    }
}

TEST(Grid, listedRowsAreCellsOfTheirOwn)
{
    const RunView run = listedRun();
    const auto rowsAt = [&](Picoseconds time) { // for each block, its number of cells
        std::map<std::int64_t, std::size_t> rows;
        for (const layout::Hit& hit : layoutGrid(run, at(time), kGridSize).hits) {
            const auto* block = std::get_if<target::Block>(&hit.target);
            if (block != nullptr && block->operand == 0) {
                ++rows[block->block];
            }
        }
        return rows;
    };
    // Row 0 is in the lists of steps 0 and 2. Its cell shows the block in a slot, or else the block
    // that was copied first.
    using Rows = std::map<std::int64_t, std::size_t>;
    const auto& steps = run.trace->steps();
    EXPECT_EQ(rowsAt(Picoseconds(steps.bodyBegin[0])), (Rows{{0, 3}, {1, 4}, {2, 3}, {3, 3}}));
    EXPECT_EQ(rowsAt(Picoseconds(steps.bodyBegin[2])), (Rows{{0, 2}, {1, 4}, {2, 4}, {3, 3}}));
    EXPECT_EQ(rowsAt(run.trace->end()), (Rows{{0, 3}, {1, 4}, {2, 3}, {3, 3}}));
    EXPECT_EQ(layout::arrayShape(run.trace->info(), trace::OperandRow{0}).rows, 16);
    EXPECT_TRUE(hasText(layoutGrid(run, at(run, 0.5), kGridSize), "rows by list"));
}

TEST(Grid, aWindowInUseIsDrawnWholeWithArraysToOneScale)
{
    const RunView run = windowsRun(1);
    EXPECT_EQ(layout::arrayShape(run, trace::OperandRow{0}).rows, 9); // cells of two rows
    for (const layout::Size size : {kGridSize, layout::Size{333, 420}, layout::Size{900, 600}}) {
        for (std::int64_t step = 0; step < 4; ++step) {
            SCOPED_TRACE(std::to_string(step) + " at " + std::to_string(size.width));
            const auto begin = run.trace->steps().bodyBegin[static_cast<std::size_t>(step)];
            const Scene scene = layoutGrid(run, at(Picoseconds(begin)), size);
            const layout::Rect x = aroundAll(scene, 0, {}), out = aroundAll(scene, 1, {});
            EXPECT_NEAR(x.h / out.h, 18.0 / 16, 0.03);
            EXPECT_NEAR(x.w, out.w, 1);
            const layout::Rect used = aroundAll(scene, 0, 4 * step);
            EXPECT_NEAR(used.h / x.h, 6.0 / 18, 0.02);
            EXPECT_NEAR((used.y - x.y) / x.h, 4.0 * static_cast<double>(step) / 18, 0.02);
            EXPECT_NEAR(used.w, x.w, 1);
            EXPECT_TRUE(hasText(scene, "cells of 1×2×8"));
            // In the rows that two windows share, the one in use lies on top.
            EXPECT_EQ(hitTest(scene, used.x + used.w / 2, used.y + 1, 0),
                      Target(target::Block{0, 4 * step}));
            EXPECT_EQ(hitTest(scene, used.x + used.w / 2, used.bottom() - 2, 0),
                      Target(target::Block{0, 4 * step}));
        }
    }
}

// Where each index of an outer axis has a row of its own, windows are parts of these rows.
TEST(Grid, aWindowInUseIsDrawnWholeInItsRow)
{
    const RunView run = windowsRun(3);
    for (std::int64_t step = 0; step < 12; ++step) {
        SCOPED_TRACE(step);
        const auto begin = run.trace->steps().bodyBegin[static_cast<std::size_t>(step)];
        const std::int64_t block = step / 4 * 13 + step % 4 * 4;
        const Scene scene = layoutGrid(run, at(Picoseconds(begin)), kGridSize);
        const layout::Rect x = aroundAll(scene, 0, {}), used = aroundAll(scene, 0, block);
        EXPECT_NEAR(used.w / x.w, 6.0 / 18, 0.02);
        EXPECT_NEAR((used.x - x.x) / x.w, 4.0 * static_cast<double>(step % 4) / 18, 0.02);
        EXPECT_NEAR(used.h / x.h, 1.0 / 3, 0.02);
        EXPECT_EQ(hitTest(scene, used.right() - 2, used.y + used.h / 2, 0),
                  Target(target::Block{0, block}));
    }
}

TEST(Grid, aTraceWithoutStepsSaysWhyNothingIsShown)
{
    trace::TraceBuilder builder = genericBuilder(gridless());
    builder.info.pipelines.clear();
    builder.info.operands.edit().clear();
    builder.info.buffers.edit().clear();
    builder.steps = {};
    builder.segments = {};
    builder.copies = {};
    builder.waits = {};
    builder.visits = {};
    const RunView run = viewOf(std::move(builder));
    const Scene scene = layoutGrid(run, at(Picoseconds(0)), kGridSize);
    EXPECT_TRUE(hasText(scene, "Nothing is copied"));
    EXPECT_TRUE(scene.hits.empty());
}

} // namespace pallascope::test
