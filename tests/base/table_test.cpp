// CSV tables: what is written must be what is read back.
#include "core/base/table.h"

#include <gtest/gtest.h>

#include <random>

namespace pallascope {

TEST(Table, csvReadsBackWhatIsWritten)
{
    const std::string letters = "a,\"\n\r x";
    for (unsigned seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 draw(seed);
        const std::size_t columns = 2 + draw() % 3;
        std::vector<std::vector<std::string>> rows(1 + draw() % 4);
        std::string text = seed % 2 == 0 ? "" : "\xef\xbb\xbf";
        for (std::vector<std::string>& row : rows) {
            for (std::size_t i = 0; i < columns; ++i) {
                std::string& cell = row.emplace_back();
                for (std::size_t length = draw() % 4; length > 0; --length) {
                    cell += letters[draw() % letters.size()];
                }
                text += csvCell(cell) + (i + 1 < columns ? "," : seed % 3 == 0 ? "\r\n" : "\n");
            }
        }
        const auto read = parseCsv(text, "t.csv");
        ASSERT_TRUE(read) << read.error().message;
        ASSERT_EQ(read->size(), rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ((*read)[i].cells, rows[i]);
        }
    }
}

TEST(Table, linesAreThoseOfTheText)
{
    const auto rows = parseCsv("a,b\n\n\"x\ny\",1\r\nc,d", "t.csv");
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->size(), 3U);
    EXPECT_EQ((*rows)[1], (CsvRow{3, {"x\ny", "1"}}));
    EXPECT_EQ((*rows)[2], (CsvRow{5, {"c", "d"}}));
}

TEST(Table, csvThatIsNoneIsRefusedWithItsLine)
{
    using Case = std::pair<std::string, std::string>;
    for (const auto& [text, says] : {Case{"a,b\nc\n", "line 2 has 1 cells"},
                                     Case{"a\nb\n\"c", "line 3 begins a cell with a quote"},
                                     Case{"a\n\"b\nc", "line 2 begins a cell with a quote"},
                                     Case{"\"a\"b", "line 1 has \"b\" behind"},
                                     Case{"a\nb\"c\"", "line 2 has a quote in the middle"},
                                     Case{std::string("a\n\0", 3), "line 2 has a byte 0"}}) {
        const auto rows = parseCsv(text, "t.csv");
        ASSERT_FALSE(rows) << text;
        EXPECT_EQ(rows.error().message.find("t.csv, " + says), 0U) << rows.error().message;
    }
}

TEST(Table, columnsAreAsWideAsTheirLongestCell)
{
    EXPECT_EQ(alignedText({{"a", "bb", ""}, {"µµµ", "c", "d"}}), "a    bb\nµµµ  c   d\n");
}

} // namespace pallascope
