// The verdict view: the time split, what would help, losses, findings, checks and prints.
#include "core/analysis/band.h"
#include "core/base/format.h"
#include "tests/layout_views/generic_run.h"
#include "tests/layout_views/scene_probe.h"
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"
#include "views/layout/run/finding_text.h"
#include "views/layout/run/view_parts.h"
#include "views/layout/verdict/parts.h"
#include "views/layout/verdict/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::test {

namespace {

using layout::Rect;
using layout::RunView;
using layout::Scene;
namespace target = layout::target;

constexpr layout::Size kVerdictSize = {470, 520};

RunView withFindings()
{
    trace::TraceBuilder builder = mainJobBuilder();
    builder.info.findings = {{"output_revisited",
                              trace::FindingClass::Structural,
                              "out(0,0) was left after step 0 and is revisited at step 8.",
                              "out",
                              8,
                              0,
                              {0, 7},
                              448},
                             {"over_scoped_limit",
                              trace::FindingClass::Structural,
                              "The operands take 64 MiB, the scoped limit is 16 MiB.",
                              "",
                              -1,
                              {},
                              {0, 3},
                              1}};
    builder.info.check.passed = false;
    return runViewOf(std::move(builder).finish().value());
}

} // namespace

TEST(Verdict, theSplitBarSumsToItsWidth)
{
    for (const RunView& run : {mainJobView(), genericRun(rankFour()), genericRun(gridless())}) {
        layout::Canvas canvas(300, 200);
        (void)paintTimeSplit(canvas, run, 0);
        const Scene scene = std::move(canvas).finish("", "");
        double covered = 0;
        double right = 0;
        int parts = 0;
        for (const layout::Item& item : scene.items) {
            const auto* fill = std::get_if<layout::FillItem>(&item);
            const auto* hatch = std::get_if<layout::HatchItem>(&item);
            const Rect rect = fill != nullptr    ? fill->rect
                              : hatch != nullptr ? hatch->rect
                                                 : Rect();
            if (rect.y != 0 || rect.h != 16) {
                continue; // frames, and what lies below
            }
            EXPECT_GE(rect.x, right);
            covered += rect.w;
            right = rect.right();
            ++parts;
        }
        EXPECT_GE(parts, 2);
        EXPECT_NEAR(right, 288, 1);
        EXPECT_NEAR(covered + (parts - 1), 276, 2); // a pixel lies between the parts
    }
}

// Ten lines are printed, one in each step. Those printed by now have the colour of text, and the
// next ones follow them.
TEST(Verdict, listsWhatIsPrintedAboutThePlayhead)
{
    trace::TraceBuilder builder = mainJobBuilder();
    for (int i = 0; i < 10; ++i) {
        const auto step = static_cast<std::size_t>(i);
        builder.info.prints.push_back({"line " + std::to_string(i) + "\nmore",
                                       i,
                                       0,
                                       Picoseconds(builder.steps.bodyEnd[step]),
                                       {0, 4}});
    }
    builder.info.printsBeyond = 3;
    const RunView run = runViewOf(std::move(builder).finish().value());
    const Scene begin = layoutVerdict(run, at(Picoseconds(0)), {470, 900});
    EXPECT_TRUE(hasText(begin, "Printed: 0 of 10 lines so far; 3 more not kept"));
    EXPECT_EQ(textWith(begin, "line 0").color.role, layout::Role::Text3);
    EXPECT_FALSE(hasText(begin, "line 6"));
    EXPECT_NE(begin.caption.find("|13| lines printed"), std::string::npos) << begin.caption;
    const Scene later = layoutVerdict(run, at(run.trace->info().prints[7].time), {470, 900});
    EXPECT_TRUE(hasText(later, "Printed: 8 of 10 lines so far"));
    EXPECT_EQ(textWith(later, "line 7").color.role, layout::Role::Text);
    EXPECT_EQ(textWith(later, "line 8").color.role, layout::Role::Text3);
    const layout::TextItem row = textWith(later, "line 9");
    EXPECT_EQ(hitTest(later, row.rect.x + 2, row.rect.y + row.rect.h / 2),
              (layout::Target(target::Print{9})));
    EXPECT_FALSE(hasText(layoutVerdict(mainJobView(), at(Picoseconds(0)), {470, 900}), "Printed"));
}

TEST(Verdict, theTableOfTheSplitSaysTheTimesOfTheReport)
{
    const RunView run = mainJobView();
    const Scene scene = layoutVerdict(run, at(run, 0.5), kVerdictSize);
    const analysis::TimeSplit& split = run.report.split;
    const std::pair<const char*, Picoseconds> rows[] = {
        {"compute", split.compute},
        {"step overhead", split.stepOverhead},
        {"exposed copies", split.exposedCopies},
        {"prologue, epilogue", split.prologue + split.epilogue},
        {"whole run", run.report.time}};
    for (const auto& [name, time] : rows) {
        const layout::TextItem text = textWith(scene, name);
        const std::vector<std::string> row = textsAt(scene, text.rect.y + text.rect.h / 2, 1);
        ASSERT_EQ(row.size(), 3U) << name;
        EXPECT_EQ(row[1], timeText(time));
    }
}

TEST(Verdict, theBandOfTheWholeRunStandsBelowItsTime)
{
    RunView run = mainJobView();
    ASSERT_TRUE(run.report.band);
    const Scene scene = layoutVerdict(run, at(run, 0.5), kVerdictSize);
    const layout::TextItem whole = textWith(scene, "whole run"), band = textWith(scene, "band");
    EXPECT_GE(band.rect.y, whole.rect.y + whole.rect.h);
    const std::vector<std::string> row = textsAt(scene, band.rect.y + band.rect.h / 2, 1);
    ASSERT_EQ(row.size(), 2U);
    EXPECT_EQ(row[1], analysis::bandText(*run.report.band));
    EXPECT_EQ(hitTest(scene, band.rect.x + 2, band.rect.y + band.rect.h / 2),
              (layout::Target(target::Time{run.trace->end()})));
    run.report.band.reset();
    EXPECT_FALSE(hasText(layoutVerdict(run, at(run, 0.5), kVerdictSize), "band"));
}

TEST(Verdict, lossesFollowOneAnotherFromTheRooflineToTheRun)
{
    using analysis::LossKind;
    RunView run = mainJobView();
    const Picoseconds hundredth(run.report.time.value() / 100);
    const Picoseconds rest = run.report.time - hundredth * 50 - hundredth * 20;
    run.report.losses = {hundredth * 50,
                         {{LossKind::Masks, "", hundredth * 20, hundredth * 20},
                          {LossKind::LinkRate, "HBM", rest, rest}}};
    const layout::Size size{470, 1200};
    const Scene scene = layoutVerdict(run, at(run, 0.5), size);
    EXPECT_LT(textWith(scene, "HBM under its datasheet rate").rect.y,
              textWith(scene, "masks").rect.y)
        << "the largest first";
    double right = layout::parts::kPadding;
    int bars = 0;
    for (const layout::Item& item : scene.items) {
        const auto* fill = std::get_if<layout::FillItem>(&item);
        if (fill != nullptr && fill->rect.h == 3 && fill->rect.w < 446) {
            EXPECT_NEAR(fill->rect.x, right, 1);
            right = fill->rect.right();
            ++bars;
        }
    }
    EXPECT_EQ(bars, 3);
    EXPECT_NEAR(right, 470 - layout::parts::kPadding, 1);
    run.report.losses = {};
    EXPECT_FALSE(hasText(layoutVerdict(run, at(run, 0.5), size), "Beyond the roofline"));
}

TEST(Verdict, theBestAlternativeIsAnActionWithItsTime)
{
    const RunView run = mainJobView();
    const Scene scene = layoutVerdict(run, at(run, 0.5), kVerdictSize);
    const std::vector<Rect> rows = framesOf(scene, target::Alternative{1});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(run.alternatives[1].name, "1024-blocks");
    EXPECT_TRUE(hasText(scene, "757.0 µs, 21."));
    EXPECT_TRUE(hasText(scene, "exactly the scoped limit; compute-bound"));
}

TEST(Verdict, bytesByOperandAreThoseOfTheReport)
{
    const RunView run = mainJobView();
    const Scene scene = layoutVerdict(run, at(run, 0.5), kVerdictSize);
    const layout::TextItem head = textWith(scene, "Bytes over HBM");
    for (std::size_t i = 0; i < run.report.traffic.size(); ++i) {
        const double y = head.rect.y + 20 + 9 + 18 * static_cast<double>(i);
        const std::vector<std::string> row = textsAt(scene, y, 2);
        ASSERT_EQ(row.size(), 5U);
        EXPECT_EQ(row[0], run.report.traffic[i].operand);
        EXPECT_EQ(row[2], countText(run.report.traffic[i].copies));
        EXPECT_EQ(row[3], bytesText(run.report.traffic[i].bytes));
    }
}

TEST(Verdict, saysWhatLoadsFoundInL1)
{
    RunView run = mainJobView();
    run.report.l2 = analysis::CacheReads{Bytes(0), Bytes(0), Bytes(0), Bytes(0)};
    EXPECT_FALSE(hasText(layoutVerdict(run, at(run, 0.5), kVerdictSize), "found in L1"));
    run.report.l2->fromL1 = Bytes(3 << 20);
    const Scene scene = layoutVerdict(run, at(run, 0.5), kVerdictSize);
    const layout::TextItem found = textWith(scene, "loads, found in L1");
    EXPECT_EQ(textsAt(scene, found.rect.y + 9, 2),
              (std::vector<std::string>{"loads, found in L1", "3 MiB"}));
}

TEST(Verdict, withoutFindingsItSaysWhichChecksRan)
{
    const RunView run = mainJobView(); // with values `full`
    const Scene scene = layoutVerdict(run, at(run, 0.5), kVerdictSize);
    EXPECT_TRUE(hasText(scene, "No findings"));
    const std::string passed =
        std::to_string(layout::structuralChecks(false).size() + layout::valueChecks().size() + 1);
    EXPECT_EQ(scene.caption, "|0| findings · |" + passed + "| checks passed");
    const RunView needed = genericRun(vectorSum());
    const Scene few = layoutVerdict(needed, at(needed, 0.5), kVerdictSize);
    EXPECT_TRUE(hasText(few, "needs values full"));
    EXPECT_EQ(few.caption, "|0| findings · |"
                               + std::to_string(layout::structuralChecks(false).size())
                               + "| checks passed, values not checked");
    EXPECT_NE(
        few.caption.find("|" + std::to_string(layout::structuralChecks(false).size()) + "| checks"),
        std::string::npos);
}

TEST(Verdict, aFindingIsOneRowWithItsCountAndLinks)
{
    const RunView run = withFindings();
    const Scene scene = layoutVerdict(run, at(run, 0.5), kVerdictSize);
    EXPECT_EQ(framesOf(scene, target::Finding{0}).size(), 1U);
    EXPECT_EQ(framesOf(scene, target::Finding{1}).size(), 1U);
    EXPECT_TRUE(hasText(scene, "Output block revisited after a gap"));
    EXPECT_TRUE(hasText(scene, "out · 448 places"));
    EXPECT_TRUE(hasText(scene, "matmul.cpp:7"));
    for (const layout::Target target :
         {layout::Target(target::SourceLine{0, 7}), layout::Target(target::Steps{0, 0}),
          layout::Target(target::Steps{8, 8})}) {
        const std::vector<Rect> frames = framesOf(scene, target);
        ASSERT_EQ(frames.size(), 1U);
        // The link lies on top of its finding.
        EXPECT_EQ(hitTest(scene, frames[0].x + 3, frames[0].y + 3, 0), target);
    }
    EXPECT_EQ(scene.caption, "|2| findings in |449| places · result |differs|");
    EXPECT_TRUE(hasText(scene, "differs from the reference"));
}

// A step may be related to itself: once is enough.
TEST(Verdict, aFindingHasOneLinkToAStepThatIsBoth)
{
    trace::TraceBuilder builder = mainJobBuilder();
    builder.info.findings = {{"race",
                              trace::FindingClass::Structural,
                              "Two accesses of one step.",
                              "out",
                              8,
                              8,
                              {0, 7},
                              1}};
    const RunView run = runViewOf(std::move(builder).finish().value());
    const Scene scene = layoutVerdict(run, at(run, 0.5), kVerdictSize);
    const auto texts = textsOf(scene);
    EXPECT_EQ(std::ranges::count_if(texts, [](const auto& text) { return text.text == "step 8"; }),
              1);
}

TEST(Verdict, findingsComeFirstWhereThereIsNoRoomForAll)
{
    const RunView run = withFindings();
    const Scene scene = layoutVerdict(run, at(run, 0.5), {304, 197});
    EXPECT_FALSE(framesOf(scene, target::Finding{0}).empty());
    const Scene tiny = layoutVerdict(run, at(run, 0.5), {304, 130});
    EXPECT_TRUE(hasText(tiny, "more finding"));
}

TEST(Verdict, ofALongFindingTheBeginningIsShownWhereAllDoesNotFit)
{
    trace::TraceBuilder builder = mainJobBuilder();
    std::string message = "The chip has no known figure";
    for (int i = 0; i < 100; ++i) {
        message += " for unit" + std::to_string(i);
    }
    builder.info.findings = {
        {"unknown_figure", trace::FindingClass::Structural, message, "", -1, {}, {}, 1}};
    const RunView run = runViewOf(std::move(builder).finish().value());
    const Scene scene = layoutVerdict(run, at(run, 0.5), {304, 197});
    ASSERT_EQ(framesOf(scene, target::Finding{0}).size(), 1U);
    EXPECT_TRUE(hasText(scene, "The chip has no known figure"));
    EXPECT_TRUE(hasText(scene, "\u2026"));
    EXPECT_FALSE(hasText(scene, "unit99"));
    EXPECT_FALSE(hasText(scene, "more finding"));
    EXPECT_TRUE(hasText(layoutVerdict(run, at(run, 0.5), {304, 2000}), "unit99"));
}

TEST(Verdict, theSelectedFindingIsMarked)
{
    const RunView run = withFindings();
    layout::ViewState state = at(run, 0.5);
    state.selection = target::Finding{1};
    const Scene scene = layoutVerdict(run, state, kVerdictSize);
    const Rect row = framesOf(scene, state.selection).at(0);
    const layout::FillItem* band = fillAt(scene, row.right() - 3, row.y + 3);
    ASSERT_NE(band, nullptr);
    EXPECT_EQ(band->color, layout::Color(layout::Role::SelectBackground));
}

TEST(Verdict, limitsWarnAndWrongResultsAreErrors)
{
    trace::Finding finding;
    finding.kind = "over_scoped_limit";
    EXPECT_EQ(layout::severityOf(finding), layout::Severity::Warning);
    finding.kind = "output_revisited";
    EXPECT_EQ(layout::severityOf(finding), layout::Severity::Error);
    EXPECT_EQ(layout::findingTitle("some_new_kind"), "Some new kind");
    EXPECT_EQ(layout::findingPlaces({"k", {}, "", "x", 0, {}, {}, 1}), "x · 1 place");
}

TEST(Verdict, noTextLeavesTheSceneAtAnySize)
{
    for (const RunView& run : {mainJobView(), withFindings(), genericRun(sixOperands())}) {
        for (const layout::Size size :
             {layout::Size{232, 420}, {304, 197}, {304, 130}, {470, 434}, {960, 700}}) {
            EXPECT_EQ(textsOutside(layoutVerdict(run, at(run, 0.5), size)),
                      std::vector<std::string>())
                << size.width << " x " << size.height;
        }
    }
}

} // namespace pallascope::test
