// When the things of a run happen.
#include "core/trace/columns.h"
#include "core/trace/findings.h"
#include "core/trace/lookup.h"
#include "tests/support/manual_operand.h"
#include "tests/support/synthetic_trace.h"
#include "views/navigation/times.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace pallascope;
using navigation::timeOf;
namespace target = layout::target;

namespace {

const trace::Trace& mainTrace()
{
    static const auto kTrace = test::mainJob();
    return *kTrace;
}

std::optional<Picoseconds> when(const layout::Target& target, Picoseconds now = Picoseconds(0))
{
    return timeOf(mainTrace(), target, now);
}

} // namespace

TEST(Times, ofRowsAreTheirBeginnings)
{
    const trace::Trace& trace = mainTrace();
    EXPECT_EQ(when(target::Copy{4}), Picoseconds(trace.copies().start[4]));
    EXPECT_EQ(when(target::Steps{7, 9}), Picoseconds(trace.steps().begin[7]));
    EXPECT_EQ(when(target::Wait{3}), Picoseconds(trace.waits().begin[3]));
    EXPECT_EQ(when(target::Segment{5}), Picoseconds(trace.segments().begin[5]));
    EXPECT_EQ(when(target::Operation{0, 5}), Picoseconds(trace.segments().begin[5]));
    EXPECT_EQ(when(target::Time{Picoseconds(12)}), Picoseconds(12));
    EXPECT_EQ(when(target::Moment{layout::lane::Unit{0}, Picoseconds(13)}), Picoseconds(13));
}

TEST(Times, ofABlockAreItsUsesOneAfterTheOtherAndThenTheFirstAgain)
{
    const trace::Trace& trace = mainTrace();
    const trace::Visits& visits = trace.visits();
    const target::Block block{visits.operand[0], visits.block[0]};
    std::vector<Picoseconds> uses;
    for (std::size_t row = 0; row < visits.size(); ++row) {
        if (visits.operand[row] == block.operand && visits.block[row] == block.block) {
            uses.emplace_back(
                trace.steps().bodyBegin[static_cast<std::size_t>(visits.firstStep[row])]);
        }
    }
    ASSERT_GT(uses.size(), 2U);
    for (std::size_t i = 0; i + 1 < uses.size(); ++i) {
        EXPECT_EQ(when(block, uses[i]), uses[i + 1]);
    }
    EXPECT_EQ(when(block, uses.back()), uses.front());
}

TEST(Times, ofALineIsTheNextRunOfItsOperation)
{
    const trace::Trace& trace = mainTrace();
    const trace::Info& info = trace.info();
    const auto first = static_cast<std::size_t>(trace.segments().templateId[0]);
    const auto operation = static_cast<std::size_t>(info.templates[first].operations.front());
    const auto line = static_cast<std::int64_t>(info.operations[operation].listingLine);
    const auto at = when(target::ListingLine{line});
    ASSERT_TRUE(at);
    EXPECT_EQ(at, when(target::Operation{static_cast<std::int64_t>(operation), {}}));
    const auto& begins = trace.segments().begin;
    EXPECT_NE(std::find(begins.begin(), begins.end(), at->value()), begins.end());
}

// A pipeline in a loop begins its numbers anew in each round; a finding's step goes on counting.
TEST(Times, ofAFindingInALoopAreThoseOfItsRound)
{
    trace::TraceBuilder builder;
    trace::Info& info = builder.info;
    info.memories = {{"HBM", Bytes(1 << 20), std::nullopt}};
    info.agents = {"TensorCore 0"};
    info.pipelines.resize(1);
    info.pipelines[0].grid = {2};
    info.pipelines[0].axisNames = {"i"};
    info.pipelines[0].steps = 2;
    info.pipelines[0].entries = 3;
    trace::Steps& steps = builder.steps;
    for (std::int64_t row = 0; row < 6; ++row) { // three rounds
        steps.pipeline.push_back(0);
        steps.ordinal.push_back(row % 2);
        const std::int64_t begin = 1000 * row;
        steps.begin.push_back(begin);
        steps.bodyBegin.push_back(begin + 100);
        steps.bodyEnd.push_back(begin + 900);
        steps.end.push_back(begin + 1000);
    }
    builder.end = Picoseconds(6000);
    info.findings.resize(2);
    info.findings[0].step = 5;
    info.findings[1].step = 2;
    info.findings[1].relatedStep = 1;
    const auto trace = std::move(builder).finish();
    ASSERT_TRUE(trace) << trace.error().message;
    const std::vector<layout::FindingPlace> wanted = {
        {0, Picoseconds(5000)}, {1, Picoseconds(1000)}, {1, Picoseconds(2000)}};
    EXPECT_EQ(navigation::placesOfFindings(**trace), wanted);
}

// The time at which the run came there counts, not the begin of the step or a run of the line.
TEST(Times, ofAFindingAreItsOwnIfItHasOne)
{
    trace::TraceBuilder builder = test::mainJobBuilder(512, 1024);
    const Picoseconds begin(builder.steps.begin[1]);
    builder.info.findings.resize(3);
    builder.info.findings[0].time = Picoseconds(1'234'567);
    builder.info.findings[1].step = 1;
    builder.info.findings[1].time = begin + Picoseconds(5);
    builder.info.findings[2].time = builder.end + Picoseconds(1); // as no run makes it
    const Picoseconds end = builder.end;
    const auto trace = std::move(builder).finish();
    ASSERT_TRUE(trace) << trace.error().message;
    const std::vector<layout::FindingPlace> wanted = {
        {0, Picoseconds(1'234'567)}, {1, begin + Picoseconds(5)}, {2, end}};
    EXPECT_EQ(navigation::placesOfFindings(**trace), wanted);
}

TEST(Times, ofWhatAnArrayEndsWithIsTheLastRunOfItsLine)
{
    trace::TraceBuilder builder = test::mainJobBuilder(512, 1024);
    std::size_t row = builder.segments.size();
    const auto operations = [&] {
        const auto id = static_cast<std::size_t>(builder.segments.templateId[row]);
        return builder.info.templates[id].operations;
    };
    do {
        --row;
    } while (operations().empty()); // step overhead
    const auto operation = static_cast<std::size_t>(operations().front());
    trace::Finding ended;
    ended.source = builder.info.operations[operation].source;
    trace::Finding other = ended;
    ended.kind = trace::findingEntry(trace::FindingKind::UndefinedResult).name;
    builder.info.findings = {ended, other};
    const auto trace = std::move(builder).finish();
    ASSERT_TRUE(trace) << trace.error().message;
    const Picoseconds last((*trace)->segments().begin[row]);
    const std::vector<layout::FindingPlace> places = navigation::placesOfFindings(**trace);
    ASSERT_EQ(places.size(), 2U);
    EXPECT_EQ(places[0].time, last);
    EXPECT_LT(places[1].time, last);
}

// Without a step, and of a line that takes no time, it is where its operand is first copied.
TEST(Times, ofAFindingAreTheFirstCopyIfNothingElseSays)
{
    trace::TraceBuilder builder;
    trace::Info& info = builder.info;
    info.memories = {{"HBM", Bytes(1 << 20), std::nullopt}, {"SMEM", Bytes(1 << 16), std::nullopt}};
    info.links = {{"HBM", 0, 1, BytesPerSecond(1e9), BytesPerSecond(1e9), "HBM"}};
    info.agents = {"Warpgroup 0"};
    trace::Operand out = test::manualOperand("sum → y");
    out.direction = trace::Direction::Out;
    info.operands = {test::manualOperand("x → tile"), out};
    info.copiedShapes = {Shape({8, 128})};
    trace::Copies& copies = builder.copies;
    copies.operand = {0, 1};
    copies.slot = copies.link = {0, 0};
    copies.block = {0, 0};
    copies.step = {trace::kNone, trace::kNone};
    copies.out = {0, 1};
    copies.bytes = {4096, 4096};
    copies.issue = {0, 0};
    copies.start = {5'000, 20'000};
    copies.end = {20'000, 30'000};
    trace::CopyEnds& ends = builder.copyEnds;
    ends.copy = {0, 0, 1, 1};
    ends.agent = {0, 0, 0, 0};
    ends.buffer = ends.semaphore = std::vector<std::int32_t>(4, trace::kNone);
    ends.first = {0, 0, 0, 0};
    ends.shape = {0, 0, 0, 0};
    builder.end = Picoseconds(40'000);
    std::vector<trace::Finding> findings(3);
    findings[0].operand = "sum";
    findings[1].operand = "tile";
    findings[2].operand = "til"; // no such thing
    info.findings = std::move(findings);
    const auto trace = std::move(builder).finish();
    ASSERT_TRUE(trace) << trace.error().message;
    const std::vector<layout::FindingPlace> wanted = {
        {0, Picoseconds(20'000)}, {1, Picoseconds(5'000)}, {2, Picoseconds(0)}};
    EXPECT_EQ(navigation::placesOfFindings(**trace), wanted);
}

// On a mesh, the single step of each device lasts as long as the kernel: what counts is where the
// line runs, on the device that the finding is about.
TEST(Times, ofAFindingInASingleStepIsTheRunOfItsLineThere)
{
    trace::TraceBuilder builder;
    trace::Info& info = builder.info;
    info.memories = {{"HBM", Bytes(1 << 20), std::nullopt}, {"VMEM", Bytes(1 << 16), std::nullopt}};
    info.links = {{"HBM", 0, 1, BytesPerSecond(1e9), BytesPerSecond(1e9), "HBM"}};
    info.agents = {"device 0 TensorCore 0", "device 1 TensorCore 0"};
    info.sources = {{"kernel.py", {}}};
    info.pipelines.resize(2);
    trace::Operand tile = test::manualOperand("x → tile");
    tile.source = {0, 7};
    info.operands = {tile};
    info.copiedShapes = {Shape({8, 128})};
    trace::Steps& steps = builder.steps;
    for (std::int32_t device = 0; device < 2; ++device) {
        info.pipelines[trace::at(device)].agent = device;
        info.pipelines[trace::at(device)].steps = 1;
        steps.pipeline.push_back(device);
        steps.ordinal.push_back(0);
        steps.begin.push_back(1000);
        steps.bodyBegin.push_back(1000);
        steps.bodyEnd.push_back(40'000);
        steps.end.push_back(40'000);
    }
    trace::Copies& copies = builder.copies;
    for (const std::int64_t issue : {5'000, 6'000, 7'000, 8'000}) {
        copies.operand.push_back(0);
        copies.slot.push_back(0);
        copies.link.push_back(0);
        copies.block.push_back(0);
        copies.step.push_back(issue % 2'000 == 0 ? 1 : 0);
        copies.out.push_back(0);
        copies.bytes.push_back(4096);
        copies.issue.push_back(issue);
        copies.start.push_back(4 * issue);
        copies.end.push_back(4 * issue + 1000);
    }
    for (std::int32_t end = 0; end < 8; ++end) {
        builder.copyEnds.copy.push_back(end / 2);
        builder.copyEnds.agent.push_back((end / 2) % 2);
        builder.copyEnds.buffer.push_back(trace::kNone);
        builder.copyEnds.semaphore.push_back(trace::kNone);
        builder.copyEnds.first.push_back(0);
        builder.copyEnds.shape.push_back(0);
    }
    builder.end = Picoseconds(40'000);
    std::vector<trace::Finding> findings(2);
    findings[0].step = 1;
    findings[0].relatedStep = 0;
    findings[1].step = 0;
    findings[0].source = findings[1].source = tile.source;
    info.findings = std::move(findings);
    const auto trace = std::move(builder).finish();
    ASSERT_TRUE(trace) << trace.error().message;
    const std::vector<layout::FindingPlace> wanted = {{0, Picoseconds(6'000)},
                                                      {1, Picoseconds(5'000)}};
    EXPECT_EQ(navigation::placesOfFindings(**trace), wanted);
}

TEST(Times, areNoneOfWhatHasNoneOrIsNotThere)
{
    constexpr std::int64_t kFar = std::int64_t{1} << 40;
    EXPECT_FALSE(when({}));
    EXPECT_FALSE(when(target::Lane{layout::lane::CopyIn{}}));
    EXPECT_FALSE(when(target::Alternative{0}));
    EXPECT_FALSE(when(target::Time{}));
    EXPECT_FALSE(when(target::Finding{}));
    for (const std::int64_t row : {-1L, -kFar, kFar}) {
        EXPECT_FALSE(when(target::Copy{row}));
        EXPECT_FALSE(when(target::Steps{row, row}));
        EXPECT_FALSE(when(target::Wait{row}));
        EXPECT_FALSE(when(target::Segment{row}));
        EXPECT_FALSE(when(target::Operation{0, row}));
        EXPECT_FALSE(when(target::Block{0, row}));
        EXPECT_FALSE(when(target::Buffer{row}));
        EXPECT_FALSE(when(target::ListingLine{row}));
        EXPECT_FALSE(when(target::Finding{row}));
        EXPECT_FALSE(when(target::Print{row}));
    }
}

TEST(Times, theRangeOfAStepHasAMarginWithinTheRun)
{
    const trace::Index index(test::mainJob());
    const trace::Trace& trace = index.trace();
    const trace::Steps& steps = trace.steps();
    const std::int64_t margin = (steps.end[10] - steps.begin[10]) / 20;
    const layout::TimeRange inside = navigation::stepRange(index, Picoseconds(steps.bodyBegin[10]));
    EXPECT_EQ(inside.begin, Picoseconds(steps.begin[10] - margin));
    EXPECT_EQ(inside.end, Picoseconds(steps.end[10] + margin));
    const layout::TimeRange last = navigation::stepRange(index, trace.end());
    EXPECT_LE(last.end, trace.end());
    EXPECT_LT(last.begin, last.end);
}
