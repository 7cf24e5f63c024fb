// Breakpoints as people write them.
#include "core/trace/breakpoint.h"

#include <gtest/gtest.h>

using namespace pallascope;
using namespace pallascope::trace;

namespace {

Breakpoint parsed(const std::string& text)
{
    const Result<Breakpoint> breakpoint = parseBreakpoint(text);
    EXPECT_TRUE(breakpoint) << (breakpoint ? "" : breakpoint.error().message);
    return breakpoint ? *breakpoint : Breakpoint();
}

std::string refusal(const std::string& text)
{
    const Result<Breakpoint> breakpoint = parseBreakpoint(text);
    return breakpoint ? "" : breakpoint.error().message;
}

} // namespace

TEST(Breakpoints, areReadInEveryForm)
{
    EXPECT_EQ(parsed("line:42"), Breakpoint(breaks::Line{"", 42}));
    EXPECT_EQ(parsed("line:a folder/c:kernel.py:42"),
              Breakpoint(breaks::Line{"a folder/c:kernel.py", 42}));
    EXPECT_EQ(parsed("grid:3,0,1"), Breakpoint(breaks::Grid{{3, 0, 1}}));
    EXPECT_EQ(parsed("block:x(2,0)"), Breakpoint(breaks::Block{"x", {2, 0}}));
    EXPECT_EQ(parsed("block:x[2,0]"), parsed("block:x(2,0)"));
    EXPECT_EQ(parsed("block:args[5](1)"), Breakpoint(breaks::Block{"args[5]", {1}}));
    EXPECT_EQ(parsed("first:stall"), Breakpoint(breaks::First{breaks::Event::Stall}));
    EXPECT_EQ(parsed("first:finding"), Breakpoint(breaks::First{breaks::Event::Finding}));
    EXPECT_EQ(parsed("first:nan"), Breakpoint(breaks::First{breaks::Event::Nan}));
    EXPECT_EQ(parsed("when:count[0]>=3"),
              Breakpoint(breaks::When{"count", {0}, Comparator::GreaterOrEqual, 3}));
    EXPECT_EQ(parsed("when: total != -0.5"),
              Breakpoint(breaks::When{"total", {}, Comparator::NotEqual, -0.5}));
}

TEST(Breakpoints, areWrittenAsTheyAreRead)
{
    for (const char* text :
         {"line:42", "line:kernel.py:42", "grid:3,0,1", "block:x(2,0)", "first:stall",
          "first:finding", "first:nan", "when:count[0]>=3", "when:total<0.1", "when:m[1,2]=-inf",
          "when:m[1,2]=nan", "when:count[0]!=1e+20"}) {
        EXPECT_EQ(textOf(parsed(text)), text);
    }
}

TEST(Breakpoints, sayWhatIsWrongWithThem)
{
    EXPECT_EQ(refusal("kernel.py:42"),
              "The breakpoint \"kernel.py:42\" is not understood; expected line:kernel.py:42, "
              "grid:3,0,1, block:x(2,0), first:stall, first:finding, first:nan or "
              "when:count[0]>=3.");
    for (const char* text : {"line:", "line:0", "line:-3", "line:x.py", "line:x.py:", "line::3",
                             "line:x.py:3.5", "line:99999999999"}) {
        EXPECT_NE(refusal(text).find("expected a line from 1"), std::string::npos) << text;
    }
    for (const char* text : {"grid:", "grid:-1", "grid:1,", "grid:(1,2)", "grid:i"}) {
        EXPECT_NE(refusal(text).find("the index of a grid step"), std::string::npos) << text;
    }
    for (const char* text : {"block:x", "block:(1)", "block:x(1,", "block:x(-1)"}) {
        EXPECT_NE(refusal(text).find("an array with the index"), std::string::npos) << text;
    }
    for (const char* text : {"first:", "first:wait"}) {
        EXPECT_NE(refusal(text).find("expected first:stall, first:finding or first:nan"),
                  std::string::npos)
            << text;
    }
    for (const char* text :
         {"when:count", "when:count[0]", "when:count[0]>=", "when:>=3", "when:count[0]>=x",
          "when:count[x]>=3", "when:[0]>=3", "when:count[0]=>3"}) {
        EXPECT_NE(refusal(text).find("one of > >= < <= = !="), std::string::npos) << text;
    }
    EXPECT_NE(refusal("").find("expected line:"), std::string::npos);
}

TEST(Breakpoints, needValuesForNumbersAlone)
{
    for (const char* text : {"first:nan", "when:count[0]>=3"}) {
        EXPECT_TRUE(needsValues(parsed(text))) << text;
    }
    for (const char* text : {"line:42", "grid:3", "block:x(2)", "first:stall", "first:finding"}) {
        EXPECT_FALSE(needsValues(parsed(text))) << text;
    }
}
