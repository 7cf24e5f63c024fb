// Compares the moving points of the roofline with sums over rows. Also the period that decides how
// long a window is.
#include "tests/analysis/runs.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pallascope::analysis_test {

namespace {

// The part of [begin, end) that lies before t. A row without length counts whole from its begin on.
double partBefore(std::int64_t begin, std::int64_t end, std::int64_t t)
{
    if (begin == end) {
        return t >= end ? 1 : 0;
    }
    return std::clamp(static_cast<double>(t - begin) / static_cast<double>(end - begin), 0.0, 1.0);
}

double flopsBefore(const trace::Trace& trace, std::int64_t t)
{
    double sum = 0;
    for (std::size_t i = 0; i < trace.segments().size(); ++i) {
        const auto& segment =
            trace.info().templates[static_cast<std::size_t>(trace.segments().templateId[i])];
        const std::int64_t begin = trace.segments().begin[i];
        sum += partBefore(begin, begin + segment.duration.value(), t)
               * static_cast<double>(segment.flops().value());
    }
    return sum;
}

double bytesBefore(const trace::Trace& trace, std::int64_t t)
{
    double sum = 0;
    for (std::size_t i = 0; i < trace.copies().size(); ++i) {
        sum += partBefore(trace.copies().start[i], trace.copies().end[i], t)
               * static_cast<double>(trace.copies().bytes[i]);
    }
    return sum;
}

void expectPoint(const std::optional<analysis::Point>& point, double flops, double bytes,
                 std::int64_t ps)
{
    if (flops <= 0 || bytes <= 0 || ps <= 0) {
        EXPECT_FALSE(point);
        return;
    }
    ASSERT_TRUE(point);
    EXPECT_NEAR(point->intensity / (flops / bytes), 1, 1e-6);
    EXPECT_NEAR(point->flopsPerSecond / (flops / (static_cast<double>(ps) * 1e-12)), 1, 1e-6);
}

} // namespace

TEST(Points, areWorkAndTrafficSoFarAndOverTheWindow)
{
    for (const NamedRun& run : machineRuns()) {
        SCOPED_TRACE(run.name);
        const trace::Index index(run.trace);
        const std::int64_t end = run.trace->end().value(), window = end / 7;
        for (std::int64_t i = 0; i <= 40; ++i) {
            const std::int64_t t = end * i / 40;
            const double flops = flopsBefore(*run.trace, t), bytes = bytesBefore(*run.trace, t);
            expectPoint(analysis::runPoint(index, Picoseconds(t)), flops, bytes, t);
            const auto moving = analysis::windowPoint(index, Picoseconds(t), Picoseconds(window));
            if (t < window) {
                EXPECT_FALSE(moving);
                continue;
            }
            expectPoint(moving, flops - flopsBefore(*run.trace, t - window),
                        bytes - bytesBefore(*run.trace, t - window), window);
        }
    }
}

TEST(Points, theRunPointEndsAtTheReport)
{
    const auto trace = mainJob();
    const analysis::Report report = analysis::report(*trace).value();
    const auto point = analysis::runPoint(trace::Index(trace), trace->end());
    ASSERT_TRUE(point);
    EXPECT_NEAR(point->intensity, report.arithmeticIntensity, 1e-6);
    EXPECT_NEAR(point->flopsPerSecond / report.flopsPerSecond, 1, 1e-9);
}

TEST(Points, thereIsNoneBeforeAnythingIsComputed)
{
    const auto trace = mainJob();
    const trace::Index index(trace);
    EXPECT_FALSE(analysis::runPoint(index, Picoseconds(0)));
    const Picoseconds firstBody(trace->steps().bodyBegin.front());
    EXPECT_FALSE(analysis::runPoint(index, firstBody));
    EXPECT_FALSE(analysis::windowPoint(index, firstBody, Picoseconds(0)));
}

TEST(Period, isTheStayOfAnOutputBlock)
{
    const auto trace = mainJob(); // k is innermost and 8 blocks deep
    EXPECT_EQ(analysis::periodSteps(*trace), 8);
    const trace::Steps& steps = trace->steps();
    EXPECT_EQ(analysis::periodTime(*trace), Picoseconds(steps.end[259] - steps.begin[252]));
    for (const NamedRun& run : machineRuns()) {
        const std::int64_t period = analysis::periodSteps(*run.trace);
        EXPECT_GE(period, 1) << run.name;
        EXPECT_LE(analysis::periodTime(*run.trace), run.trace->end()) << run.name;
        if (run.name == "small") {
            EXPECT_EQ(period, 5); // 640 / 128
        }
        if (run.name == "revisits") {
            EXPECT_EQ(period, 1);
        }
    }
}

} // namespace pallascope::analysis_test
