// The state of scratch slots and semaphores at any time, held to a replay of the rows one by one.
#include "core/trace/columns.h"
#include "core/trace/lookup.h"
#include "core/trace/scratch_slots.h"
#include "tests/support/random_trace.h"
#include "tests/support/scratch_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>

namespace pallascope::trace {

namespace {

constexpr std::uint64_t kRuns = 200;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// When somebody has waited for each copy: the waits take bytes from the copies that have landed on
// their semaphore, the oldest first.
std::vector<std::int64_t> replayWaits(const Trace& trace)
{
    const CopyEnds& ends = trace.copyEnds();
    std::vector<std::int64_t> awaited(trace.copies().size(), kNever);
    std::map<std::int32_t, std::deque<std::size_t>> underWay; // copies by semaphore
    for (std::size_t row = 1; row < ends.size(); row += 2) {
        underWay[ends.semaphore[row]].push_back(at(ends.copy[row]));
    }
    std::map<std::int32_t, std::deque<std::pair<std::size_t, std::int64_t>>> landed;
    for (std::size_t i = 0; i < trace.signals().size(); ++i) {
        const std::int32_t semaphore = trace.signals().semaphore[i];
        std::int64_t amount = trace.signals().amount[i];
        if (trace.info().semaphores[at(semaphore)].kind != "dma_semaphore") {
            continue;
        }
        if (amount > 0) {
            landed[semaphore].emplace_back(underWay[semaphore].front(), amount);
            underWay[semaphore].pop_front();
        }
        for (; amount < 0;
             amount += landed[semaphore].front().second, landed[semaphore].pop_front()) {
            awaited[landed[semaphore].front().first] = trace.signals().time[i];
        }
    }
    return awaited;
}

// What a slot is in, from all copies that touch it, one by one.
ScratchPhase replayPhase(const Trace& trace, const std::vector<std::int64_t>& awaited,
                         const ScratchSlot& slot, std::int64_t t, std::set<std::size_t>& together)
{
    const CopyEnds& ends = trace.copyEnds();
    const Copies& copies = trace.copies();
    const Extents& shape = trace.info().buffers[at(slot.buffer)].shape.extents();
    bool out = false;
    std::set<std::int64_t> places;
    together.clear();
    std::vector<std::set<std::size_t>> groups;
    std::vector<bool> outs;
    for (std::size_t row = 0; row < ends.size(); ++row) {
        if (ends.buffer[row] != slot.buffer || ends.agent[row] != slot.agent
            || (slot.index != kNone && rowMajorIndex(shape, ends.first[row])[0] != slot.index)) {
            continue;
        }
        const std::size_t copy = at(ends.copy[row]);
        bool isNew = groups.empty() || out != (row % 2 == 0) || places.contains(ends.first[row]);
        for (const std::size_t other : groups.empty() ? std::set<std::size_t>() : groups.back()) {
            isNew = isNew || awaited[other] <= copies.issue[copy];
        }
        if (isNew) {
            groups.emplace_back();
            outs.push_back(row % 2 == 0);
            places.clear();
        }
        out = row % 2 == 0;
        places.insert(ends.first[row]);
        groups.back().insert(copy);
    }
    for (std::size_t i = groups.size(); i-- > 0;) {
        const auto all = [&](auto holds) {
            return std::all_of(groups[i].begin(), groups[i].end(), holds);
        };
        if (all([&](std::size_t copy) { return copies.issue[copy] > t; })) {
            continue;
        }
        together = groups[i];
        if (all([&](std::size_t copy) { return copies.end[copy] <= t; })) {
            const bool waited = all([&](std::size_t copy) { return awaited[copy] <= t; });
            return outs[i]  ? ScratchPhase::Sent
                   : waited ? ScratchPhase::InUse
                            : ScratchPhase::Ready;
        }
        const bool queued = all([&](std::size_t copy) { return copies.start[copy] > t; });
        return outs[i] ? (queued ? ScratchPhase::LeavingQueued : ScratchPhase::Leaving)
                       : (queued ? ScratchPhase::Queued : ScratchPhase::Arriving);
    }
    return ScratchPhase::Unused;
}

} // namespace

TEST(ScratchSlots, areTheIndicesOfALeadingAxisThatEveryCopyAddresses)
{
    const test::ScratchRows rows;
    std::size_t found = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        SCOPED_TRACE(seed);
        const Index index(test::scratchTrace(seed));
        for (const std::int32_t agent : {0, 1}) {
            const auto count = [&](std::int32_t buffer) {
                return index.scratch().of(buffer, agent).size();
            };
            ASSERT_TRUE(count(rows.pages) == 2 || count(rows.pages) == 0);
            ASSERT_TRUE(count(rows.rows) == 2 || count(rows.rows) == 0);
            ASSERT_LE(count(rows.sums), 1U);
            ASSERT_EQ(count(rows.untouched), 0U);
            found += count(rows.pages) + count(rows.sums);
        }
    }
    EXPECT_GT(found, kRuns * 4);
}

TEST(ScratchSlots, areInThePhaseThatTheirCopiesOneByOneSay)
{
    std::map<ScratchPhase, int> seen;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        SCOPED_TRACE(seed);
        const std::shared_ptr<const Trace> trace = test::scratchTrace(seed);
        const Index index(trace);
        const std::vector<std::int64_t> awaited = replayWaits(*trace);
        for (std::size_t slot = 0; slot < index.scratch().all().size(); ++slot) {
            for (std::int64_t i = 0; i <= 60; ++i) {
                const std::int64_t t = trace->end().value() * i / 60;
                const ScratchState state = index.scratch().stateAt(*trace, slot, Picoseconds(t));
                std::set<std::size_t> together;
                const ScratchPhase phase =
                    replayPhase(*trace, awaited, index.scratch().all()[slot], t, together);
                ASSERT_EQ(state.phase, phase) << "slot " << slot << " at " << t;
                ASSERT_EQ(state.ends.size(), together.size());
                double moved = 0, bytes = 0;
                std::int64_t landed = 0;
                for (const std::size_t copy : together) {
                    const auto size = static_cast<double>(trace->copies().bytes[copy]);
                    bytes += size;
                    moved += size * copyFraction(*trace, CopyRow::at(copy), Picoseconds(t));
                    landed += trace->copies().end[copy] <= t ? 1 : 0;
                }
                ASSERT_EQ(state.landed, landed);
                ASSERT_NEAR(state.moved, bytes == 0 ? 0 : moved / bytes, 1e-9);
                ASSERT_LE(state.since.value(), t);
                ++seen[phase];
            }
        }
    }
    EXPECT_EQ(seen.size(), 8U) << "every phase must occur";
}

TEST(ScratchSlots, aSemaphoreCountsWhatItsSignalsAddUpTo)
{
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        SCOPED_TRACE(seed);
        const std::shared_ptr<const Trace> trace = test::scratchTrace(seed);
        const Index index(trace);
        const Signals& signals = trace->signals();
        for (std::int64_t i = 0; i <= 40; ++i) {
            const std::int64_t t = trace->end().value() * i / 40;
            std::map<std::int32_t, std::int64_t> counts;
            for (std::size_t row = 0; row < signals.size(); ++row) {
                counts[signals.semaphore[row]] += signals.time[row] <= t ? signals.amount[row] : 0;
            }
            for (std::size_t row = 0; row < trace->info().semaphores.size(); ++row) {
                const auto semaphore = static_cast<std::int32_t>(row);
                ASSERT_EQ(index.semaphores().countAt(semaphore, Picoseconds(t)), counts[semaphore]);
                const OptionalRow<WaitRow> wait = waitOn(*trace, semaphore, Picoseconds(t));
                bool waits = false;
                for (std::size_t one = 0; one < trace->waits().size(); ++one) {
                    waits = waits
                            || (trace->waits().semaphore[one] == semaphore
                                && trace->waits().begin[one] <= t && t < trace->waits().end[one]);
                }
                ASSERT_EQ(wait.has_value(), waits);
            }
        }
    }
}

TEST(ScratchSlots, aTraceWithoutEndsHasNone)
{
    const Index index(test::randomTrace(1));
    EXPECT_TRUE(index.scratch().all().empty());
    for (std::size_t buffer = 0; buffer < index.trace().info().buffers.size(); ++buffer) {
        EXPECT_TRUE(index.scratch().of(static_cast<std::int32_t>(buffer), 0).empty());
    }
}

// The rules that CopyEnds states, each broken once.
TEST(ScratchSlots, endsThatLieOutsideOrHaveNoPartnerAreRefused)
{
    const auto refusal = [](auto breaks) {
        TraceBuilder builder = test::scratchBuilder(3);
        breaks(builder);
        const auto trace = std::move(builder).finish();
        return trace ? std::string() : trace.error().message;
    };
    EXPECT_EQ(refusal([](TraceBuilder& /*builder*/) {}), "");
    EXPECT_NE(refusal([](TraceBuilder& b) { b.copyEnds.first[0] = -1; }).find("lie outside"),
              std::string::npos);
    EXPECT_NE(refusal([](TraceBuilder& b) { b.copyEnds.first[0] = 1 << 20; }).find("lie outside"),
              std::string::npos);
    EXPECT_NE(refusal([](TraceBuilder& b) { b.copyEnds.first[0] += 1; }).find("lie outside"),
              std::string::npos);
    EXPECT_NE(refusal([](TraceBuilder& b) { b.copyEnds.copy[1] += 1; }).find("two rows for each"),
              std::string::npos);
    EXPECT_NE(refusal([](TraceBuilder& b) {
                  for (auto* column : {&b.copyEnds.copy, &b.copyEnds.agent, &b.copyEnds.buffer,
                                       &b.copyEnds.shape, &b.copyEnds.semaphore}) {
                      column->pop_back();
                  }
                  b.copyEnds.first.pop_back();
              }).find("two rows for each"),
              std::string::npos);
}

} // namespace pallascope::trace
