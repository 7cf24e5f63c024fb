// The checks of text and XML themselves: what they accept and what they refuse.
#include "tests/fuzz/well_formed.h"

#include <gtest/gtest.h>

namespace pallascope::fuzz {

TEST(WellFormed, knowsTextThatATerminalShows)
{
    for (const char* text : {"", "plain\n\ttext", "µs × ✓", "\xf0\x9f\x99\x82"}) {
        EXPECT_EQ(faultOfText(text), "") << text;
    }
    EXPECT_EQ(faultOfText("a\x1b[2J"), "the character U+001B");
    EXPECT_EQ(faultOfText("a\r\n"), "the character U+000D");
    EXPECT_EQ(faultOfText("\x7f"), "the character U+007F");
    EXPECT_EQ(faultOfText("\xc2\x9b"), "the character U+009B");
    EXPECT_EQ(faultOfText("\xe2\x80\xae"), "the character U+202E");
    EXPECT_EQ(faultOfText(std::string_view("\0", 1)), "the character U+0000");
    for (const char* text : {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80"}) {
        EXPECT_EQ(faultOfText(text), "no UTF-8");
    }
}

TEST(WellFormed, knowsXmlThatOthersRead)
{
    for (const char* text : {"<a/>", "<a b=\"1\" c=\"&lt;\"><b>x &amp; y</b>\n</a>\n",
                             "<svg:a xlink:href=\"#x\" ></svg:a >"}) {
        EXPECT_EQ(faultOfXml(text), "") << text;
    }
    for (const char* text : {"",
                             "x",
                             "<a>",
                             "<a></b>",
                             "<a/><b/>",
                             "<a/>x",
                             "</a>",
                             "<a b=1/>",
                             "<a b=\"1\" b=\"2\"/>",
                             "<a b=\"1\"c=\"2\"/>",
                             "<a b=\"<\"/>",
                             "<a>&nbsp;</a>",
                             "<a>&</a>",
                             "<a>]]></a>",
                             "<a b=\"1/>",
                             "<a",
                             "<1/>",
                             "<a>\x01</a>",
                             "<a>\xff</a>",
                             "<a>\xef\xbf\xbe</a>",
                             "<!-- x --><a/>",
                             "<a><!DOCTYPE b></a>"}) {
        EXPECT_NE(faultOfXml(text), "") << text;
    }
}

} // namespace pallascope::fuzz
