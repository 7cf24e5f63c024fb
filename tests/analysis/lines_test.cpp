// Time by source line: it sums to the run, and a line's share is that of its operations.
#include "tests/analysis/runs.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace pallascope::analysis_test {

namespace {

std::map<trace::SourceLine, analysis::LineTime> linesOf(const trace::Trace& trace)
{
    std::map<trace::SourceLine, analysis::LineTime> lines;
    for (const analysis::LineTime& line : analysis::timeByLine(trace)) {
        EXPECT_TRUE(lines.emplace(line.line, line).second) << "a line is listed twice";
    }
    return lines;
}

} // namespace

TEST(Lines, sumToTheRun)
{
    for (const NamedRun& run : machineRuns()) {
        Picoseconds sum;
        for (const auto& [place, line] : linesOf(*run.trace)) {
            EXPECT_GE(line.time, Picoseconds(0));
            sum += line.time;
        }
        EXPECT_EQ(sum, run.trace->end()) << run.name;
    }
}

TEST(Lines, ofSeveralCoresAreTheAverageAndSumToTheRun)
{
    const auto trace = twoCores();
    ASSERT_EQ(analysis::agentsUsed(trace->info()), 2);
    Picoseconds sum;
    for (const auto& [place, line] : linesOf(*trace)) {
        EXPECT_GE(line.time, Picoseconds(0));
        sum += line.time;
    }
    EXPECT_EQ(sum, trace->end());
}

TEST(Lines, aWaitByHandIsOfTheLineThatWaits)
{
    const auto trace = twoCores();
    const trace::Waits& waits = trace->waits();
    Picoseconds waited;
    for (std::size_t row = 0; row < waits.size(); ++row) {
        if (waits.semaphore[row] != trace::kNone) {
            waited += Picoseconds(waits.end[row] - waits.begin[row]);
        }
    }
    ASSERT_GT(waited, Picoseconds(0));
    Picoseconds atWaits;
    std::int64_t lines = 0;
    for (const auto& [place, share] : linesOf(*trace)) {
        if (place.file < 0) {
            continue; // what no line takes
        }
        const std::string& text = trace->info().sources[static_cast<std::size_t>(place.file)].text;
        std::istringstream in(text);
        std::string code;
        for (std::int32_t line = 0; line < place.line; ++line) {
            std::getline(in, code);
        }
        if (code.find("dmaWait(") != std::string::npos) {
            atWaits += share.time;
            ++lines;
            EXPECT_EQ(share.unit, -1);
        }
    }
    EXPECT_EQ(lines, 4);
    // Each line is an average over two cores, rounded down.
    EXPECT_LE(atWaits.value(), waited.value() / 2);
    EXPECT_GE(atWaits.value(), waited.value() / 2 - lines);
}

TEST(Lines, theProductsLineHasTheMatrixUnitsTime)
{
    const auto trace = mainJob();
    const auto lines = linesOf(*trace);
    Picoseconds dots;
    trace::SourceLine place;
    for (std::size_t i = 0; i < trace->segments().size(); ++i) {
        const auto id = static_cast<std::size_t>(trace->segments().templateId[i]);
        const trace::SegmentTemplate& segment = trace->info().templates[id];
        for (const trace::Mark& mark : segment.marks) {
            if (mark.unit == 0 && mark.operation >= 0) {
                dots += segment.duration; // the MXU sets the length of its segments
                place = trace->info().operations[static_cast<std::size_t>(mark.operation)].source;
            }
        }
    }
    ASSERT_TRUE(lines.contains(place));
    EXPECT_EQ(lines.at(place).time, dots);
    EXPECT_EQ(lines.at(place).unit, 0);
    const auto& pipeline = lines.at(trace->info().pipelines[0].source);
    EXPECT_EQ(pipeline.unit, -1); // waits and overhead
}

} // namespace pallascope::analysis_test
