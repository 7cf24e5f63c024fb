// Compares random programs that use manual DMA with an independent model. Then takes out or moves
// one thing in them, which a run must find.
#include "core/trace/copy_ends.h"
#include "core/trace/lookup.h"
#include "core/trace_file/trace_file.h"
#include "tests/machine/engine/manual_dma_programs.h"
#include "tests/support/tried.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

namespace pallascope::machine_test {

namespace {

using Kind = ManualDmaAction::Kind;

const auto kPrograms = test::tried<std::uint64_t>(1000);

// A chip with two cores; latency and bandwidth change every few programs.
chip::Chip chipOf(std::uint64_t seed)
{
    chip::Chip chip = v5p();
    chip.links[0].latency = Picoseconds(seed % 3 == 0 ? 0 : 1'000 * static_cast<int>(seed % 50));
    if (seed % 4 == 0) {
        chip.links[0].datasheet = BytesPerSecond(7.3e9);
    }
    return chip;
}

machine::RunResult runOf(const ManualDmaProgram& program, const chip::Chip& chip,
                         machine::ValueMode values = machine::ValueMode::Full,
                         const machine::Settings& settings = {})
{
    Result<machine::RunResult> run = machine::run(program.traced(), {program.input()}, chip,
                                                  {.values = values, .settings = settings});
    if (!run) {
        throw std::runtime_error(run.error().message);
    }
    return *std::move(run);
}

void expectOutput(const ManualDmaProgram& program, const machine::RunResult& run)
{
    const std::vector<double> wanted(program.arrays[1].begin(), program.arrays[1].end());
    ASSERT_EQ(elementsOf(run.outputs[0]), wanted);
}

void expectTimes(const ManualDmaTimes& wanted, const trace::Trace& trace)
{
    ASSERT_EQ(wanted.fault, "");
    const trace::Copies& copies = trace.copies();
    ASSERT_EQ(copies.size(), wanted.copies.size());
    for (std::size_t i = 0; i < copies.size(); ++i) {
        const ManualDmaTimes::Copy found{copies.issue[i], copies.start[i], copies.end[i],
                                         copies.bytes[i], copies.link[i]};
        ASSERT_EQ(found, wanted.copies[i]) << "copy " << i;
    }
    std::vector<std::vector<ManualDmaTimes::Wait>> waits(wanted.waits.size());
    for (std::size_t i = 0; i < trace.waits().size(); ++i) {
        waits[static_cast<std::size_t>(trace.waits().agent[i])].push_back(
            {trace.waits().begin[i], trace.waits().end[i]});
    }
    ASSERT_EQ(waits, wanted.waits);
    ASSERT_EQ(trace.end().value(), wanted.end);
}

// An end of a copy is the part of the ref that the program names. Arrays in HBM, and scratch of
// scopes that the budget leaves out, have no buffer.
void expectEnd(const ManualDmaProgram& program, const trace::Trace& trace, std::size_t row,
               std::int32_t id, const Part& part)
{
    const ManualDmaRef& ref = program.refs[static_cast<std::size_t>(id)];
    const trace::CopyEnds& ends = trace.copyEnds();
    const auto& shape = trace.info().copiedShapes[static_cast<std::size_t>(ends.shape[row])];
    ASSERT_EQ(shape, (Shape{part.rows.stop() - part.rows.first,
                            part.columns.stop() - part.columns.first}));
    ASSERT_EQ(ends.first[row], part.rows.first * ref.columns + part.columns.first);
    if (ends.buffer[row] == trace::kNone) {
        ASSERT_TRUE(ref.space == ir::MemorySpace::Hbm || id > 4) << ref.name;
        return;
    }
    const auto& buffer = trace.info().buffers[static_cast<std::size_t>(ends.buffer[row])];
    ASSERT_EQ(buffer.name, ref.name);
    const std::vector<trace::AxisRange> ranges = trace::rangesOfEnd(trace, trace::EndRow::at(row));
    ASSERT_EQ(ranges, (std::vector<trace::AxisRange>{{part.rows.first, part.rows.stop()},
                                                     {part.columns.first, part.columns.stop()}}));
}

// The copies of a core are those of its program, in order. The first copy of all makes the output a
// copy of x.
void expectEnds(const ManualDmaProgram& program, const trace::Trace& trace)
{
    const trace::CopyEnds& ends = trace.copyEnds();
    ASSERT_EQ(ends.size(), 2 * trace.copies().size());
    std::vector<std::size_t> next(program.cores.size(), 0); // action of each core
    for (std::size_t row = 2; row < ends.size(); row += 2) {
        const auto core = static_cast<std::size_t>(ends.agent[row]);
        const std::vector<ManualDmaAction>& actions = program.cores[core];
        while (actions[next[core]].kind != Kind::Copy) {
            ++next[core];
        }
        const ManualDmaAction& copy = actions[next[core]++];
        ASSERT_EQ(ends.copy[row], static_cast<std::int32_t>(row / 2));
        ASSERT_EQ(trace::sourceOf(trace, {ends.copy[row]}), trace::EndRow::at(row));
        ASSERT_EQ(ends.agent[row + 1], ends.agent[row]);
        ASSERT_NO_FATAL_FAILURE(expectEnd(program, trace, row, copy.ref, copy.part));
        ASSERT_NO_FATAL_FAILURE(expectEnd(program, trace, row + 1, copy.other, copy.otherPart));
        ASSERT_EQ(ends.semaphore[row], trace::kNone);
        const auto& semaphore =
            trace.info().semaphores[static_cast<std::size_t>(ends.semaphore[row + 1])];
        ASSERT_TRUE(semaphore.name.ends_with("[" + std::to_string(copy.semaphore) + "]"));
        ASSERT_EQ(semaphore.agent, ends.agent[row]);
    }
}

// Every semaphore ends at 0 and is never negative.
void expectBalance(const trace::Trace& trace)
{
    std::map<std::int32_t, std::int64_t> counts;
    for (std::size_t i = 0; i < trace.signals().size(); ++i) {
        std::int64_t& count = counts[trace.signals().semaphore[i]];
        count += trace.signals().amount[i];
        ASSERT_GE(count, 0) << "signal " << i;
    }
    for (const auto& [semaphore, count] : counts) {
        ASSERT_EQ(count, 0) << trace.info().semaphores[static_cast<std::size_t>(semaphore)].name;
    }
}

void expectSameEvents(const trace::Trace& a, const trace::Trace& b)
{
    ASSERT_EQ(a.segments(), b.segments());
    ASSERT_EQ(a.copies(), b.copies());
    ASSERT_EQ(a.waits(), b.waits());
    ASSERT_EQ(a.signals(), b.signals());
    ASSERT_EQ(a.end(), b.end());
    ASSERT_EQ(a.info().events, b.info().events);
    ASSERT_EQ(a.info().findings, b.info().findings);
}

// `change` puts a mistake into the program of one seed after another, or says that it cannot.
template<class Change, class Expect>
void forWrongPrograms(std::size_t wanted, Change change, Expect expect)
{
    std::size_t made = 0;
    wanted = test::tried(wanted);
    for (std::uint64_t seed = 0; made < wanted; ++seed) {
        ASSERT_LT(seed, 100 * wanted) << "too few programs of this kind";
        ManualDmaProgram program = randomManualDmaProgram(seed);
        std::mt19937_64 random(seed);
        if (!change(program, random)) {
            continue;
        }
        ++made;
        SCOPED_TRACE(seed);
        const machine::RunResult full = runOf(program, chipOf(seed));
        expect(program, full);
        expectSameEvents(*full.trace,
                         *runOf(program, chipOf(seed), machine::ValueMode::Needed).trace);
        if (testing::Test::HasFatalFailure()) {
            return;
        }
    }
}

using Place = std::pair<std::size_t, std::size_t>; // numbers of the core and of the action

template<class Test>
std::vector<Place> placesOf(const ManualDmaProgram& program, Test test)
{
    std::vector<Place> places;
    for (std::size_t core = 0; core < program.cores.size(); ++core) {
        for (std::size_t i = 0; i < program.cores[core].size(); ++i) {
            if (test(program.cores[core][i])) {
                places.emplace_back(core, i);
            }
        }
    }
    return places;
}

void remove(ManualDmaProgram& program, const Place& place)
{
    auto& actions = program.cores[place.first];
    actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(place.second));
}

bool isKind(const ManualDmaAction& action, Kind kind)
{
    return action.kind == kind;
}

// Checks the state of every block of manual DMA, at every time when something changes and just
// before, against a search through all copies.
void expectBlocks(const std::shared_ptr<const trace::Trace>& trace)
{
    const trace::Index index(trace);
    const trace::Copies& copies = trace->copies();
    std::set<std::int64_t> times;
    for (std::size_t i = 0; i < copies.size(); ++i) {
        for (const std::int64_t t : {copies.issue[i], copies.start[i], copies.end[i]}) {
            times.insert({t, std::max<std::int64_t>(0, t - 1)});
        }
    }
    for (const std::int64_t t : times) {
        for (std::size_t i = 0; i < copies.size(); ++i) {
            const std::int32_t operand = copies.operand[i];
            std::int64_t landed = 0;
            double fraction = 0;
            bool issued = false, moving = false;
            for (std::size_t j = 0; j < copies.size(); ++j) {
                if (copies.operand[j] == operand && copies.block[j] == copies.block[i]) {
                    landed += copies.end[j] <= t ? 1 : 0;
                    issued = issued || (copies.issue[j] <= t && t < copies.end[j]);
                    if (copies.start[j] <= t && t < copies.end[j]) {
                        moving = true;
                        fraction =
                            trace::copyFraction(*trace, trace::CopyRow::at(j), Picoseconds(t));
                    }
                }
            }
            const bool out = copies.out[i] != 0;
            const trace::BlockPhase wanted =
                issued       ? (out      ? trace::BlockPhase::Leaving
                                : moving ? trace::BlockPhase::Arriving
                                         : trace::BlockPhase::Queued)
                : landed > 0 ? (out ? trace::BlockPhase::Written : trace::BlockPhase::Before)
                             : trace::BlockPhase::Never;
            const trace::BlockState found =
                index.blockStateAt(trace::OperandRow{operand}, copies.block[i], Picoseconds(t));
            ASSERT_EQ(found.phase, wanted) << "copy " << i << " at " << t;
            ASSERT_EQ(found.copies, landed) << "copy " << i << " at " << t;
            ASSERT_EQ(found.fraction, fraction) << "copy " << i << " at " << t;
        }
    }
}

// Whether a copy begins to move then for which nobody has waited before a moment.
bool isUnawaited(const trace::Trace& trace, std::optional<Picoseconds> start, Picoseconds until)
{
    const trace::Copies& copies = trace.copies();
    const trace::Waits& waits = trace.waits();
    for (std::size_t copy = 0; copy < copies.size(); ++copy) {
        bool isAwaited = false;
        for (std::size_t wait = 0; wait < waits.size(); ++wait) {
            isAwaited = isAwaited
                        || (waits.copy[wait] == static_cast<std::int32_t>(copy)
                            && waits.end[wait] < until.value());
        }
        if (start == Picoseconds(copies.start[copy]) && !isAwaited) {
            return true;
        }
    }
    return false;
}

} // namespace

TEST(ManualDmaPrograms, blocksAreWhereTheirCopiesBringThem)
{
    for (std::uint64_t seed = 0; seed < kPrograms / 5; ++seed) {
        SCOPED_TRACE(seed);
        expectBlocks(runOf(randomManualDmaProgram(seed), chipOf(seed)).trace);
        if (HasFatalFailure()) {
            return;
        }
    }
}

TEST(ManualDmaPrograms, recordWhichPartsTheirCopiesReadAndWrite)
{
    std::size_t inBuffers = 0;
    for (std::uint64_t seed = 0; seed < kPrograms / 5; ++seed) {
        SCOPED_TRACE(seed);
        const ManualDmaProgram program = randomManualDmaProgram(seed);
        const std::shared_ptr<const trace::Trace> trace = runOf(program, chipOf(seed)).trace;
        expectEnds(program, *trace);
        if (HasFatalFailure()) {
            return;
        }
        const Result<std::shared_ptr<const trace::Trace>> again =
            trace_file::fromJson(trace_file::toJson(*trace), "test");
        ASSERT_TRUE(again) << again.error().message;
        ASSERT_TRUE(**again == *trace);
        const std::vector<std::int32_t>& buffers = trace->copyEnds().buffer;
        inBuffers += static_cast<std::size_t>(std::count_if(
            buffers.begin(), buffers.end(), [](std::int32_t row) { return row >= 0; }));
    }
    EXPECT_GT(inBuffers, kPrograms);
}

TEST(ManualDmaPrograms, doWhatTheirActionsSayAtTheTimesOfTheLinkRule)
{
    std::size_t copies = 0, waits = 0, strided = 0, cores = 0;
    for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
        SCOPED_TRACE(seed);
        const ManualDmaProgram program = randomManualDmaProgram(seed);
        const chip::Chip chip = chipOf(seed);
        const machine::RunResult run = runOf(program, chip);
        ASSERT_EQ(findingsText(run), "");
        expectOutput(program, run);
        expectTimes(manualDmaTimes(program, chip, *run.trace), *run.trace);
        expectBalance(*run.trace);
        if (HasFatalFailure()) {
            return;
        }
        copies += run.trace->copies().size();
        waits += run.trace->waits().size();
        strided += placesOf(program, [](const ManualDmaAction& one) {
                       return isKind(one, Kind::Copy) && one.part.rows.step > 1;
                   }).size();
        cores += program.cores.size();
    }
    EXPECT_GT(copies, 5 * kPrograms); // the programs must contain what they are made for
    EXPECT_GT(waits, copies);
    EXPECT_GT(strided, kPrograms);
    EXPECT_GT(cores, kPrograms * 4 / 3);
}

TEST(ManualDmaPrograms, areTheSameWithNeededValues)
{
    for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
        SCOPED_TRACE(seed);
        const ManualDmaProgram program = randomManualDmaProgram(seed);
        const chip::Chip chip = chipOf(seed);
        expectSameEvents(*runOf(program, chip).trace,
                         *runOf(program, chip, machine::ValueMode::Needed).trace);
        if (HasFatalFailure()) {
            return;
        }
    }
}

TEST(ManualDmaPrograms, giveTheSameNumbersWheneverTheirCopiesHappen)
{
    for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
        SCOPED_TRACE(seed);
        const ManualDmaProgram program = randomManualDmaProgram(seed);
        const chip::Chip chip = chipOf(seed);
        for (const machine::DmaMode mode : {machine::DmaMode::Eager, machine::DmaMode::OnWait}) {
            const machine::RunResult run =
                runOf(program, chip, machine::ValueMode::Full, {.dmaExecutionMode = mode});
            ASSERT_EQ(findingsText(run), "");
            expectOutput(program, run);
            expectTimes(manualDmaTimes(program, chip, *run.trace), *run.trace);
            if (HasFatalFailure()) {
                return;
            }
        }
    }
}

// A wait is removed. A finding says that its semaphore is left over or, if what was copied is used,
// that the use is unordered: one cause is one finding.
TEST(ManualDmaPrograms, withoutOneWaitLeaveItsSemaphoreOver)
{
    std::string name;
    int known = 0;
    const auto dropWait = [&](ManualDmaProgram& program, std::mt19937_64& random) {
        const std::vector<Place> places =
            placesOf(program, [](const ManualDmaAction& one) { return isKind(one, Kind::Wait); });
        const Place place = places[random() % places.size()];
        name = "sem[" + std::to_string(program.cores[place.first][place.second].semaphore) + "]";
        remove(program, place);
        return true;
    };
    forWrongPrograms(300, dropWait, [&](const ManualDmaProgram&, const machine::RunResult& run) {
        const std::vector<trace::Finding> found = findingsOf(run, "copy_never_awaited");
        if (found.empty()) {
            const std::string said = findingsText(run);
            EXPECT_TRUE(said.find(" waited for") != std::string::npos
                        || said.find("no wait is sure of") != std::string::npos) // a later one
                << said;
            return;
        }
        ASSERT_EQ(found.size(), 1U) << findingsText(run);
        EXPECT_EQ(found[0].operand, name);
        if (found[0].copyTime) { // of the last one; a wait may have taken its bytes
            EXPECT_TRUE(isUnawaited(*run.trace, found[0].copyTime, *found[0].copyTime));
            ++known;
        }
    });
    EXPECT_GT(known, 0) << "copies over a link have a time";
}

TEST(ManualDmaPrograms, thatAccessACopyBeforeItsWaitAreFound)
{
    const auto swapWait = [](ManualDmaProgram& program, std::mt19937_64& random) {
        const std::vector<Place> places =
            placesOf(program, [](const ManualDmaAction& one) { return one.guards; });
        if (places.empty()) {
            return false;
        }
        const auto& [core, wait] = places[random() % places.size()];
        // The next action that accesses memory is the one that the wait guarded.
        auto& actions = program.cores[core];
        std::size_t next = wait + 1;
        while (isKind(actions[next], Kind::Wait)) {
            ++next;
        }
        std::rotate(actions.begin() + static_cast<std::ptrdiff_t>(wait),
                    actions.begin() + static_cast<std::ptrdiff_t>(wait) + 1,
                    actions.begin() + static_cast<std::ptrdiff_t>(next) + 1);
        return true;
    };
    forWrongPrograms(300, swapWait, [](const ManualDmaProgram&, const machine::RunResult& run) {
        std::vector<trace::Finding> found = findingsOf(run, "read_before_wait");
        std::ranges::copy(findingsOf(run, "overwritten_in_flight"), std::back_inserter(found));
        ASSERT_GE(found.size(), 1U) << findingsText(run);
        for (const trace::Finding& one : found) {
            ASSERT_TRUE(one.time);
            EXPECT_TRUE(isUnawaited(*run.trace, one.copyTime, *one.time)) << one.message;
        }
    });
}

TEST(ManualDmaPrograms, withoutOneSignalStandStill)
{
    const auto dropSignal = [](ManualDmaProgram& program, std::mt19937_64& random) {
        const std::vector<Place> places =
            placesOf(program, [](const ManualDmaAction& one) { return isKind(one, Kind::Signal); });
        if (!places.empty()) {
            remove(program, places[random() % places.size()]);
        }
        return !places.empty();
    };
    forWrongPrograms(200, dropSignal, [](const ManualDmaProgram&, const machine::RunResult& run) {
        ASSERT_EQ(findingsOf(run, "deadlock").size(), 1U) << findingsText(run);
    });
}

TEST(ManualDmaPrograms, ofTwoCoresWithoutTheirOneHandOffRace)
{
    const auto dropHandOff = [](ManualDmaProgram& program, std::mt19937_64&) {
        if (program.handOffs != 1) {
            return false;
        }
        for (const Kind kind : {Kind::Signal, Kind::Turn}) {
            remove(program, placesOf(program, [&](const ManualDmaAction& one) {
                       return isKind(one, kind);
                   })[0]);
        }
        return true;
    };
    forWrongPrograms(200, dropHandOff, [](const ManualDmaProgram&, const machine::RunResult& run) {
        const std::size_t found = findingsOf(run, "race").size()
                                  + findingsOf(run, "read_before_wait").size()
                                  + findingsOf(run, "overwritten_in_flight").size();
        ASSERT_GE(found, 1U) << findingsText(run);
    });
}

} // namespace pallascope::machine_test
