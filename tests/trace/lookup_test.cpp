// Compares every look-up and sum with a scan over all rows that follows the comments of lookup.h
// word for word.
#include "core/trace/lookup.h"
#include "tests/support/random_trace.h"
#include "tests/support/synthetic_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace pallascope::trace {

namespace {

using test::mainJob;
using test::randomTrace;

std::size_t row(std::int64_t index)
{
    return static_cast<std::size_t>(index);
}

// About `count` times: those at which something begins or ends, those one ps before and after them,
// and some between.
std::vector<std::int64_t> interestingTimes(const Trace& trace, std::size_t count,
                                           std::uint64_t seed)
{
    std::vector<std::int64_t> all = {0, trace.end().value()};
    const auto add = [&](const std::vector<std::int64_t>& column) {
        for (const std::int64_t time : column) {
            all.insert(all.end(), {time - 1, time, time + 1});
        }
    };
    add(trace.steps().begin);
    add(trace.steps().bodyBegin);
    add(trace.steps().bodyEnd);
    add(trace.segments().begin);
    add(trace.copies().issue);
    add(trace.copies().start);
    add(trace.copies().end);
    add(trace.waits().end);
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < count / 4; ++i) {
        all.push_back(static_cast<std::int64_t>(random() % row(trace.end().value() + 1)));
    }
    for (std::int64_t& time : all) {
        time = std::clamp<std::int64_t>(time, 0, trace.end().value());
    }
    std::shuffle(all.begin(), all.end(), random);
    all.resize(std::min(all.size(), count));
    return all;
}

std::int32_t scanStep(const Trace& trace, std::int64_t t)
{
    std::int32_t result = 0;
    for (std::size_t i = 0; i < trace.steps().size(); ++i) {
        result = trace.steps().begin[i] <= t ? static_cast<std::int32_t>(i) : result;
    }
    return result;
}

std::int64_t durationOf(const Trace& trace, std::size_t segment)
{
    return trace.info().templates[row(trace.segments().templateId[segment])].duration.value();
}

std::int32_t scanSegment(const Trace& trace, std::int32_t agent, std::int64_t t)
{
    for (std::size_t i = 0; i < trace.segments().size(); ++i) {
        const std::int64_t begin = trace.segments().begin[i];
        if (trace.segments().agent[i] == agent && begin <= t && t < begin + durationOf(trace, i)) {
            return static_cast<std::int32_t>(i);
        }
    }
    return kNone;
}

std::int32_t scanWait(const Trace& trace, std::int32_t agent, std::int64_t t)
{
    const Waits& w = trace.waits();
    for (std::size_t i = 0; i < w.size(); ++i) {
        if (w.agent[i] == agent && w.begin[i] <= t && t < w.end[i]) {
            return static_cast<std::int32_t>(i);
        }
    }
    return kNone;
}

// A visit takes its slot when its copy is issued or, without a copy, when its first step begins.
// The last visit that did so by t decides the state of the slot.
SlotPhase scanSlot(const Trace& trace, std::int32_t buffer, std::int64_t t, std::int64_t& block)
{
    const Visits& v = trace.visits();
    const Copies& c = trace.copies();
    const Buffer& place = trace.info().buffers[row(buffer)];
    SlotPhase phase = SlotPhase::Empty;
    block = -1;
    std::int64_t left = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
        const std::int64_t begin = trace.steps().begin[row(v.firstStep[i])];
        if (v.operand[i] != place.operand || v.slot[i] != place.slot) {
            continue;
        }
        const std::int64_t taken =
            v.copyIn[i] == kNone ? std::max(begin, left) : c.issue[row(v.copyIn[i])];
        left = v.copyOut[i] == kNone ? 0 : c.end[row(v.copyOut[i])];
        if (taken > t) {
            continue;
        }
        block = v.block[i];
        if (v.copyIn[i] != kNone && t < c.end[row(v.copyIn[i])]) {
            phase = t < c.start[row(v.copyIn[i])] ? SlotPhase::Queued : SlotPhase::Arriving;
        } else if (t < begin) {
            phase = SlotPhase::Ready;
        } else if (v.copyOut[i] != kNone && t >= c.issue[row(v.copyOut[i])]) {
            const std::size_t out = row(v.copyOut[i]);
            phase = t >= c.end[out]     ? SlotPhase::Free
                    : t >= c.start[out] ? SlotPhase::Leaving
                                        : SlotPhase::LeavingQueued;
        } else {
            const bool used = t < trace.steps().end[row(v.lastStep[i])];
            phase = used ? SlotPhase::InUse : SlotPhase::Free;
        }
    }
    return phase;
}

// The strongest of the states that the visits of the block give it.
BlockPhase scanBlock(const Trace& trace, std::int32_t operand, std::int64_t block, std::int64_t t)
{
    const Visits& v = trace.visits();
    const Copies& c = trace.copies();
    const bool output = trace.info().operands[row(operand)].direction != Direction::In;
    std::set<BlockPhase> found;
    for (std::size_t i = 0; i < v.size(); ++i) {
        if (v.operand[i] != operand || v.block[i] != block) {
            continue;
        }
        const std::int64_t begin = trace.steps().begin[row(v.firstStep[i])];
        const std::int64_t end = trace.steps().end[row(v.lastStep[i])];
        const bool here = v.copyIn[i] == kNone || t >= c.end[row(v.copyIn[i])];
        if (v.copyIn[i] != kNone && t >= c.issue[row(v.copyIn[i])]) {
            const std::size_t in = row(v.copyIn[i]);
            found.insert(here               ? (t < begin ? BlockPhase::Ready : BlockPhase::Before)
                         : t >= c.start[in] ? BlockPhase::Arriving
                                            : BlockPhase::Queued);
        }
        const bool gone = v.copyOut[i] != kNone && t >= c.issue[row(v.copyOut[i])];
        if (gone) {
            found.insert(t < c.end[row(v.copyOut[i])] ? BlockPhase::Leaving : BlockPhase::Written);
        } else if (t >= begin && here) {
            found.insert(t < end ? BlockPhase::InUse : BlockPhase::Before);
        }
    }
    for (const BlockPhase phase : {BlockPhase::InUse, BlockPhase::Arriving, BlockPhase::Queued,
                                   BlockPhase::Leaving, BlockPhase::Ready}) {
        if (found.count(phase) != 0) {
            return phase;
        }
    }
    if (output && found.count(BlockPhase::Written) != 0) {
        return BlockPhase::Written;
    }
    return found.empty() ? BlockPhase::Never : BlockPhase::Before;
}

double overlap(std::int64_t begin, std::int64_t end, std::int64_t t)
{
    return static_cast<double>(std::clamp(t, begin, end) - begin);
}

double share(std::int64_t begin, std::int64_t end, std::int64_t t)
{
    return begin == end ? (t >= end ? 1 : 0)
                        : overlap(begin, end, t) / static_cast<double>(end - begin);
}

void expectCopiesInFlight(const Trace& trace, std::int64_t t)
{
    const Copies& c = trace.copies();
    for (std::int32_t link = 0; link < static_cast<std::int32_t>(trace.info().links.size());
         ++link) {
        std::set<std::size_t> expected, found;
        for (std::size_t i = 0; i < c.size(); ++i) {
            if (c.link[i] == link && c.issue[i] <= t && t < c.end[i]) {
                expected.insert(i);
            }
        }
        const CopyRange range = copiesInFlight(trace, LinkRow{link}, Picoseconds(t));
        for (std::size_t i = range.first; i < range.last; ++i) {
            if (c.link[i] == link) {
                found.insert(i);
            }
        }
        EXPECT_EQ(found, expected) << "link " << link;
    }
}

void expectSlots(const Trace& trace, std::int64_t t)
{
    for (std::int32_t buffer = 0; buffer < static_cast<std::int32_t>(trace.info().buffers.size());
         ++buffer) {
        std::int64_t block = -1;
        const SlotPhase expected = scanSlot(trace, buffer, t, block);
        const SlotState found = slotStateAt(trace, BufferRow{buffer}, Picoseconds(t));
        EXPECT_EQ(found.phase, expected) << "buffer " << buffer;
        EXPECT_EQ(found.block.value_or(-1), block) << "buffer " << buffer;
        EXPECT_GE(found.fraction, 0);
        EXPECT_LE(found.fraction, 1);
        if (found.phase == SlotPhase::InUse) {
            const Visits& v = trace.visits();
            std::int64_t done = 0;
            for (std::int64_t step = v.firstStep[found.visit->index()];
                 step <= v.lastStep[found.visit->index()]; ++step) {
                done += trace.steps().begin[row(step)] <= t && trace.steps().bodyEnd[row(step)] <= t
                            ? 1
                            : 0;
            }
            EXPECT_EQ(found.stepsDone, done);
        }
    }
}

void expectBlocks(const Index& index, std::int64_t t)
{
    const Trace& trace = index.trace();
    const Copies& c = trace.copies();
    for (std::size_t operand = 0; operand < trace.info().operands.size(); ++operand) {
        const Operand& o = trace.info().operands[operand];
        const auto number = static_cast<std::int32_t>(operand);
        const bool output = o.direction != Direction::In;
        std::int64_t blocks = 1, written = 0;
        for (const Extent count : o.blockCounts) {
            blocks *= count;
        }
        for (std::int64_t block = 0; block < blocks; ++block) {
            const BlockState state = index.blockStateAt(OperandRow{number}, block, Picoseconds(t));
            EXPECT_EQ(state.phase, scanBlock(trace, number, block, t))
                << o.name << " block " << block;
            std::int64_t copies = 0;
            for (std::size_t i = 0; i < c.size(); ++i) {
                copies += row(c.operand[i]) == operand && c.block[i] == block && c.end[i] <= t
                                  && (c.out[i] != 0) == output
                              ? 1
                              : 0;
            }
            EXPECT_EQ(state.copies, copies) << o.name << " block " << block;
            written += output && copies > 0 ? 1 : 0;
        }
        EXPECT_EQ(index.blocksWritten(OperandRow{number}, Picoseconds(t)), written) << o.name;
    }
}

void expectCopySums(const Index& index, std::int64_t t)
{
    const Trace& trace = index.trace();
    const Copies& c = trace.copies();
    double all = 0; // over all links of HBM
    for (std::size_t i = 0; i < c.size(); ++i) {
        const Link& link = trace.info().links[row(c.link[i])];
        const bool hbm = trace.info().memories[row(link.from)].name == "HBM"
                         || trace.info().memories[row(link.to)].name == "HBM";
        all += hbm ? static_cast<double>(c.bytes[i]) * share(c.start[i], c.end[i], t) : 0;
    }
    for (std::size_t link = 0; link < trace.info().links.size(); ++link) {
        double bytes = 0;
        for (std::size_t i = 0; i < c.size(); ++i) {
            bytes += row(c.link[i]) == link
                         ? static_cast<double>(c.bytes[i]) * share(c.start[i], c.end[i], t)
                         : 0;
        }
        EXPECT_NEAR(index.linkBytes(LinkRow::at(link), Picoseconds(t)), bytes, 1e-6 * bytes);
    }
    for (const bool out : {false, true}) {
        for (std::size_t link = 0; link < trace.info().links.size(); ++link) {
            double busy = 0;
            for (std::size_t i = 0; i < c.size(); ++i) {
                const bool counts = row(c.link[i]) == link && (c.out[i] != 0) == out;
                busy += counts ? overlap(c.start[i], c.end[i], t) : 0;
            }
            EXPECT_EQ(index.linkBusy(LinkRow::at(link), out, Picoseconds(t)).value(), busy);
        }
        for (std::size_t operand = 0; operand < trace.info().operands.size(); ++operand) {
            double bytes = 0;
            std::int64_t landed = 0;
            for (std::size_t i = 0; i < c.size(); ++i) {
                if (row(c.operand[i]) == operand && (c.out[i] != 0) == out) {
                    bytes += static_cast<double>(c.bytes[i]) * share(c.start[i], c.end[i], t);
                    landed += c.end[i] <= t ? 1 : 0;
                }
            }
            const auto number = static_cast<std::int32_t>(operand);
            double moved = 0;
            for (std::size_t link = 0; link < trace.info().links.size(); ++link) {
                moved +=
                    index.operandBytes(OperandRow{number}, out, LinkRow::at(link), Picoseconds(t));
            }
            EXPECT_NEAR(moved, bytes, 1e-6 * bytes);
            EXPECT_EQ(index.landed(OperandRow{number}, out, Picoseconds(t)), landed);
        }
    }
    EXPECT_NEAR(index.bytes(Picoseconds(t)), all, 1e-6 * all);
}

void expectSegmentSums(const Index& index, std::int64_t t)
{
    const Trace& trace = index.trace();
    const Segments& s = trace.segments();
    double flops = 0;
    std::vector<std::int64_t> busy(trace.info().units.size(), 0);
    for (std::size_t i = 0; i < s.size(); ++i) {
        const SegmentTemplate& segment = trace.info().templates[row(s.templateId[i])];
        const std::int64_t begin = s.begin[i];
        flops += static_cast<double>(segment.flops().value())
                 * (begin > t ? 0 : share(begin, begin + durationOf(trace, i), t));
        for (const Mark& mark : segment.marks) {
            const auto time = [&](Cycles cycles) {
                return begin
                       + std::min(toPicoseconds(cycles, segment.clock), segment.duration).value();
            };
            busy[row(mark.unit)] += static_cast<std::int64_t>(
                overlap(time(mark.offset), time(mark.offset + mark.length), t));
        }
    }
    EXPECT_NEAR(index.flops(Picoseconds(t)), flops, 1e-6 * flops + 1e-6);
    for (std::size_t unit = 0; unit < busy.size(); ++unit) {
        EXPECT_EQ(index.unitBusy(UnitRow::at(unit), Picoseconds(t)).value(), busy[unit])
            << "unit " << unit;
    }
    double waiting = 0;
    for (std::size_t i = 0; i < trace.waits().size(); ++i) {
        waiting += overlap(trace.waits().begin[i], trace.waits().end[i], t);
    }
    EXPECT_EQ(index.waiting(Picoseconds(t)).value(), waiting);
}

void expectAgents(const Trace& trace, std::int64_t t)
{
    for (std::int32_t agent = 0; agent < static_cast<std::int32_t>(trace.info().agents.size());
         ++agent) {
        const std::int32_t segment = scanSegment(trace, agent, t);
        EXPECT_EQ(segmentAt(trace, AgentRow{agent}, Picoseconds(t)), SegmentRow::of(segment));
        EXPECT_EQ(waitAt(trace, AgentRow{agent}, Picoseconds(t)),
                  WaitRow::of(scanWait(trace, agent, t)));
        std::int32_t operation = kNone;
        if (segment != kNone) {
            const SegmentTemplate& s =
                trace.info().templates[row(trace.segments().templateId[row(segment)])];
            for (std::size_t i = s.operations.size(); i-- > 0;) {
                const std::int64_t retires = trace.segments().begin[row(segment)]
                                             + toPicoseconds(s.retire[i], s.clock).value();
                operation = retires > t ? s.operations[i] : operation;
            }
        }
        EXPECT_EQ(operationAt(trace, AgentRow{agent}, Picoseconds(t)), OperationRow::of(operation));
    }
}

void expectVisits(const Trace& trace, std::int32_t step)
{
    for (std::size_t operand = 0; operand < trace.info().operands.size(); ++operand) {
        std::int32_t expected = kNone;
        for (std::size_t i = 0; i < trace.visits().size(); ++i) {
            if (row(trace.visits().operand[i]) == operand && trace.visits().firstStep[i] <= step
                && step <= trace.visits().lastStep[i]) {
                expected = static_cast<std::int32_t>(i);
            }
        }
        EXPECT_EQ(visitAt(trace, OperandRow::at(operand), StepRow{step}), VisitRow::of(expected));
    }
}

void expectAll(const Index& index, std::int64_t t)
{
    SCOPED_TRACE(t);
    const Trace& trace = index.trace();
    EXPECT_EQ(stepAt(trace, Picoseconds(t)), StepRow::of(scanStep(trace, t)));
    expectVisits(trace, scanStep(trace, t));
    expectCopiesInFlight(trace, t);
    expectSlots(trace, t);
    expectAgents(trace, t);
    expectBlocks(index, t);
    expectCopySums(index, t);
    expectSegmentSums(index, t);
}

} // namespace

TEST(LookUps, agreeWithAScanOnTheMainJob)
{
    const Index index(mainJob(512));
    for (const std::int64_t t : interestingTimes(index.trace(), 60, 1)) {
        expectAll(index, t);
    }
}

TEST(LookUps, agreeWithAScanOnRandomRuns)
{
    for (std::uint64_t seed = 0; seed < 500 && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        const Index index(randomTrace(seed));
        for (const std::int64_t t : interestingTimes(index.trace(), 80, seed)) {
            expectAll(index, t);
        }
    }
}

TEST(LookUps, timesOutsideTheRunAreTakenToItsEnds)
{
    const Index index(mainJob(1024));
    const Trace& trace = index.trace();
    const Picoseconds before(-5), after = trace.end() + Picoseconds(7);
    EXPECT_EQ(stepAt(trace, before), StepRow{0});
    EXPECT_EQ(stepAt(trace, after), StepRow{63});
    EXPECT_EQ(index.bytes(before), 0);
    EXPECT_EQ(index.bytes(after), index.bytes(trace.end()));
    EXPECT_EQ(index.unitBusy(UnitRow{0}, after), index.unitBusy(UnitRow{0}, trace.end()));
    EXPECT_EQ(slotStateAt(trace, BufferRow{0}, after).phase, SlotPhase::Free);
    EXPECT_EQ(index.blockStateAt(OperandRow{2}, 15, after).phase, BlockPhase::Written);
}

TEST(LookUps, anEmptyTraceHasNothingAtAnyTime)
{
    Result<std::shared_ptr<const Trace>> trace = TraceBuilder().finish();
    ASSERT_TRUE(trace);
    EXPECT_FALSE(stepAt(**trace, Picoseconds(0)));
    EXPECT_FALSE(segmentAt(**trace, AgentRow{0}, Picoseconds(0)));
    EXPECT_FALSE(waitAt(**trace, AgentRow{0}, Picoseconds(0)));
    EXPECT_TRUE(copiesInFlight(**trace, LinkRow{0}, Picoseconds(0)).empty());
    EXPECT_EQ(Index(*trace).flops(Picoseconds(3)), 0);
}

// A warpgroup waits for its products without a barrier that has a name.
TEST(LookUps, nameTheProductsOfAWait)
{
    TraceBuilder builder = test::mainJobBuilder();
    std::vector<Operation> operations(builder.info.operations.begin(),
                                      builder.info.operations.end());
    operations.push_back(operations.front());
    operations.back().name = "wgmma_wait";
    builder.info.operations = std::move(operations);
    builder.waits.operation.assign(builder.waits.size(), kNone);
    builder.waits.operation[1] = static_cast<std::int32_t>(builder.info.operations.size()) - 1;
    builder.waits.copy[0] = builder.waits.copy[1] = kNone;
    const Result<std::shared_ptr<const Trace>> trace = std::move(builder).finish();
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(awaitedName(**trace, WaitRow{0}), "");
    EXPECT_EQ(awaitedName(**trace, WaitRow{1}), "products");
    EXPECT_EQ(awaitedLabel(**trace, WaitRow{1}), "products");
}

TEST(LookUps, namesAndIndicesAreRowMajor)
{
    const std::shared_ptr<const Trace> trace = mainJob(512);
    const Info& info = trace->info();
    EXPECT_EQ(gridIndices(info.pipelines[0], 77), (std::vector<Extent>{1, 1, 5}));
    EXPECT_EQ(blockIndex(info.operands[0], 11), (std::vector<Extent>{1, 3}));
    EXPECT_EQ(blockName(info.operands[0], 11), "x(1,3)");
    EXPECT_EQ(indexText({}), "()");
    EXPECT_EQ(indexText({4}), "(4)");
}

// The first steps of the main job, computed by hand: an input block takes 800.2 ns on the link.
TEST(SlotPhases, ofTheFirstCopiesAreAsWorkedOutByHand)
{
    const std::shared_ptr<const Trace> trace = mainJob(512);
    const auto at = [&](std::int32_t buffer, std::int64_t ns) {
        return slotStateAt(*trace, BufferRow{buffer}, Picoseconds(ns * 1000));
    };
    EXPECT_EQ(at(0, 400).phase, SlotPhase::Arriving); // x(0,0)
    EXPECT_NEAR(at(0, 400).fraction, 0.5, 0.001);
    EXPECT_EQ(at(2, 400).phase, SlotPhase::Queued); // y(0,0) is queued behind it
    EXPECT_EQ(at(1, 400).phase, SlotPhase::Queued); // x(0,1) for step 1
    EXPECT_EQ(at(1, 400).block, 1);
    EXPECT_EQ(at(4, 400).phase, SlotPhase::InUse); // out(0,0) belongs to step 0
    EXPECT_EQ(at(5, 400).phase, SlotPhase::Empty);

    EXPECT_EQ(at(0, 2000).phase, SlotPhase::InUse);
    EXPECT_EQ(at(1, 2000).phase, SlotPhase::Arriving);
    EXPECT_EQ(at(1, 3400).phase, SlotPhase::Ready);    // step 0 ends at 3.466 µs
    EXPECT_EQ(at(0, 3500).phase, SlotPhase::Arriving); // x(0,2) arrives for step 2
    EXPECT_EQ(at(2, 3500).phase, SlotPhase::Queued);   // y(2,0) is queued behind it
}

TEST(SlotPhases, ofTheFirstWriteBackFollowItsCopy)
{
    const std::shared_ptr<const Trace> trace = mainJob(512);
    const Copies& copies = trace->copies();
    const auto out = row(std::find(copies.out.begin(), copies.out.end(), 1) - copies.out.begin());
    ASSERT_EQ(copies.step[out], 7);
    const auto at = [&](std::int64_t ps) {
        return slotStateAt(*trace, BufferRow{4}, Picoseconds(ps));
    };
    EXPECT_EQ(at(copies.issue[out] - 1).phase, SlotPhase::InUse);
    EXPECT_EQ(at(copies.issue[out] - 1).stepsDone, 8);
    EXPECT_EQ(at(copies.issue[out] - 1).stepsInStay, 8);
    EXPECT_EQ(at((copies.start[out] + copies.end[out]) / 2).phase, SlotPhase::Leaving);
    EXPECT_NEAR(at((copies.start[out] + copies.end[out]) / 2).fraction, 0.5, 1e-5);
    EXPECT_EQ(at(copies.end[out]).phase, SlotPhase::Free);
    EXPECT_EQ(at(copies.end[out]).block, 0);
}

TEST(BlockPhases, anOutputFillsOverItsStay)
{
    const Index index(mainJob(512));
    const Steps& steps = index.trace().steps();
    const std::int64_t middle = (steps.bodyBegin[3] + steps.bodyEnd[3]) / 2;
    const BlockState state = index.blockStateAt(OperandRow{2}, 0, Picoseconds(middle));
    EXPECT_EQ(state.phase, BlockPhase::InUse);
    EXPECT_NEAR(state.fraction, 3.5 / 8, 1e-5);
    EXPECT_EQ(index.blockStateAt(OperandRow{2}, 1, Picoseconds(middle)).phase, BlockPhase::Never);
}

// 8 blocks of x are fetched 8 times each (once per j), and 8 blocks of y once per i.
TEST(BlockPhases, anInputThatComesAgainRemembersItsCopies)
{
    const Index index(mainJob(512));
    const Trace& trace = index.trace();
    const Picoseconds later(trace.steps().bodyBegin[16]);
    EXPECT_EQ(index.blockStateAt(OperandRow{0}, 1, later).copies, 2);
    EXPECT_EQ(index.blockStateAt(OperandRow{0}, 8, later).phase, BlockPhase::Never);
    EXPECT_EQ(index.blockStateAt(OperandRow{0}, 1, trace.end()).copies, 8);
    EXPECT_EQ(index.blockStateAt(OperandRow{0}, 1, trace.end()).phase, BlockPhase::Before);
    EXPECT_EQ(index.blocksWritten(OperandRow{2}, trace.end()), 64);
}

} // namespace pallascope::trace
