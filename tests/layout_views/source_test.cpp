// The source view and the splitting of code into tokens.
#include "core/base/format.h"
#include "tests/layout_views/generic_run.h"
#include "tests/layout_views/scene_probe.h"
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"
#include "views/layout/scene/canvas.h"
#include "views/layout/source/source.h"
#include "views/layout/source/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::test {

namespace {

using layout::RunView;
using layout::Scene;
using layout::SourceTab;
namespace target = layout::target;
using layout::Token;
using layout::TokenKind;

constexpr layout::Size kWide = {1180, 324};
constexpr layout::Size kNarrow = {365, 161};

std::vector<TokenKind> kinds(const std::vector<Token>& tokens)
{
    std::vector<TokenKind> result;
    for (const Token& token : tokens) {
        if (token.kind != TokenKind::Space) {
            result.push_back(token.kind);
        }
    }
    return result;
}

bool isHighlighted(const Scene& scene, layout::Target target)
{
    for (const layout::Rect& frame : framesOf(scene, target)) {
        const layout::FillItem* bar = fillAt(scene, frame.x + 1, frame.y + frame.h / 2);
        if (bar != nullptr && bar->color == layout::Color(layout::Role::Playhead)) {
            return true;
        }
    }
    return false;
}

// A trace whose source has `lines` more lines before and after the kernel.
RunView longSource(int lines, const std::vector<trace::Finding>& findings = {})
{
    trace::TraceBuilder builder = mainJobBuilder();
    std::string blank;
    for (int i = 0; i < lines; ++i) {
        blank += "// line\n";
    }
    std::string& text = builder.info.sources.edit()[0].text;
    text = blank + text + blank;
    for (trace::Operation& operation : builder.info.operations.edit()) {
        operation.source.line += lines;
    }
    builder.info.pipelines[0].source.line += lines;
    builder.info.findings = findings;
    RunView run = runViewOf(std::move(builder).finish().value());
    for (analysis::LineTime& time : run.lineTimes) {
        time.line.line += lines;
    }
    return run;
}

} // namespace

TEST(Tokenizer, theTokensJoinedGiveTheLineBack)
{
    bool inComment = false;
    for (const std::string line :
         {"  auto x = f(\"a \\\" b\", 'c', 0x1f'00, 1.5e3f); // done", "/* open", "still * inside",
          "closed */ return a::b<c>[3];", "µs → naïve", "\"unterminated", ""}) {
        std::string joined;
        for (const Token& token : layout::tokens(line, inComment)) {
            EXPECT_FALSE(token.text.empty());
            joined += token.text;
        }
        EXPECT_EQ(joined, line);
    }
    EXPECT_FALSE(inComment);
}

TEST(Tokenizer, wordsNumbersTextsAndCommentsAreToldApart)
{
    const std::vector<TokenKind> expected = {
        TokenKind::Keyword, TokenKind::Word,   TokenKind::Mark, TokenKind::String,
        TokenKind::Mark,    TokenKind::Number, TokenKind::Mark, TokenKind::Comment};
    EXPECT_EQ(kinds(layout::tokens("return f(\"x\", 12) // y")), expected);
    bool inComment = true;
    EXPECT_EQ(kinds(layout::tokens("a */ b", inComment)),
              (std::vector<TokenKind>{TokenKind::Comment, TokenKind::Word}));
}

TEST(Source, theCurrentLineAndOperationAreHighlightedOnBothSides)
{
    const RunView run = mainJobView();
    const trace::Steps& steps = run.trace->steps();
    const layout::ViewState state = at(Picoseconds((steps.bodyBegin[2] + steps.bodyEnd[2]) / 2));
    const trace::OptionalRow<trace::OperationRow> operation =
        trace::operationAt(*run.trace, trace::AgentRow{0}, state.now);
    ASSERT_TRUE(operation);
    const trace::Operation& op = run.trace->info().operations[operation->index()];
    const Scene scene = layoutSource(run, state, kWide);
    EXPECT_TRUE(isHighlighted(scene, target::SourceLine{0, op.source.line}));
    EXPECT_FALSE(isHighlighted(scene, target::SourceLine{0, op.source.line - 1}));
    EXPECT_TRUE(isHighlighted(scene, target::ListingLine{op.listingLine}));
    EXPECT_NE(scene.caption.find("line |" + std::to_string(op.source.line) + "| dot"),
              std::string::npos);
    EXPECT_NE(scene.caption.find("step |2|"), std::string::npos);
}

TEST(Source, inWaitsAndOverheadThePipelinesOwnLineIsCurrent)
{
    const RunView run = mainJobView();
    const std::int32_t line = run.trace->info().pipelines[0].source.line;
    const Scene waiting = layoutSource(run, at(Picoseconds(1000)), kWide);
    EXPECT_TRUE(isHighlighted(waiting, target::SourceLine{0, line}));
    EXPECT_NE(waiting.caption.find("waits"), std::string::npos) << waiting.caption;
    const Scene overhead =
        layoutSource(run, at(Picoseconds(run.trace->steps().bodyEnd[2] + 1000)), kWide);
    EXPECT_TRUE(isHighlighted(overhead, target::SourceLine{0, line}));
    EXPECT_NE(overhead.caption.find("step overhead"), std::string::npos) << overhead.caption;
}

TEST(Source, aWaitForManualDmaIsOnItsOwnLine)
{
    trace::TraceBuilder builder = mainJobBuilder();
    const auto operation = static_cast<std::int32_t>(builder.info.operations.size() - 1);
    builder.waits.operation.assign(builder.waits.size(), operation);
    const RunView run = runViewOf(std::move(builder).finish().value());
    const trace::Operation& op = run.trace->info().operations.back();
    ASSERT_NE(op.source, run.trace->info().pipelines[0].source);
    const trace::Waits& waits = run.trace->waits();
    const layout::ViewState state = at(Picoseconds((waits.begin[0] + waits.end[0]) / 2));
    const Scene scene = layoutSource(run, state, kWide);
    EXPECT_TRUE(isHighlighted(scene, target::SourceLine{0, op.source.line}));
    EXPECT_TRUE(isHighlighted(scene, target::ListingLine{op.listingLine}));
    EXPECT_NE(scene.caption.find("waits for " + trace::awaitedName(*run.trace, trace::WaitRow{0})),
              std::string::npos)
        << scene.caption;
}

TEST(Source, theTimesBesideTheLinesSumToTheRun)
{
    const RunView run = mainJobView();
    const Scene scene = layoutSource(run, at(run, 0.5), kWide);
    double sum = 0;
    for (const analysis::LineTime& time : run.lineTimes) {
        const std::vector<layout::Rect> rows =
            framesOf(scene, target::SourceLine{time.line.file, time.line.line});
        ASSERT_EQ(rows.size(), 1U);
        const std::vector<std::string> texts = textsAt(scene, rows[0].y + rows[0].h / 2, 1);
        sum += std::stod(texts.at(0));
    }
    EXPECT_NEAR(sum, static_cast<double>(run.trace->end().value()) * 1e-6,
                0.5 * static_cast<double>(run.lineTimes.size()));
}

TEST(Source, aLongTimeDoesNotLieOverItsBar)
{
    RunView run = mainJobView();
    run.lineTimes[0].time = Picoseconds(262'144'000'000);
    const Scene scene = layoutSource(run, at(run, 0.5), kWide);
    bool found = false;
    for (const layout::Item& item : scene.items) {
        const auto* text = std::get_if<layout::TextItem>(&item);
        if (text != nullptr && text->text == countText(262'144)) {
            found = true;
            const double left = text->rect.right() - layout::textWidth(text->text, text->size);
            EXPECT_GE(left, 38); // where the bars end
        }
    }
    EXPECT_TRUE(found);
}

TEST(Source, timeOfOtherFilesIsSaidSoThatTheColumnStillSums)
{
    RunView run = mainJobView();
    run.lineTimes[0].line = {-1, 0};
    EXPECT_TRUE(hasText(layoutSource(run, at(run, 0.5), kWide),
                        timeText(run.lineTimes[0].time) + " elsewhere"));
}

TEST(Source, bothSidesShowFromNineHundredPixelsElseOneTab)
{
    const RunView run = mainJobView();
    const auto has = []<class Kind>(const Scene& scene, Kind) {
        return std::any_of(scene.hits.begin(), scene.hits.end(),
                           [](const layout::Hit& hit) { return layout::is<Kind>(hit.target); });
    };
    const Scene wide = layoutSource(run, at(run, 0.5), {900, 324});
    EXPECT_TRUE(has(wide, target::SourceLine{}) && has(wide, target::ListingLine{}));
    const Scene source = layoutSource(run, at(run, 0.5), {899, 324}, SourceTab::Source);
    EXPECT_TRUE(has(source, target::SourceLine{}) && !has(source, target::ListingLine{}));
    const Scene listing = layoutSource(run, at(run, 0.5), {899, 324}, SourceTab::Listing);
    EXPECT_TRUE(!has(listing, target::SourceLine{}) && has(listing, target::ListingLine{}));
}

TEST(Source, theCurrentLineIsInSightWheneverTheViewFollows)
{
    const RunView run = longSource(100);
    for (int i = 0; i < 50; ++i) {
        const layout::ViewState state = at(run, i / 50.0 * 0.999);
        const trace::OptionalRow<trace::OperationRow> operation =
            trace::operationAt(*run.trace, trace::AgentRow{0}, state.now);
        const std::int32_t line = operation
                                      ? run.trace->info().operations[operation->index()].source.line
                                      : run.trace->info().pipelines[0].source.line;
        for (const layout::Size size : {kNarrow, layout::Size{365, 80}}) {
            const Scene scene = layoutSource(run, state, size);
            EXPECT_TRUE(isHighlighted(scene, target::SourceLine{0, line})) << i;
        }
    }
}

// A finding may be far above the line that runs when it shows, such as the start of a copy.
TEST(Source, theLineOfTheChosenFindingIsInSightWhereThePlayheadStandsAtIt)
{
    const layout::ViewState now = at(longSource(100), 0.5);
    const std::int32_t current = currentLine(longSource(100), now).line;
    ASSERT_GT(current, 100);
    for (const std::int32_t line : {1, 40, current - 6, current - 1, current, current + 6, 190}) {
        trace::Finding finding;
        finding.kind = "race";
        finding.source = {0, line};
        RunView with = longSource(100, {finding});
        with.findingPlaces = {{0, now.now}};
        for (const layout::Size size :
             {kNarrow, kWide, layout::Size{365, 80}, layout::Size{365, 40}}) {
            SCOPED_TRACE(std::to_string(line) + " in " + std::to_string(size.height));
            const auto isShown = [&](const layout::ViewState& state, std::int32_t wanted) {
                return !framesOf(layoutSource(with, state, size), target::SourceLine{0, wanted})
                            .empty();
            };
            layout::ViewState state = now;
            state.selection = target::Finding{0};
            EXPECT_TRUE(isShown(state, line));
            const Scene shown = layoutSource(with, state, size);
            const auto fit = std::ranges::count_if(shown.hits, [](const layout::Hit& hit) {
                return std::holds_alternative<target::SourceLine>(hit.target);
            });
            if (std::abs(line - current) < fit) {
                EXPECT_TRUE(isShown(state, current));
            }
            state.playing = true; // it follows the playhead again
            EXPECT_TRUE(isShown(state, current));
            state.playing = false;
            with.findingPlaces = {{0, now.now + Picoseconds(1)}};
            EXPECT_TRUE(isShown(state, current));
            with.findingPlaces = {};
            EXPECT_TRUE(isShown(state, line));
            with.findingPlaces = {{0, now.now}};
        }
    }
}

TEST(Source, aScrolledViewStartsAtTheReadersLine)
{
    const RunView run = longSource(100);
    layout::ViewState state = at(run, 0.5);
    state.firstSourceLine = 42;
    const Scene scene = layoutSource(run, state, kNarrow);
    const std::vector<layout::Rect> first = framesOf(scene, target::SourceLine{0, 42});
    ASSERT_EQ(first.size(), 1U);
    EXPECT_TRUE(framesOf(scene, target::SourceLine{0, 41}).empty());
    state.firstSourceLine = 100'000; // past the end: the last line is shown, instead of nothing
    EXPECT_FALSE(layoutSource(run, state, kNarrow).hits.empty());
}

TEST(Source, aTraceWithoutItsProgramSaysSo)
{
    GenericKernel kernel = vectorSum();
    kernel.sources = false;
    const RunView run = genericRun(kernel);
    const Scene scene = layoutSource(run, at(run, 0.5), kNarrow);
    EXPECT_TRUE(hasText(scene, "No source lines"));
    EXPECT_EQ(scene.caption, "no source in this trace");
}

TEST(Source, noTextLeavesTheSceneAtAnySize)
{
    for (const RunView& run : {mainJobView(), longSource(100), genericRun(vectorSum())}) {
        for (const layout::Size size :
             {kNarrow, kWide, layout::Size{232, 420}, {669, 319}, {960, 700}}) {
            for (const SourceTab tab : {SourceTab::Source, SourceTab::Listing}) {
                const Scene scene = layoutSource(run, at(run, 0.4), size, tab);
                EXPECT_EQ(textsOutside(scene), std::vector<std::string>()) << size.width;
            }
        }
    }
}

} // namespace pallascope::test
