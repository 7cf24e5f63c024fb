// TraceBuilder::finish: what it accepts, and the sentence for each rule that a row can break.
#include "core/trace/trace.h"
#include "tests/support/random_trace.h"
#include "tests/support/synthetic_trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace pallascope::trace {

namespace {

struct Breach
{
    const char* says; // a part of the sentence
    std::function<void(TraceBuilder&)> commit;
};

// Of a loop and one in its body.
void addRounds(TraceBuilder& builder, Rounds rounds)
{
    builder.info.loops = {{"l", {}, kNone, kNone}, {"m", {}, kNone, 0}};
    builder.rounds = std::move(rounds);
}

// Of a grid of four blocks.
void addGridBlocks(TraceBuilder& builder, GridBlocks blocks)
{
    builder.info.blockGrids = {{.blocks = 4}};
    builder.gridBlocks = std::move(blocks);
}

const std::vector<Breach>& breaches()
{
    using B = TraceBuilder&;
    static const std::vector<Breach> all = {
        // Columns and indices.
        {"steps.end has 7 rows, but the other columns of steps have 8",
         [](B b) { b.steps.end.pop_back(); }},
        {"copies.slot has 21 rows", [](B b) { b.copies.slot.push_back(0); }},
        {"segments.templateId[2] is 3, but must lie between 0 and 2",
         [](B b) { b.segments.templateId[2] = 3; }},
        {"segments.agent[0] is 1", [](B b) { b.segments.agent[0] = 1; }},
        {"segments.step[0] is -2", [](B b) { b.segments.step[0] = -2; }},
        {"copies.operand[5] is 3", [](B b) { b.copies.operand[5] = 3; }},
        {"copies.link[5] is -1", [](B b) { b.copies.link[5] = -1; }},
        {"copies.out[0] is 2", [](B b) { b.copies.out[0] = 2; }},
        {"waits.copy[0] is -2", [](B b) { b.waits.copy[0] = -2; }},
        {"waits.operation[1] is 99",
         [](B b) {
             b.waits.operation.assign(b.waits.size(), kNone);
             b.waits.operation[1] = 99;
         }},
        {"waits.operation has 1 rows", [](B b) { b.waits.operation = {kNone}; }},
        {"visits.lastStep[0] is 8", [](B b) { b.visits.lastStep[0] = 8; }},
        // Steps.
        {"steps row 3: begin", [](B b) { b.steps.bodyEnd[3] = b.steps.bodyBegin[3] - 1; }},
        {"steps row 7: begin", [](B b) { b.steps.end[7] = b.end.value() + 1; }},
        {"steps.ordinal[2] is 3, but the next of 8 steps of its pipeline is 2",
         [](B b) { b.steps.ordinal[2] = 3; }},
        {"steps.begin[4] is", [](B b) { b.steps.end[3] -= 1; }},
        // Segments.
        {"segments.begin[1] is 0 ps, but rows are sorted by begin",
         [](B b) { b.segments.begin[1] = 0; }},
        {"past the run's end", [](B b) { b.segments.begin.back() = b.end.value(); }},
        {"but agent 0 is busy until", [](B b) { b.segments.begin[1] -= 1; }},
        {"lies outside its step 5", [](B b) { b.segments.step[3] = 5; }},
        // Copies.
        {"operand x has no block 4", [](B b) { b.copies.block[0] = 4; }},
        {"operand x has no block 0 or no slot 2", [](B b) { b.copies.slot[0] = 2; }},
        {"copies.out[0] is 1, against the direction of operand x",
         [](B b) { b.copies.out[0] = 1; }},
        {"rows are in issue order", [](B b) { b.copies.issue[5] = 0; }},
        {"copies row 0: issue", [](B b) { b.copies.start[0] = -1; }},
        {"1 bytes need more than no time",
         [](B b) { b.copies.bytes[0] = 1, b.copies.end[0] = b.copies.start[0]; }},
        {"copies move more than 2305843009213693952 bytes",
         [](B b) { b.copies.bytes[0] = b.copies.bytes[1] = (std::int64_t{1} << 60) + 1; }},
        {"but link HBM is busy until", [](B b) { b.copies.start[1] -= 1; }},
        // Ends of manual DMA.
        {"copyEnds.semaphore has 0 rows",
         [](B b) {
             b.copyEnds = {{0, 0}, {0, 0}, {kNone, kNone}, {0, 0}, {0, 0}, {}};
         }},
        {"copyEnds.shape[0] is 0, but must lie between 0 and -1",
         [](B b) {
             b.copyEnds = {{0, 0}, {0, 0}, {kNone, kNone}, {0, 0}, {0, 0}, {-1, -1}};
         }},
        {"copyEnds.copy[0] is 0; expected two rows for each copy by manual DMA",
         [](B b) {
             b.info.copiedShapes = {{1, 1}};
             b.copyEnds = {{0, 0}, {0, 0}, {kNone, kNone}, {0, 0}, {0, 0}, {-1, -1}};
         }},
        {"copiedShapes has [1,-1]",
         [](B b) {
             b.info.copiedShapes = {{1, -1}};
         }},
        // Waits.
        {"waits row 0", [](B b) { b.waits.end[0] = -1; }},
        {"but agent 0 still waits until", [](B b) { b.waits.begin[1] -= 1; }},
        {"is for copy 0, which is issued at", [](B b) { b.waits.end[0] -= 1; }},
        {"while its agent still", [](B b) { b.waits.begin[2] -= 1; }},
        // Visits.
        {"visits row 0: steps 2 to 1",
         [](B b) { b.visits.firstStep[0] = 2, b.visits.lastStep[0] = 1; }},
        {"visits row 0: operand x has no block 9", [](B b) { b.visits.block[0] = 9; }},
        {"visits row 1 must come after the row before it", [](B b) { b.visits.firstStep[1] = 0; }},
        {"visits.copyIn[0] is copy 1, which moves another operand",
         [](B b) { b.visits.copyIn[0] = 1; }},
        {"which must precede the bodies", [](B b) { b.steps.bodyBegin[0] = 5; }},
        // The run as a whole.
        {"the run's end is -1 ps", [](B b) { b.end = Picoseconds(-1); }},
        {"must lie between 0 and 9007199254740991000 ps",
         [](B b) { b.end = Picoseconds(INT64_MAX); }},
        // Info.
        {"pipelines[0].steps is 9, but its grid (2, 2, 2) has 8 points",
         [](B b) { b.info.pipelines[0].steps = 9; }},
        {"has no sound number of points",
         [](B b) {
             b.info.pipelines[0].grid = {INT64_MAX, 2, 2};
         }},
        {"names 2 axes of a grid of 3", [](B b) { b.info.pipelines[0].axisNames.pop_back(); }},
        {"pipelines[0] has operands 0 to 4", [](B b) { b.info.pipelines[0].operandCount = 4; }},
        {"one entry per array axis", [](B b) { b.info.operands.edit()[1].gridAxes.pop_back(); }},
        {"is negative or past 2^63 elements", [](B b) { b.info.operands.edit()[1].block[0] = 0; }},
        {"has 0 indices for axis 2; expected one for each element of its 0 blocks",
         [](B b) { b.info.operands.edit()[1].indirectAxis = 2; }},
        {"has 1 indices for axis -1", [](B b) { b.info.operands.edit()[1].indices = {0}; }},
        {"has 0 indices for axis 0; expected one for each element of its",
         [](B b) { b.info.operands.edit()[1].indirectAxis = 0; }},
        {"has 1 element axes, 1 paddings and 0 slice axes; expected axes below 2",
         [](B b) {
             b.info.operands.edit()[1].elementAxes = {2};
             b.info.operands.edit()[1].elementPads = {0};
         }},
        {"has 1 element axes, 0 paddings",
         [](B b) { b.info.operands.edit()[1].elementAxes = {0}; }},
        {"0 paddings and 1 slice axes", [](B b) { b.info.operands.edit()[1].sliceAxes = {-1}; }},
        {"follows grid axis 3 of 3", [](B b) { b.info.operands.edit()[1].gridAxes[0] = 3; }},
        {"belongs to pipeline 1", [](B b) { b.info.operands.edit()[0].pipeline = 1; }},
        {"has its slots in buffers 5 to 7", [](B b) { b.info.operands.edit()[0].firstBuffer = 5; }},
        {"must be slot 0 of operand 0", [](B b) { b.info.operands.edit()[0].firstBuffer = 1; }},
        {"names operand 3 of 3", [](B b) { b.info.buffers.edit()[0].operand = 3; }},
        {"negative address", [](B b) { b.info.buffers.edit()[0].address = Bytes(-1); }},
        {"joins memories 0 and 3", [](B b) { b.info.links[0].to = 3; }},
        {"moves 0 B/s; expected at least 1e-06 and at most 1e+18",
         [](B b) { b.info.links[0].achieved = BytesPerSecond(0); }},
        {"moves 5e-324 B/s; expected at least 1 and at most 1e+18",
         [](B b) { b.info.links[0].datasheet = BytesPerSecond(5e-324); }},
        {"moves nan B/s", [](B b) { b.info.links[0].achieved = BytesPerSecond(std::nan("")); }},
        {"operations[0].listingLine is 99",
         [](B b) { b.info.operations.edit()[0].listingLine = 99; }},
        {"listing[0].operation is 11", [](B b) { b.info.listing.edit()[0].operation = 11; }},
        {"source file 1", [](B b) { b.info.operations.edit()[3].source.file = 1; }},
        {"retire times for", [](B b) { b.info.templates.edit()[1].retire.pop_back(); }},
        {"templates[1].retire[1] is cycle 0",
         [](B b) { b.info.templates.edit()[1].retire[1] = Cycles(0); }},
        {"overlap on unit load",
         [](B b) { b.info.templates.edit()[1].marks[1].offset = Cycles(0); }},
        {"but the segment has",
         [](B b) { b.info.templates.edit()[1].marks[0].length = Cycles(INT64_MAX); }},
        {"has FLOPs of 6 units, but there are 7",
         [](B b) { b.info.templates.edit()[1].flopsByUnit.pop_back(); }},
        {"negative or overflowing number of FLOPs",
         [](B b) {
             b.info.templates.edit()[1].flopsByUnit = std::vector<Flops>(7, Flops(INT64_MAX));
         }},
        {"prints[1].time is 4 ps; expected a time from 5 ps",
         [](B b) {
             b.info.prints = {{"a", 0, 0, Picoseconds(5), {}}, {"b", 0, 0, Picoseconds(4), {}}};
         }},
        {"prints[0].time is",
         [](B b) {
             b.info.prints = {{"a", 0, 0, b.end + Picoseconds(1), {}}};
         }},
        {"prints[0] is of step 8 of 8 and agent 0 of 1",
         [](B b) {
             b.info.prints = {{"a", 8, 0, Picoseconds(0), {}}};
         }},
        {"prints[0] is of step -1 of 8 and agent 1 of 1",
         [](B b) {
             b.info.prints = {{"a", -1, 1, Picoseconds(0), {}}};
         }},
        {"prints[0]: line 1 of source file 9",
         [](B b) {
             b.info.prints = {{"a", -1, 0, Picoseconds(0), {9, 1}}};
         }},
        {"from_l1_bytes is -1", [](B b) { b.info.fromL1 = Bytes(-1); }},
        {"prints_beyond is -1", [](B b) { b.info.printsBeyond = -1; }},
        {"jax_accepts is \"maybe\"", [](B b) { b.info.jaxAccepts = "maybe"; }},
        // Rounds of loops.
        {"loops[0] (l) lies in loop 0",
         [](B b) {
             b.info.loops = {{"l", {}, -1, 0}};
         }},
        {"loops[0] (l) lies in loop -1, is operation 99 of",
         [](B b) {
             b.info.loops = {{"l", {}, 99}};
         }},
        {"loops[0]: line 1 of source file 9",
         [](B b) {
             b.info.loops = {{"l", {9, 1}}};
         }},
        {"rounds.loop[0] is 0",
         [](B b) {
             b.rounds = {{0}, {0}, {0}, {0}, {1}};
         }},
        {"rounds.agent[0] is 1",
         [](B b) {
             addRounds(b, {{0}, {1}, {0}, {0}, {1}});
         }},
        {"rounds.round has 2 rows",
         [](B b) {
             addRounds(b, {{0}, {0}, {0, 1}, {0}, {1}});
         }},
        {"rounds row 0 (2 to 1 ps)",
         [](B b) {
             addRounds(b, {{0}, {0}, {0}, {2}, {1}});
         }},
        {"rounds row 1 (1 to 5 ps) must begin at 2 ps or later",
         [](B b) {
             addRounds(b, {{0, 1}, {0, 0}, {0, 0}, {2, 1}, {5, 5}});
         }},
        {"rounds.round[1] is 2, but the round before of loop l is 0",
         [](B b) {
             addRounds(b, {{0, 0}, {0, 0}, {0, 2}, {0, 1}, {1, 2}});
         }},
        {"rounds.begin[1] is 1 ps, but the round before of loop l ends at 2 ps",
         [](B b) {
             addRounds(b, {{0, 0}, {0, 0}, {0, 1}, {0, 1}, {2, 3}});
         }},
        {"rounds row 1 (1 to 3 ps) begins in a round that ends at 2 ps",
         [](B b) {
             addRounds(b, {{0, 1}, {0, 0}, {0, 0}, {0, 1}, {2, 3}});
         }},
        {"gridBlocks.grid[0] is 0", [](B b) { b.gridBlocks = {{0}, {0}, {0}, {0}, {0}, {1}}; }},
        {"gridBlocks.claimed has 2 rows",
         [](B b) {
             addGridBlocks(b, {{0}, {0}, {0}, {0, 0}, {0}, {1}});
         }},
        {"gridBlocks.agent[0] is 1",
         [](B b) {
             addGridBlocks(b, {{0}, {0}, {1}, {0}, {0}, {1}});
         }},
        {"gridBlocks.block[0] is 4, but its grid has 4 blocks",
         [](B b) {
             addGridBlocks(b, {{0}, {4}, {0}, {0}, {0}, {1}});
         }},
        {"gridBlocks row 1 (1 to 3 ps) must begin at 2 ps or later",
         [](B b) {
             addGridBlocks(b, {{0, 0}, {0, 1}, {0, 0}, {0, 0}, {2, 1}, {3, 3}});
         }},
        {"cacheChanges.bytes has 2 rows",
         [](B b) {
             b.cacheChanges = {{0}, {0}, {0}, {0, 1}};
         }},
        {"cacheChanges.device[0] is 1",
         [](B b) {
             b.cacheChanges = {{0}, {1}, {0}, {0}};
         }},
        {"cacheChanges.operand[1] is -1",
         [](B b) {
             b.cacheChanges = {{0, 0}, {0, 0}, {0, -1}, {0, 0}};
         }},
        {"cacheChanges.time[1] is 1 ps, but must be at least 2 ps",
         [](B b) {
             b.cacheChanges = {{2, 1}, {0, 0}, {0, 0}, {0, 0}};
         }},
        {"cacheChanges.bytes[0] is -1, but must lie between 0 and 1099511627776",
         [](B b) {
             b.cacheChanges = {{0}, {0}, {0}, {-1}};
         }},
        {"block_grids[0] has a number that is negative or too large",
         [](B b) { b.info.blockGrids = {{.blocks = 4, .cluster = 0}}; }},
        {"cycles at 0 Hz", [](B b) { b.info.templates.edit()[0].clock = Hertz(0); }},
    };
    return all;
}

} // namespace

TEST(TraceRules, aSoundTracePassesAndKeepsItsRows)
{
    TraceBuilder builder = test::mainJobBuilder(512);
    const Copies copies = builder.copies;
    const Result<std::shared_ptr<const Trace>> trace = std::move(builder).finish();
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ((*trace)->copies(), copies);
    EXPECT_EQ((*trace)->steps().size(), 512U);
}

// `isKnown` tells finish() that what the breach leaves unchanged is known to be valid.
void expectBreachesNamed(bool isKnown)
{
    for (const Breach& breach : breaches()) {
        SCOPED_TRACE(breach.says);
        TraceBuilder builder = test::mainJobBuilder(2048);
        const Info before = builder.info;
        breach.commit(builder);
        const Result<std::shared_ptr<const Trace>> trace =
            std::move(builder).finish(isKnown ? &before : nullptr);
        if (trace) {
            ADD_FAILURE() << "was let through";
            continue;
        }
        EXPECT_NE(trace.error().message.find(breach.says), std::string::npos)
            << trace.error().message;
        EXPECT_EQ(trace.error().kind, ErrorKind::User);
    }
}

TEST(TraceRules, everyBrokenRuleIsNamedWithItsRow)
{
    expectBreachesNamed(false);
}

TEST(TraceRules, everyBrokenRuleIsNamedWhereTheRestIsKnown)
{
    expectBreachesNamed(true);
}

// Compares the synthetic main job with the counts that the kernel's arithmetic gives.
TEST(SyntheticMainJob, movesAndComputesWhatTheKernelAsksFor)
{
    const std::shared_ptr<const Trace> trace = test::mainJob(512);
    std::int64_t read = 0, written = 0, flops = 0;
    std::vector<std::int64_t> perOperand(3, 0);
    for (std::size_t i = 0; i < trace->copies().size(); ++i) {
        (trace->copies().out[i] != 0 ? written : read) += trace->copies().bytes[i];
        ++perOperand[static_cast<std::size_t>(trace->copies().operand[i])];
    }
    for (const std::int32_t id : trace->segments().templateId) {
        flops += trace->info().templates[static_cast<std::size_t>(id)].flopsByUnit[0].value();
    }
    EXPECT_EQ(read, 536'870'912);
    EXPECT_EQ(written, 67'108'864);
    EXPECT_EQ(flops, 2 * (std::int64_t{1} << 36));
    EXPECT_EQ(perOperand, (std::vector<std::int64_t>{512, 512, 64}));
    EXPECT_NEAR(toSeconds(trace->end()).value(), 966.2e-6, 0.1e-6);
}

// Nothing is busy for longer than the run, and the run takes at most as long as all parts one after
// the other.
TEST(SyntheticMainJob, takesBetweenItsLongestPartAndTheirSum)
{
    for (const int block : {256, 512, 1024, 2048}) {
        const std::shared_ptr<const Trace> trace = test::mainJob(block);
        std::int64_t computing = 0, copying = 0;
        for (const std::int32_t id : trace->segments().templateId) {
            computing += trace->info().templates[static_cast<std::size_t>(id)].duration.value();
        }
        for (std::size_t i = 0; i < trace->copies().size(); ++i) {
            copying += trace->copies().end[i] - trace->copies().start[i];
        }
        EXPECT_GE(trace->end().value(), std::max(computing, copying)) << block;
        EXPECT_LE(trace->end().value(), computing + copying) << block;
    }
}

} // namespace pallascope::trace
