// What a block of an array does at a time: class Index's part about single blocks.
#include "core/base/check.h"
#include "core/trace/columns.h"
#include "core/trace/index_sums.h"

#include <algorithm>
#include <atomic>
#include <span>

namespace pallascope::trace {

namespace {

double bodyShare(const Trace& trace, StepRow step, std::int64_t t)
{
    const std::int64_t begin = trace.steps().bodyBegin[step.index()];
    const std::int64_t end = trace.steps().bodyEnd[step.index()];
    if (t >= end) {
        return 1;
    }
    return t <= begin ? 0 : static_cast<double>(t - begin) / static_cast<double>(end - begin);
}

// All visits of one block, and how far they are at t. The counts are of visits from the first on:
// `begun` have begun, the blocks of `fetched` have landed, those of `taken` have been written back.
class BlockHistory
{
public:
    // `before`: a guess of how many have begun, which becomes what is found.
    BlockHistory(const Trace& trace, Direction direction, std::span<const std::uint32_t> rows,
                 std::int64_t t, std::atomic<std::uint32_t>* before)
        : m_trace(trace)
        , m_rows(rows)
    {
        const Visits& visits = trace.visits();
        const auto isBegun = [&](std::uint32_t row) {
            return trace.steps().begin[at(visits.firstStep[row])] <= t;
        };
        begun = before == nullptr
                    ? count(0, m_rows.size(), isBegun)
                    : countNear(std::min<std::size_t>(before->load(std::memory_order_relaxed),
                                                      m_rows.size()),
                                isBegun);
        if (before != nullptr) {
            before->store(static_cast<std::uint32_t>(begun), std::memory_order_relaxed);
        }
        const auto landed = [&](const std::vector<std::int32_t>& column) {
            return countNear(begun, [&](std::uint32_t row) {
                return column[row] != kNone && trace.copies().end[at(column[row])] <= t;
            });
        };
        // A valid trace has no copies against the direction of the operand.
        fetched = direction == Direction::Out ? 0 : landed(visits.copyIn);
        taken = direction == Direction::In ? 0 : landed(visits.copyOut);
    }

    std::size_t begun = 0, fetched = 0, taken = 0;

    // The copy in of visit n, if it has one.
    [[nodiscard]] OptionalRow<CopyRow> copyIn(std::size_t n) const
    {
        return copyOf(m_trace.visits().copyIn, n);
    }

    [[nodiscard]] OptionalRow<CopyRow> copyOut(std::size_t n) const
    {
        return copyOf(m_trace.visits().copyOut, n);
    }

    // The visit that uses the block at t: it has begun, its block has landed, and its write-back is
    // not yet issued.
    [[nodiscard]] OptionalRow<VisitRow> stay(std::int64_t t) const
    {
        if (begun == 0) {
            return std::nullopt;
        }
        const Copies& copies = m_trace.copies();
        const std::uint32_t row = m_rows[begun - 1];
        const OptionalRow<CopyRow> in = copyIn(begun - 1), out = copyOut(begun - 1);
        const bool here = !in || copies.end[in->index()] <= t;
        const bool kept = !out || copies.issue[out->index()] > t;
        const bool lasts = t < m_trace.steps().end[at(m_trace.visits().lastStep[row])];
        return here && kept && lasts ? OptionalRow(VisitRow::at(row)) : std::nullopt;
    }

    // Whether a slot has held the block before.
    [[nodiscard]] bool wasHere() const { return begun > 0 && (fetched > 0 || !copyIn(0)); }

private:
    // How many visits pass the test, of which those before `first` do and those from `last` on do
    // not.
    template<class Test>
    [[nodiscard]] std::size_t count(std::size_t first, std::size_t last, Test test) const
    {
        const auto begin = m_rows.begin();
        return at(std::partition_point(begin + static_cast<std::ptrdiff_t>(first),
                                       begin + static_cast<std::ptrdiff_t>(last), test)
                  - begin);
    }

    // As `count`, beginning beside a guess. Copies are a few visits ahead or behind, and pictures a
    // few steps: a look at those is cheaper than a search, as each is a look into two tables far
    // apart.
    template<class Test>
    [[nodiscard]] std::size_t countNear(std::size_t guess, Test test) const
    {
        constexpr std::size_t kNear = 3;
        std::size_t low = guess, high = guess;
        while (high < m_rows.size() && high < guess + kNear && test(m_rows[high])) {
            ++high;
        }
        if (high == guess) {
            while (low > 0 && low + kNear > guess && !test(m_rows[low - 1])) {
                --low;
            }
            return low + kNear > guess ? low : count(0, low, test);
        }
        return high < guess + kNear ? high : count(high, m_rows.size(), test);
    }

    [[nodiscard]] OptionalRow<CopyRow> copyOf(const std::vector<std::int32_t>& column,
                                              std::size_t n) const
    {
        return n < m_rows.size() ? CopyRow::of(column[m_rows[n]]) : std::nullopt;
    }

    const Trace& m_trace;
    std::span<const std::uint32_t> m_rows; // of Visits, in order of time
};

// The share of a visit's bodies that are done.
double shareOfStay(const Trace& trace, VisitRow visit, std::int64_t t)
{
    const StepRow first{trace.visits().firstStep[visit.index()]};
    const StepRow last{trace.visits().lastStep[visit.index()]};
    const StepRow step = std::min(stepOfPipelineAt(trace, first, t), last);
    const auto done = static_cast<double>(stepsBetween(trace, first, step));
    const auto all = static_cast<double>(stepsBetween(trace, first, last) + 1);
    return (done + bodyShare(trace, step, t)) / all;
}

// The state of a block of manual DMA. It comes from copies alone, because nothing says how long the
// block is in use.
BlockState manualDmaAt(const Trace& trace, std::span<const std::uint32_t> rows, Direction direction,
                       std::int64_t t)
{
    const Copies& copies = trace.copies();
    const auto next = std::partition_point(rows.begin(), rows.end(),
                                           [&](std::uint32_t row) { return copies.end[row] <= t; });
    const bool out = direction == Direction::Out;
    BlockState state;
    state.copies = next - rows.begin();
    if (state.copies > 0) {
        state.phase = out ? BlockPhase::Written : BlockPhase::Before;
    }
    if (next != rows.end() && copies.issue[*next] <= t) {
        const bool moving = copies.start[*next] <= t;
        state.phase = out      ? BlockPhase::Leaving
                      : moving ? BlockPhase::Arriving
                               : BlockPhase::Queued;
        state.fraction = copyFraction(trace, CopyRow::at(*next), Picoseconds(t));
    }
    return state;
}

} // namespace

int livelinessOf(BlockPhase phase)
{
    switch (phase) {
    case BlockPhase::Never:
        return 0;
    case BlockPhase::Before:
        return 1;
    case BlockPhase::Written:
        return 2;
    case BlockPhase::Ready:
        return 3;
    case BlockPhase::Queued:
        return 4;
    case BlockPhase::Leaving:
        return 5;
    case BlockPhase::Arriving:
        return 6;
    case BlockPhase::InUse:
        return 7;
    }
    return 0;
}

BlockState Index::blockStateAt(OperandRow operand, std::int64_t block, Picoseconds t) const
{
    if (sharing(operand).size() < 2) {
        return ownBlockStateAt(operand, block, t);
    }
    const std::int32_t first = sums().firstSharing[operand.index()];
    const auto owners =
        std::ranges::equal_range(sums().owners[at(first)], block, {}, &Sums::BlockOwner::block);
    BlockState all;
    for (const Sums::BlockOwner& owner : owners) {
        BlockState state = ownBlockStateAt(OperandRow{owner.operand}, block, t);
        state.copies += all.copies;
        all.copies = state.copies;
        all = livelinessOf(state.phase) > livelinessOf(all.phase) ? state : all;
    }
    return all;
}

BlockState Index::ownBlockStateAt(OperandRow operand, std::int64_t block, Picoseconds time) const
{
    const Sums& its = sums();
    PALLASCOPE_CHECK(operand.index() < its.visitsByBlock.size());
    const std::int64_t t = clamped(*m_trace, time);
    const Copies& copies = m_trace->copies();
    const Operand& of = m_trace->info().operands[operand.index()];
    if (of.pipeline == kNone) {
        const RowsByBlock& rows = its.manualCopiesByBlock[operand.index()];
        return manualDmaAt(*m_trace, rows.of(block, copies.block), of.direction, t);
    }
    const bool output = of.direction != Direction::In;
    std::vector<std::atomic<std::uint32_t>>& guesses = its.begunBefore[operand.index()];
    const bool isGuessed = block >= 0 && at(block) < guesses.size();
    const BlockHistory history(
        *m_trace, of.direction,
        its.visitsByBlock[operand.index()].of(block, m_trace->visits().block), t,
        isGuessed ? &guesses[at(block)] : nullptr);
    BlockState state;
    state.copies = static_cast<std::int64_t>(output ? history.taken : history.fetched);
    const auto inFlight = [&](CopyRow copy, BlockPhase phase) {
        state.phase = phase;
        state.fraction = copyFraction(*m_trace, copy, Picoseconds(t));
        return state;
    };
    if (const OptionalRow<VisitRow> visit = history.stay(t)) {
        state.phase = BlockPhase::InUse;
        state.fraction = output ? shareOfStay(*m_trace, *visit, t) : 0;
        return state;
    }
    if (const OptionalRow<CopyRow> in = history.copyIn(history.fetched);
        in && copies.issue[in->index()] <= t) {
        const bool moving = copies.start[in->index()] <= t;
        return inFlight(*in, moving ? BlockPhase::Arriving : BlockPhase::Queued);
    }
    if (const OptionalRow<CopyRow> out = history.copyOut(history.taken);
        out && copies.issue[out->index()] <= t) {
        return inFlight(*out, BlockPhase::Leaving);
    }
    if (history.fetched > history.begun) {
        state.phase = BlockPhase::Ready; // landed for a visit that has not begun
    } else if (output && history.taken > 0) {
        state.phase = BlockPhase::Written;
    } else if (history.wasHere()) {
        state.phase = BlockPhase::Before;
    }
    return state;
}

} // namespace pallascope::trace
