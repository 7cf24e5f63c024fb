// Texts whose invisible characters are written out.
#include "core/base/text.h"
#include "core/base/visible.h"

#include <gtest/gtest.h>

#include <random>

namespace pallascope {

TEST(Visible, textStaysAsItIs)
{
    for (const std::string_view text : {"", "x_slots", "512×1024 µs", "日本語 \U0001f600"}) {
        EXPECT_EQ(visible(text), text);
        EXPECT_EQ(visible(text, Lines::Several), text);
    }
}

TEST(Visible, whatShowsNothingOfItselfIsWrittenOut)
{
    EXPECT_EQ(visible("a\x1b[31mb\a\r\nc\x7f"), "a\\x1b[31mb\\x07\\x0d\\x0ac\\x7f");
    EXPECT_EQ(visible("\xc2\x9b"), "\\x9b"); // a control character of the block C1
    EXPECT_EQ(visible("a\xe2\x80\xae"
                      "b"),
              "a\\u202eb"); // turns the direction to right to left
    EXPECT_EQ(visible("\xef\xbf\xbf"), "\\uffff");
    EXPECT_EQ(visible(std::string_view("\0", 1)), "\\x00");
    EXPECT_EQ(visible("\xff"), "\xef\xbf\xbd");
}

TEST(Visible, linesAndTabsStayWhereThereAreSeveral)
{
    EXPECT_EQ(visible("a\tb\r\nc\rd\n", Lines::Several), "a\tb\nc\\x0dd\n");
}

// For any bytes the result must be valid UTF-8 without anything that has to be written out, and
// must not change if it is made visible again.
TEST(Visible, isSafeAndTheSameAgainForAnyBytes)
{
    std::mt19937_64 random(3);
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        for (std::uint64_t i = random() % 20; i > 0; --i) {
            const std::string_view parts[] = {"\xe2\x80", "\xc2", "\x1b", "\n", "a"};
            text += random() % 2 == 0 ? std::string(1, static_cast<char>(random() % 256))
                                      : std::string(parts[random() % 5]);
        }
        const std::string shown = visible(text);
        EXPECT_EQ(validUtf8(shown), shown);
        EXPECT_EQ(visible(shown), shown);
        EXPECT_EQ(shown.find_first_of("\n\r\x1b\a\x7f"), std::string::npos);
        EXPECT_EQ(shown.find("\xe2\x80\xae"), std::string::npos);
    }
}

} // namespace pallascope
