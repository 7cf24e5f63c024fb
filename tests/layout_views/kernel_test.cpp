// The kernel view: the budget of memory, the alternatives and the title of a run.
#include "core/base/format.h"
#include "tests/layout_views/generic_run.h"
#include "tests/layout_views/scene_probe.h"
#include "tests/support/run_view_fixture.h"
#include "views/layout/kernel/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::test {

namespace {

using layout::Rect;
using layout::RunView;
using layout::Scene;
namespace target = layout::target;

constexpr layout::Size kKernelSize = {360, 442};

// The width of all slots of an operand in the bar, which is the topmost row of hits of buffers.
double barWidth(const Scene& scene, std::int32_t buffer)
{
    const std::vector<Rect> frames = framesOf(scene, target::Buffer{buffer});
    return frames.empty() ? 0 : frames.front().w;
}

} // namespace

TEST(Kernel, theBarIsScaledToTheScopedLimit)
{
    const RunView run = mainJobView();
    const Scene scene = layoutBudget(run, at(run, 0), kKernelSize);
    const double width = kKernelSize.width - 24;
    for (const trace::Operand& operand : run.trace->info().operands) {
        const double share = ratio(operand.slotBytes * operand.slots, run.report.vmemScopedLimit);
        EXPECT_NEAR(barWidth(scene, operand.firstBuffer), width * share, 1) << operand.name;
    }
}

TEST(Kernel, pastTheLimitTheBarIsScaledToThePhysicalMemory)
{
    const RunView run = mainJobView(2048); // 64 MiB with a limit of 16 MiB
    const Scene scene = layoutBudget(run, at(run, 0), kKernelSize);
    const trace::Operand& out = run.trace->info().operands[2];
    EXPECT_NEAR(barWidth(scene, out.firstBuffer), (kKernelSize.width - 24) * 32.0 / 128, 1);
    EXPECT_NE(scene.caption.find("over the limit"), std::string::npos) << scene.caption;
}

TEST(Kernel, theTableSumsToTheBytesInUse)
{
    const RunView run = mainJobView();
    const Scene scene = layoutBudget(run, at(run, 0), kKernelSize);
    EXPECT_EQ(textsAt(scene, textWith(scene, "all operands").rect.y + 9, 1).back(), "4 MiB");
    EXPECT_TRUE(hasText(scene, "2 × 512 KiB"));
    EXPECT_TRUE(hasText(scene, "512×512 bf16"));
    EXPECT_TRUE(hasText(scene, "25 % of the scoped limit"));
}

TEST(Kernel, theEstimateOfTemporariesStandsBesideTheSum)
{
    RunView run = mainJobView();
    run.report.vmemTemporariesEstimate = Bytes(2 * 1024 * 1024);
    const Scene scene = layoutBudget(run, at(run, 0), kKernelSize);
    EXPECT_TRUE(hasText(scene, "estimate"));
    EXPECT_EQ(textsAt(scene, textWith(scene, "all operands").rect.y + 9, 1).back(), "4 MiB");
    double hatched = 0;
    for (const layout::Item& item : scene.items) {
        if (const auto* hatch = std::get_if<layout::HatchItem>(&item);
            hatch != nullptr && hatch->hatch == layout::Hatch::Estimate) {
            hatched = std::max(hatched, hatch->rect.w);
        }
    }
    EXPECT_NEAR(hatched, (kKernelSize.width - 24) / 8, 1);
}

TEST(Kernel, scratchIsARowOfItsOwn)
{
    const RunView run = genericRun(sixOperands());
    const Scene scene = layoutBudget(run, at(run, 0), kKernelSize);
    EXPECT_TRUE(hasText(scene, "row_max"));
    EXPECT_TRUE(hasText(scene, "operands and scratch"));
}

// The scratch memory that a captured program sets aside around its kernels has no name.
TEST(Kernel, scratchesWithoutANameAreRowsOfTheirOwn)
{
    GenericKernel kernel = sixOperands();
    kernel.scratch = {{"", 4096}, {"", 8192}};
    const RunView run = genericRun(kernel);
    const Scene scene = layoutBudget(run, at(run, 0), kKernelSize);
    for (std::size_t i = 0; i < run.trace->info().buffers.size(); ++i) {
        const trace::Buffer& buffer = run.trace->info().buffers[i];
        if (buffer.operand < 0) {
            const target::Buffer target{static_cast<std::int64_t>(i)};
            EXPECT_FALSE(framesOf(scene, target).empty()) << i;
        }
    }
}

TEST(Kernel, everyAlternativeCanBeClickedAndTheRunItselfIsHighlighted)
{
    const RunView run = mainJobView();
    const Scene scene = layoutBudget(run, at(run, 0), kKernelSize);
    for (std::size_t i = 0; i < run.alternatives.size(); ++i) {
        const std::vector<Rect> rows =
            framesOf(scene, target::Alternative{static_cast<std::int64_t>(i)});
        ASSERT_EQ(rows.size(), 1U);
        const std::vector<std::string> texts = textsAt(scene, rows[0].y + rows[0].h / 2, 1);
        EXPECT_EQ(texts.back(), timeText(run.alternatives[i].time));
        EXPECT_NE(std::find(texts.begin(), texts.end(), bytesText(run.alternatives[i].vmem)),
                  texts.end());
    }
    const layout::TextItem own = textWith(scene, timeText(run.report.time));
    const layout::FillItem* band = fillAt(scene, 20, own.rect.y + own.rect.h / 2);
    ASSERT_NE(band, nullptr);
    EXPECT_EQ(band->color, layout::Color(layout::Role::SelectBackground));
}

TEST(Kernel, whatIsOverTheLimitIsWarnedOf)
{
    const Scene scene = layoutBudget(mainJobView(), at(Picoseconds(0)), kKernelSize);
    EXPECT_EQ(textWith(scene, "over limit").color, layout::Color(layout::Role::Warning));
    EXPECT_EQ(textWith(scene, "64 MiB").color, layout::Color(layout::Role::Warning));
}

TEST(Kernel, theFormShowsEveryFieldAndErrorsInPlace)
{
    RunView run = mainJobView();
    run.fields[2].error = "m must be at least 1.";
    const Scene scene = layoutKernel(run, at(run, 0), kKernelSize);
    for (const layout::Field& field : run.fields) {
        EXPECT_TRUE(hasText(scene, field.name));
        EXPECT_TRUE(hasText(scene, field.value));
    }
    EXPECT_EQ(textWith(scene, "at least 1").color, layout::Color(layout::Role::Error));
    EXPECT_NE(scene.caption.find("of the previous run"), std::string::npos);
}

TEST(Kernel, theCaptionSaysStepsBytesAndFit)
{
    const RunView run = mainJobView();
    EXPECT_EQ(layoutBudget(run, at(run, 0), {232, 300}).caption,
              "|512| steps · |4 MiB| of 16 MiB · fits");
    layout::ViewState stale = at(run, 0);
    stale.stale = true;
    EXPECT_NE(layoutBudget(run, stale, {232, 300}).caption.find("of the previous run"),
              std::string::npos);
}

TEST(Kernel, theTitleNamesKernelSizesTypesBlocksAndChip)
{
    EXPECT_EQ(runTitle(mainJobView()), "matmul 4096³ bf16 → f32 · 512-blocks · TPU v5e");
    EXPECT_EQ(runTitle(genericRun(vectorSum())), "generic 1000 f32 · 128-blocks · TPU v5e");
    EXPECT_EQ(runTitle(genericRun(gridless())), "generic 1024 f32 · TPU v5e");
    // The title has the largest result, whatever follows it and is copied around the kernel.
    GenericKernel kernel = gridless();
    kernel.operands.push_back({"sum", trace::Direction::Out, {16}, {16}, {-1}});
    trace::TraceBuilder builder = genericBuilder(kernel);
    std::vector<trace::Operand>& operands = builder.info.operands.edit();
    operands.push_back(operands.front());
    trace::Operand& beside = operands.back();
    beside.pipeline = trace::kNone;
    beside.slots = 0;
    beside.dtype = DType::Int32;
    beside.arrayBytes = Bytes(1 << 20);
    beside.direction = trace::Direction::Out;
    std::fill(beside.gridAxes.begin(), beside.gridAxes.end(), trace::kNone);
    EXPECT_EQ(runTitle(viewOf(std::move(builder))), "generic 1024 f32 · TPU v5e");
}

TEST(Kernel, noTextLeavesTheSceneAtAnySize)
{
    for (const RunView& run : {mainJobView(), mainJobView(2048), genericRun(sixOperands())}) {
        for (const layout::Size size : {layout::Size{232, 420}, {304, 424}, {960, 700}}) {
            EXPECT_EQ(textsOutside(layoutKernel(run, at(run, 0), size)), std::vector<std::string>())
                << size.width;
            EXPECT_EQ(textsOutside(layoutBudget(run, at(run, 0), size)), std::vector<std::string>())
                << size.width;
        }
    }
}

} // namespace pallascope::test
