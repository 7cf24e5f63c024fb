// Time by source line: the times sum to the run, and the share of a line is that of its operations.
#include "tests/analysis/runs.h"

#include <gtest/gtest.h>

#include <map>

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

TEST(Lines, aWaitForManualDmaIsOfTheLineThatWaits)
{
    const auto trace = twoCores();
    const trace::Waits& waits = trace->waits();
    std::map<trace::SourceLine, std::int64_t> waited;
    for (std::size_t row = 0; row < waits.size(); ++row) {
        if (waits.semaphore[row] == trace::kNone) {
            continue;
        }
        const auto& operation =
            trace->info().operations[static_cast<std::size_t>(waits.operation[row])];
        EXPECT_EQ(operation.name, "dma_wait");
        waited[operation.source] += waits.end[row] - waits.begin[row];
    }
    EXPECT_EQ(waited.size(), 4U);
    const auto lines = linesOf(*trace);
    int onlyWaits = 0; // the other line has a comparison as well
    for (const auto& [line, time] : waited) {
        ASSERT_TRUE(lines.contains(line));
        EXPECT_GE(lines.at(line).time.value(), time / 2);
        onlyWaits += lines.at(line).time.value() == time / 2 ? 1 : 0;
    }
    EXPECT_EQ(onlyWaits, 3);
}

// Two pipelines one after the other, of 4 and of 128 steps.
TEST(Lines, ofPipelinesHaveTheOverheadOfTheirOwnSteps)
{
    const auto trace = twoPipelines();
    ASSERT_EQ(trace->info().pipelines.size(), 2U);
    std::map<std::int32_t, std::int64_t> overhead; // by pipeline
    for (std::size_t row = 0; row < trace->segments().size(); ++row) {
        const auto id = static_cast<std::size_t>(trace->segments().templateId[row]);
        const trace::SegmentTemplate& segment = trace->info().templates[id];
        if (segment.kind == trace::SegmentKind::StepOverhead) {
            const auto step = static_cast<std::size_t>(trace->segments().step[row]);
            overhead[trace->steps().pipeline[step]] += segment.duration.value();
        }
    }
    const auto lines = linesOf(*trace);
    ASSERT_EQ(overhead.size(), 2U);
    EXPECT_GT(overhead[1], 20 * overhead[0]);
    for (const auto& [pipeline, time] : overhead) {
        const auto source = trace->info().pipelines[static_cast<std::size_t>(pipeline)].source;
        ASSERT_TRUE(lines.contains(source));
        EXPECT_GE(lines.at(source).time.value(), time);
        EXPECT_LT(lines.at(source).time.value(), time + trace->end().value() / 2);
    }
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
                dots += segment.duration; // the MXU decides how long its segments are
                place = trace->info().operations[static_cast<std::size_t>(mark.operation)].source;
            }
        }
    }
    ASSERT_TRUE(lines.contains(place));
    EXPECT_EQ(lines.at(place).time, dots);
    EXPECT_EQ(lines.at(place).unit, 0);
    const auto& pipeline = lines.at(trace->info().pipelines[0].source);
    EXPECT_FALSE(pipeline.unit); // waits and overhead
}

} // namespace pallascope::analysis_test
