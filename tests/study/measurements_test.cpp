// Tables of measured timings: what is read, and what is refused.
#include "core/study/measurements.h"

#include <gtest/gtest.h>

#include <random>

namespace pallascope::study {

namespace {

std::vector<Measurement> read(const std::string& text)
{
    const auto rows = measurementsFrom(text, "t.csv");
    EXPECT_TRUE(rows) << (rows ? "" : rows.error().message);
    return rows ? *rows : std::vector<Measurement>();
}

} // namespace

TEST(Measurements, areReadWithTheirUnits)
{
    const std::vector<Measurement> rows =
        read("family,chip,kernel,parameters,measured,host,published,source,note\n"
             "a,v5e,some, m=8  n=16 ,1.5 ms,0.1 ms,p,s,\"x, \"\"y\"\"\"\r\n"
             "\n"
             ",,k/other.kernel.json,,2us,,,,\n");
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0], (Measurement{2,
                                    "a",
                                    "v5e",
                                    "some",
                                    {{"m", "8"}, {"n", "16"}},
                                    Seconds(0.0015),
                                    Seconds(0.0001),
                                    "p",
                                    "s",
                                    "x, \"y\""}));
    EXPECT_EQ(rows[1].line, 4);
    // Without a family, each kernel is a family of its own.
    EXPECT_EQ(rows[1].family, "k/other.kernel.json");
    EXPECT_EQ(rows[1].measured, Seconds(0.000002));
    EXPECT_EQ(rows[1].host, Seconds(0));
}

TEST(Measurements, mayHaveTheUnitInTheNameOfTheColumn)
{
    for (const auto& [unit, seconds] :
         std::map<std::string, double>{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}) {
        const auto rows = read("measured_" + unit + ",kernel\n8,k\n");
        ASSERT_EQ(rows.size(), 1U) << unit;
        EXPECT_DOUBLE_EQ(rows[0].measured.value(), 8 * seconds);
    }
    EXPECT_DOUBLE_EQ(read("measured,kernel\n8 \u00b5s,k\n")[0].measured.value(), 8e-6);
}

TEST(Measurements, thatAreNoneAreRefusedWithTheirPlace)
{
    struct Wrong
    {
        std::string text;
        std::vector<std::string> says;
    };

    for (const Wrong& wrong : std::vector<Wrong>{
             {"", {"t.csv has no rows", "names of the columns"}},
             {"kernel,measured\n", {"t.csv has no rows"}},
             {"kernel,measurd\nk,1 s\n", {"t.csv, line 1", "\"measurd\"", "measured_ms"}},
             {"kernel,chip\nk,c\n", {"t.csv, line 1", "no column measured"}},
             {"measured\n1 s\n", {"t.csv, line 1", "no column kernel"}},
             {"kernel,measured,measured_s\nk,1 s,1\n", {"measured and measured_s", "one of them"}},
             {"kernel,chip,measured,chip\nk,c,1 s,c\n", {"chip and chip"}},
             {"kernel,measured\nk\n",
              {"t.csv, line 2 has 1 cells", "expected 2, as in the first line"}},
             {"kernel,measured\nk,1 s,2\n", {"t.csv, line 2 has 3 cells"}},
             {"kernel,measured\nk,1\n", {"line 2, column \"measured\"", "\"1\"", "0.89 ms"}},
             {"kernel,measured\nk,\n", {"column \"measured\"", "0.89 ms"}},
             {"kernel,measured\nk,0 s\n", {"time above 0"}},
             {"kernel,measured\nk,-1 s\n", {"\"-1 s\""}},
             {"kernel,measured\nk,nan s\n", {"\"nan s\""}},
             {"kernel,measured\nk,1e400 s\n", {"\"1e400 s\""}},
             {"kernel,measured\nk,1 h\n", {"\"1 h\"", "s, ms, us or ns"}},
             {"kernel,measured\nk,1e7 s\n", {"a million seconds"}},
             {"kernel,measured_ms\nk,1 ms\n", {"column \"measured_ms\"", "without a unit"}},
             {"kernel,measured,host\nk,1 ms,x\n", {"column \"host\"", "\"x\""}},
             {"kernel,measured,host\nk,1 ms,1 ms\n",
              {"column \"host\"", "part of the measured time"}},
             {"kernel,measured\n,1 s\n", {"line 2, column \"kernel\" is empty"}},
             {"kernel,measured,parameters\nk,1 s,m\n", {"column \"parameters\"", "m=4096 bm=512"}},
             {"kernel,measured,parameters\nk,1 s,=1\n", {"\"=1\""}},
             {"kernel,measured,parameters\nk,1 s,m=1 m=2\n", {"parameter m is given twice"}},
             {"kernel,measured\n\"k,1 s\n", {"line 2", "nothing closes"}},
             {"kernel,measured\n\"k\"x,1 s\n", {"line 2", "behind a cell's quote"}},
             {"kernel,measured\nk\"x\",1 s\n", {"line 2", "in the middle of a cell"}},
         }) {
        const auto rows = measurementsFrom(wrong.text, "t.csv");
        ASSERT_FALSE(rows) << wrong.text;
        EXPECT_EQ(rows.error().kind, ErrorKind::User);
        for (const std::string& part : wrong.says) {
            EXPECT_NE(rows.error().message.find(part), std::string::npos)
                << wrong.text << ": " << rows.error().message;
        }
    }
}

TEST(Measurements, damagedTablesAreRefusedOrRead)
{
    const std::string sound = "family,kernel,parameters,measured,host\n"
                              "a,\"k,1\",m=1 n=2,1.5 ms,1 us\n\nb,k,,2 s,\n";
    const std::string letters = "\"\n\r,= a1.-e\xff";
    int readable = 0;
    for (unsigned seed = 0; seed < 3000; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 draw(seed);
        std::string text = sound;
        for (std::size_t changes = 1 + draw() % 3; changes > 0; --changes) {
            const std::size_t at = draw() % text.size();
            const char letter = letters[draw() % letters.size()];
            draw() % 2 == 0 ? text.insert(at, 1, letter) : text.replace(at, draw() % 3, 1, letter);
        }
        const auto rows = measurementsFrom(text, "t.csv");
        if (!rows) {
            EXPECT_EQ(rows.error().kind, ErrorKind::User);
            EXPECT_EQ(rows.error().message.find("t.csv"), 0U) << rows.error().message;
            continue;
        }
        ++readable;
        for (const Measurement& row : *rows) {
            EXPECT_GT(row.measured, row.host);
            EXPECT_GE(row.host, Seconds(0));
        }
    }
    EXPECT_GT(readable, 100);
}

} // namespace pallascope::study
