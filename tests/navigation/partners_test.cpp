// What belongs together: a copy, its block, its slot and the wait that it causes; an operation and
// its lines.
#include "core/trace/lookup.h"
#include "tests/support/run_view_fixture.h"
#include "tests/support/synthetic_trace.h"
#include "views/navigation/partners.h"
#include "views/navigation/times.h"

#include <gtest/gtest.h>

#include <functional>

using namespace pallascope;
namespace target = layout::target;

namespace {

navigation::Partners partnersOf(const layout::Target& target, Picoseconds now = Picoseconds(0))
{
    layout::ViewState state;
    state.now = now;
    return {test::sharedMainJob(), state, target};
}

// A row of Waits that has a length and is for a copy.
std::size_t wait()
{
    const trace::Waits& waits = test::sharedMainJob().trace->waits();
    std::size_t row = 0;
    while (waits.copy[row] == trace::kNone || waits.begin[row] == waits.end[row]) {
        ++row;
    }
    return row;
}

} // namespace

TEST(Partners, ofACopyAreItsBlockItsSlotAndTheWaitForIt)
{
    const trace::Trace& trace = *test::sharedMainJob().trace;
    const auto copy = static_cast<std::size_t>(trace.waits().copy[wait()]);
    const trace::Copies& copies = trace.copies();
    const trace::Operand& operand =
        trace.info().operands[static_cast<std::size_t>(copies.operand[copy])];
    const auto partners = partnersOf(target::Copy{static_cast<std::int64_t>(copy)});
    EXPECT_TRUE(partners.contains(target::Copy{static_cast<std::int64_t>(copy)}));
    EXPECT_TRUE(partners.contains(target::Block{copies.operand[copy], copies.block[copy]}));
    EXPECT_TRUE(partners.contains(target::Buffer{operand.firstBuffer + copies.slot[copy]}));
    EXPECT_TRUE(partners.contains(target::Wait{static_cast<std::int64_t>(wait())}));
    EXPECT_FALSE(partners.contains(target::Copy{static_cast<std::int64_t>(copy) + 1}));
    EXPECT_FALSE(partners.contains(target::Block{copies.operand[copy], copies.block[copy] + 1}));
    EXPECT_FALSE(partners.contains(target::Buffer{operand.firstBuffer + 1 - copies.slot[copy]}));
}

TEST(Partners, ofAWaitAreItsCopyAndTheLineThatWaits)
{
    const trace::Trace& trace = *test::sharedMainJob().trace;
    const auto partners = partnersOf(target::Wait{static_cast<std::int64_t>(wait())});
    EXPECT_TRUE(partners.contains(target::Copy{trace.waits().copy[wait()]}));
    EXPECT_FALSE(partners.contains(target::Copy{trace.waits().copy[wait()] + 1}));
}

TEST(Partners, ofASlotAreItsBlockAtTheMomentAndTheOtherWayRound)
{
    const trace::Trace& trace = *test::sharedMainJob().trace;
    const Picoseconds now(trace.steps().bodyBegin[5] + 1);
    std::int32_t buffer = 0; // the first one in use
    while (trace::slotStateAt(trace, trace::BufferRow{buffer}, now).phase
           != trace::SlotPhase::InUse) {
        ++buffer;
    }
    const std::int64_t block = *trace::slotStateAt(trace, trace::BufferRow{buffer}, now).block;
    const std::int64_t operand = trace.info().buffers[static_cast<std::size_t>(buffer)].operand;
    const auto blockPartners = [&](std::int64_t number) {
        return partnersOf(target::Block{operand, number}, now);
    };
    EXPECT_TRUE(partnersOf(target::Buffer{buffer}, now).contains(target::Block{operand, block}));
    EXPECT_TRUE(blockPartners(block).contains(target::Buffer{buffer}));
    EXPECT_FALSE(blockPartners(block + 1).contains(target::Buffer{buffer}));
}

TEST(Partners, ofALineAreItsOperationsWhereverTheyRun)
{
    const trace::Info& info = test::sharedMainJob().trace->info();
    std::size_t at = 0;
    while (info.operations[at].source.file == trace::kNone) {
        ++at;
    }
    const trace::Operation& of = info.operations[at];
    const auto row = static_cast<std::int64_t>(at);
    for (const layout::Target& line :
         {layout::Target(target::SourceLine{of.source.file, of.source.line}),
          layout::Target(target::ListingLine{of.listingLine})}) {
        const auto partners = partnersOf(line);
        EXPECT_TRUE(partners.contains(target::Operation{row, 3}));
        EXPECT_TRUE(partners.contains(target::Operation{row, {}}));
        EXPECT_TRUE(partners.contains(target::ListingLine{of.listingLine}));
    }
    const auto once = partnersOf(target::Operation{row, 3});
    EXPECT_TRUE(once.contains(target::SourceLine{of.source.file, of.source.line}));
    EXPECT_TRUE(once.contains(target::Operation{row, 3}));
    EXPECT_TRUE(once.contains(target::Operation{row, {}})); // a place that leaves the segment open
    EXPECT_FALSE(once.contains(target::Operation{row, 4}));
}

TEST(Partners, ofSeveralStepsAreThoseThatBeginWithTheSame)
{
    const auto several = partnersOf(target::Steps{8, 11});
    EXPECT_TRUE(several.contains(target::Steps{8, 11}));
    EXPECT_TRUE(several.contains(target::Steps{8, 8}));
    EXPECT_FALSE(several.contains(target::Steps{8, 9}));
    EXPECT_FALSE(several.contains(target::Steps{9, 9}));
}

TEST(Partners, areNoneOfWhatStandsForNothingInTheRun)
{
    EXPECT_TRUE(partnersOf({}).empty());
    EXPECT_TRUE(partnersOf(target::Lane{layout::lane::CopyIn{}}).empty());
    EXPECT_TRUE(partnersOf(target::Time{Picoseconds(1)}).empty());
    EXPECT_FALSE(partnersOf(target::Copy{0}).empty());
    EXPECT_FALSE(navigation::Partners().contains(layout::Target(target::Copy{0})));
}

// A block of out that steps 8 and 0 write, as a race would say it.
TEST(Partners, ofAFindingAreTheStepsBlocksSlotsAndTheLineOfBothAccesses)
{
    trace::TraceBuilder builder = test::mainJobBuilder();
    builder.info.findings = {{"race",
                              trace::FindingClass::Structural,
                              "Steps 8 and 0 write out(0,0).",
                              "out",
                              8,
                              0,
                              {0, 7},
                              1}};
    const layout::RunView run = test::runViewOf(std::move(builder).finish().value());
    const navigation::Partners partners(run, {}, target::Finding{0});
    EXPECT_TRUE(partners.contains(target::Finding{0}));
    EXPECT_TRUE(partners.contains(target::SourceLine{0, 7}));
    EXPECT_FALSE(partners.contains(target::SourceLine{0, 8}));
    const trace::Trace& trace = *run.trace;
    const trace::Visits& visits = trace.visits();
    std::size_t seen = 0;
    for (std::size_t visit = 0; visit < visits.size(); ++visit) {
        const auto& operand =
            trace.info().operands[static_cast<std::size_t>(visits.operand[visit])];
        const auto has = [&](std::int32_t step) {
            return visits.firstStep[visit] <= step && step <= visits.lastStep[visit];
        };
        if (operand.name == "out" && (has(0) || has(8))) {
            ++seen;
            EXPECT_TRUE(
                partners.contains(target::Block{visits.operand[visit], visits.block[visit]}));
            EXPECT_TRUE(
                partners.contains(target::Buffer{operand.firstBuffer + visits.slot[visit]}));
        }
    }
    EXPECT_EQ(seen, 2U);
    for (const std::int64_t step : {0, 8}) {
        EXPECT_TRUE(partners.contains(target::Steps{step, step})) << step;
    }
    EXPECT_FALSE(partners.contains(target::Steps{1, 1}));
    EXPECT_FALSE(partners.contains(target::Block{0, 0})); // of x, which has no part in it
    EXPECT_TRUE(navigation::Partners(run, {}, target::Finding{1}).contains(target::Finding{1}));
}

namespace {

// Copies of three pages into one buffer, by two lines, without a grid.
layout::RunView runWithThreeCopies(const std::function<void(trace::Finding&)>& change = {})
{
    trace::TraceBuilder builder = test::mainJobBuilder();
    builder.info.pipelines.clear();
    builder.info.buffers.edit().clear();
    builder.info.operands.edit().clear();
    builder.steps = {};
    builder.segments = {};
    builder.copies = {};
    builder.waits = {};
    builder.visits = {};
    for (const std::int32_t line : {12, 18}) {
        trace::Operand operand;
        operand.name = "pages \u2192 buffer";
        operand.direction = trace::Direction::In;
        operand.array = Shape(std::vector<Extent>{3, 128});
        operand.block = Shape(std::vector<Extent>{1, 128});
        operand.blockCounts = {3, 1};
        operand.gridAxes = {-1, -1};
        operand.pipeline = trace::kNone;
        operand.slots = 0;
        operand.arrayBytes = Bytes(3 * 512);
        operand.blockBytes = Bytes(512);
        operand.source = {0, line};
        builder.info.operands.edit().push_back(operand);
    }
    for (std::int64_t page = 0; page < 3; ++page) {
        trace::Copies& copies = builder.copies;
        copies.operand.push_back(page == 0 ? 0 : 1);
        copies.block.push_back(page);
        copies.slot.push_back(0);
        copies.out.push_back(0);
        copies.link.push_back(0);
        copies.step.push_back(-1);
        copies.bytes.push_back(512);
        copies.issue.push_back(100 * page);
        copies.start.push_back(100 * page);
        copies.end.push_back(100 * page + 90);
    }
    trace::Operation start = builder.info.operations[0];
    start.name = "dma_start";
    start.source = {0, 18};
    builder.info.operations.edit()[0] = start;
    builder.info.findings = {{"overwritten_in_flight",
                              trace::FindingClass::Structural,
                              "buffer is written by two copies.",
                              "buffer",
                              -1,
                              {},
                              {0, 18},
                              1}};
    if (change) {
        change(builder.info.findings[0]);
    }
    builder.end = Picoseconds(290);
    const auto trace = std::move(builder).finish();
    EXPECT_TRUE(trace) << trace.error().message;
    layout::RunView view;
    view.trace = trace.value();
    view.index = std::make_shared<const trace::Index>(view.trace);
    return view;
}

} // namespace

TEST(Partners, ofAFindingAboutManualDmaAreItsTwoCopies)
{
    const layout::RunView run = runWithThreeCopies();
    const navigation::Partners partners(run, {}, target::Finding{0});
    EXPECT_TRUE(partners.contains(target::Copy{0}));
    EXPECT_TRUE(partners.contains(target::Copy{1}));
    EXPECT_FALSE(partners.contains(target::Copy{2}));
    EXPECT_TRUE(partners.contains(target::Block{0, 0}));
    EXPECT_TRUE(partners.contains(target::Block{1, 1}));
    EXPECT_FALSE(partners.contains(target::Block{1, 2}));
    EXPECT_TRUE(partners.contains(target::SourceLine{0, 18}));
}

// The copy that nobody has waited for is not the last one before the read.
TEST(Partners, ofAFindingThatKnowsItsCopyAreThatOne)
{
    for (const std::int64_t known : {0, 1}) {
        const layout::RunView run = runWithThreeCopies([&](trace::Finding& finding) {
            finding.time = Picoseconds(250);
            finding.copyTime = Picoseconds(100 * known);
        });
        const navigation::Partners partners(run, {}, target::Finding{0});
        for (const std::int64_t copy : {0, 1, 2}) {
            EXPECT_EQ(partners.contains(target::Copy{copy}), copy == known) << copy;
        }
    }
    const layout::RunView run = runWithThreeCopies([](trace::Finding& finding) {
        finding.kind = "copy_never_awaited";
        finding.operand = "semaphore"; // no copy has its name
        finding.copyTime = Picoseconds(100);
    });
    const navigation::Partners partners(run, {}, target::Finding{0});
    for (const std::int64_t copy : {0, 1, 2}) {
        EXPECT_EQ(partners.contains(target::Copy{copy}), copy == 1) << copy;
    }
    EXPECT_EQ(navigation::placesOfFindings(*run.trace)[0].time, Picoseconds(100));
}
