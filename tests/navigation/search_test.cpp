// What words find in a run.
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"
#include "views/navigation/search.h"

#include <gtest/gtest.h>

namespace pallascope::test {

namespace {

using layout::Target;
using navigation::Found;
namespace target = layout::target;

layout::RunView run()
{
    trace::TraceBuilder builder = mainJobBuilder();
    builder.info.findings = {{"race",
                              trace::FindingClass::Structural,
                              "Two copies write out(0,0).",
                              "out",
                              8,
                              0,
                              {0, 7},
                              1}};
    builder.info.sources = {{"kernel.cpp", "first line\n  Second dot line\n\nfourth Dot(x)\n"}};
    return runViewOf(std::move(builder).finish().value());
}

std::vector<Found> found(const std::string& words, std::size_t most = 100)
{
    return navigation::search(run(), words, most);
}

} // namespace

TEST(Search, aNumberIsAStep)
{
    for (const char* words : {"304", "step 304", " Step  304 "}) {
        const std::vector<Found> all = found(words);
        ASSERT_EQ(all.size(), 1U) << words;
        EXPECT_EQ(all[0].name, "step 304 (4,6,0)");
        EXPECT_EQ(all[0].target, Target(target::Steps{304, 304}));
    }
    EXPECT_TRUE(found("512").empty());
    EXPECT_TRUE(found("-1").empty());
    EXPECT_TRUE(found("99999999999999999999").empty());
}

TEST(Search, aNameWithIndicesIsABlock)
{
    const std::vector<Found> all = found("X(2,3)");
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].name, "x(2,3)");
    EXPECT_EQ(all[0].target, Target(target::Block{0, 2 * 8 + 3}));
    for (const char* none : {"x(8,0)", "x(0,-1)", "x(0)", "x(0,0,0)", "x()", "x(1,)", "(1,2)"}) {
        EXPECT_TRUE(found(none).empty()) << none;
    }
}

TEST(Search, aNameIsTheFirstBlockOfEachOperandThatHasIt)
{
    const std::vector<Found> all = found("ou");
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all[0].name, "out(0,0)");
    EXPECT_EQ(all[0].target, Target(target::Block{2, 0}));
}

TEST(Search, wordsOfAFindingFindIt)
{
    const std::vector<Found> all = found("WRITE copies");
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].target, Target(target::Finding{0}));
}

TEST(Search, wordsOfALineFindItAndLinesThatTakeTimeComeFirst)
{
    layout::RunView view = run();
    view.lineTimes = {{{0, 4}, Picoseconds(5), {}}};
    const std::vector<Found> all = navigation::search(view, "dot", 100);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0], (Found{"line 4: fourth Dot(x)", target::SourceLine{0, 4}}));
    EXPECT_EQ(all[1], (Found{"line 2: Second dot line", target::SourceLine{0, 2}}));
    EXPECT_EQ(navigation::search(view, "dot second", 100).size(), 1U);
}

TEST(Search, aNumberOfALineIsThatLine)
{
    for (const char* words : {"line 2", "Line 2", ":2", "kernel.cpp:2", "KERNEL.cpp:2"}) {
        const std::vector<Found> all = found(words);
        ASSERT_EQ(all.size(), 1U) << words;
        EXPECT_EQ(all[0], (Found{"line 2: Second dot line", target::SourceLine{0, 2}}));
    }
    for (const char* none : {"line 5", "line 0", ":0", "other.cpp:2", ":", "line two"}) {
        EXPECT_TRUE(found(none).empty()) << none;
    }
}

TEST(Search, aTimeIsAMomentOfTheRun)
{
    for (const char* words : {"20 us", "20us", "20000 ns", "0.02 ms", "20 \u00b5s", "20 \u03bcs"}) {
        const std::vector<Found> all = found(words);
        ASSERT_EQ(all.size(), 1U) << words;
        EXPECT_EQ(all[0], (Found{"time 20.0 \u00b5s", target::Time{Picoseconds(20'000'000)}}));
    }
    for (const char* none : {"20 s", "-1 us", "nan us", "1e300 s", "us", "20 parsecs"}) {
        EXPECT_TRUE(found(none).empty()) << none;
    }
}

TEST(Search, theNameOfAnSmIsThatSm)
{
    trace::TraceBuilder builder = mainJobBuilder();
    builder.info.agents = {"SM 0 Warpgroup 0", "SM 4 Warpgroup 0"};
    builder.info.blockGrids.resize(1);
    layout::RunView view;
    view.trace = std::move(builder).finish().value();
    view.index = std::make_shared<trace::Index>(view.trace);
    const std::size_t sms = view.index->agents().sms.size();
    ASSERT_GT(sms, 0U);
    const std::vector<Found> all = navigation::search(view, "sm 0", 100);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0], (Found{"SM 0", target::Sm{0}}));
    EXPECT_TRUE(navigation::search(view, "sm 47", 100).empty());
}

TEST(Search, noWordsFindNothingAndTheListHasALimit)
{
    EXPECT_TRUE(found("").empty());
    EXPECT_TRUE(found("   ").empty());
    EXPECT_EQ(found("line", 1).size(), 1U);
}

} // namespace pallascope::test
