// Texts from outside: invalid UTF-8 and control characters.
#include "core/base/result.h"
#include "core/base/text.h"

#include <gtest/gtest.h>

namespace pallascope {

namespace {

TEST(Text, bytesThatAreNotUtf8BecomeReplacementCharacters)
{
    const std::string mark = "\xef\xbf\xbd";
    EXPECT_EQ(validUtf8("a\xff\xc3(\xed\xa0\x80z"),
              "a" + mark + mark + "(" + mark + mark + mark + "z");
    const std::string sound = "\xe2\x82\xac \xf0\x9f\x98\x80 \x01\n";
    EXPECT_EQ(validUtf8(sound), sound);
    EXPECT_EQ(validUtf8("\xe2\x82"), mark + mark); // cut off in the middle of a character
}

TEST(Text, controlCharactersOfASentenceAreShownNotSent)
{
    EXPECT_EQ(oneLine("a\nb\x1b[2J\x7f\xff"), "a\\x0ab\\x1b[2J\\x7f\xef\xbf\xbd");
    EXPECT_EQ(userError("two\nlines").message, "two\\x0alines");
}

TEST(Text, aSentenceThatQuotesWithoutEndIsCutInItsMiddleBetweenCharacters)
{
    std::string euros = "start ";
    for (int i = 0; i < 1000; ++i) {
        euros += "\xe2\x82\xac";
    }
    const std::string line = oneLine(euros + " end");
    EXPECT_LT(line.size(), 1000U);
    EXPECT_EQ(line.substr(0, 6), "start ");
    EXPECT_EQ(line.substr(line.size() - 4), " end");
    EXPECT_EQ(validUtf8(line), line);
    EXPECT_NE(line.find("..."), std::string::npos);
    EXPECT_EQ(oneLine(std::string(900, 'x')).size(), 900U);
}

} // namespace

} // namespace pallascope
