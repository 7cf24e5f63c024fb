#include "core/base/check.h"
#include "core/trace/columns.h"
#include "core/trace/index_sums.h"

#include <algorithm>
#include <span>

namespace pallascope::trace {

namespace {

double bodyShare(const Trace& trace, std::size_t step, std::int64_t t)
{
    const std::int64_t begin = trace.steps().bodyBegin[step], end = trace.steps().bodyEnd[step];
    if (t >= end) {
        return 1;
    }
    return t <= begin ? 0 : static_cast<double>(t - begin) / static_cast<double>(end - begin);
}

// Calls f(template, ps since its begin) for each segment that runs at t; there is at most one for
// each agent.
template<class F>
void forRunning(const Trace& trace, std::int64_t t, F f)
{
    for (std::size_t agent = 0; agent < trace.info().agents.size(); ++agent) {
        const std::int32_t row = segmentAt(trace, static_cast<std::int32_t>(agent), Picoseconds(t));
        if (row != kNone) {
            f(at(trace.segments().templateId[at(row)]), t - trace.segments().begin[at(row)]);
        }
    }
}

// All visits of one block, and how far they are at t. The counts are of visits from the first on:
// `begun` have begun, the blocks of `fetched` have landed, those of `taken` have been written back.
class BlockHistory
{
public:
    BlockHistory(const Trace& trace, const std::vector<std::uint32_t>& byBlock, std::int64_t block,
                 std::int64_t t)
        : m_trace(trace)
    {
        const Visits& visits = trace.visits();
        const auto first =
            std::partition_point(byBlock.begin(), byBlock.end(),
                                 [&](std::uint32_t row) { return visits.block[row] < block; });
        const auto last = std::partition_point(
            first, byBlock.end(), [&](std::uint32_t row) { return visits.block[row] <= block; });
        m_rows = {first, last};
        begun = count(
            [&](std::uint32_t row) { return trace.steps().begin[at(visits.firstStep[row])] <= t; });
        const auto landed = [&](const std::vector<std::int32_t>& column) {
            return count([&](std::uint32_t row) {
                return column[row] != kNone && trace.copies().end[at(column[row])] <= t;
            });
        };
        fetched = landed(visits.copyIn);
        taken = landed(visits.copyOut);
    }

    std::size_t begun = 0, fetched = 0, taken = 0;

    // The copy in of visit n; kNone if it has none.
    [[nodiscard]] std::int32_t copyIn(std::size_t n) const
    {
        return n < m_rows.size() ? m_trace.visits().copyIn[m_rows[n]] : kNone;
    }

    [[nodiscard]] std::int32_t copyOut(std::size_t n) const
    {
        return n < m_rows.size() ? m_trace.visits().copyOut[m_rows[n]] : kNone;
    }

    // The visit (row of Visits) that uses the block at t: it has begun, its block has landed, and
    // its write-back is not yet issued.
    [[nodiscard]] std::int32_t stay(std::int64_t t) const
    {
        if (begun == 0) {
            return kNone;
        }
        const Copies& copies = m_trace.copies();
        const std::uint32_t row = m_rows[begun - 1];
        const std::int32_t in = copyIn(begun - 1), out = copyOut(begun - 1);
        const bool here = in == kNone || copies.end[at(in)] <= t;
        const bool kept = out == kNone || copies.issue[at(out)] > t;
        const bool lasts = t < m_trace.steps().end[at(m_trace.visits().lastStep[row])];
        return here && kept && lasts ? static_cast<std::int32_t>(row) : kNone;
    }

    // Whether a slot has held the block before.
    [[nodiscard]] bool wasHere() const { return begun > 0 && (fetched > 0 || copyIn(0) == kNone); }

private:
    template<class Test>
    [[nodiscard]] std::size_t count(Test test) const
    {
        return at(std::partition_point(m_rows.begin(), m_rows.end(), test) - m_rows.begin());
    }

    const Trace& m_trace;
    std::span<const std::uint32_t> m_rows; // of Visits, in order of time
};

// The share of a visit's bodies that are done.
double shareOfStay(const Trace& trace, std::size_t visit, std::int64_t t)
{
    const std::int32_t first = trace.visits().firstStep[visit];
    const std::int32_t last = trace.visits().lastStep[visit];
    const std::int32_t step = std::min(stepAt(trace, Picoseconds(t)), last);
    return (step - first + bodyShare(trace, at(step), t)) / (last - first + 1);
}

// The state of a block of manual DMA. It comes from copies alone, because nothing says how long the
// block is in use.
BlockState byHandAt(const Trace& trace, const std::vector<std::uint32_t>& rows, Direction direction,
                    std::int64_t block, std::int64_t t)
{
    const Copies& copies = trace.copies();
    const auto [first, last] = std::ranges::equal_range(
        rows, block, {}, [&copies](std::uint32_t row) { return copies.block[row]; });
    const auto next =
        std::partition_point(first, last, [&](std::uint32_t row) { return copies.end[row] <= t; });
    const bool out = direction == Direction::Out;
    BlockState state;
    state.copies = next - first;
    if (state.copies > 0) {
        state.phase = out ? BlockPhase::Written : BlockPhase::Before;
    }
    if (next != last && copies.issue[*next] <= t) {
        const bool moving = copies.start[*next] <= t;
        state.phase = out      ? BlockPhase::Leaving
                      : moving ? BlockPhase::Arriving
                               : BlockPhase::Queued;
        state.fraction = copyFraction(trace, *next, Picoseconds(t));
    }
    return state;
}

// The bytes that one link has moved by t for one operand and direction.
double laneBytes(const Trace& trace, const Lane& lane, std::size_t key, std::int64_t t)
{
    const Copies& copies = trace.copies();
    const std::size_t landed = lane.by(copies.end, t);
    auto sum = static_cast<double>(lane.sums.upTo(key, landed, [&](std::size_t i) {
        return keyOf(copies, lane.row(i)) == key ? copies.bytes[lane.row(i)] : 0;
    }));
    if (landed < lane.size && keyOf(copies, lane.row(landed)) == key) {
        const std::size_t row = lane.row(landed);
        sum += static_cast<double>(copies.bytes[row]) * copyFraction(trace, row, Picoseconds(t));
    }
    return sum;
}

} // namespace

Index::Index(std::shared_ptr<const Trace> trace)
    : m_trace(std::move(trace))
    , m_sums(std::make_shared<const Sums>(*m_trace))
{}

const Agents& Index::agents() const
{
    return m_sums->agents;
}

Picoseconds Index::unitBusy(std::int32_t unit, Picoseconds time) const
{
    PALLASCOPE_CHECK(unit >= 0 && at(unit) < m_trace->info().units.size());
    const std::int64_t t = clamped(*m_trace, time);
    const Segments& segments = m_trace->segments();
    const std::size_t units = m_trace->info().units.size();
    const auto full = [&](std::size_t id) { return m_sums->busyOf[id * units + at(unit)]; };
    std::int64_t sum =
        m_sums->segments.upTo(at(unit), begunBy(segments.begin, t),
                              [&](std::size_t row) { return full(at(segments.templateId[row])); });
    forRunning(*m_trace, t, [&](std::size_t id, std::int64_t since) {
        sum -= full(id) - busyWithin(m_trace->info().templates[id], unit, since);
    });
    return Picoseconds(sum);
}

Picoseconds Index::linkBusy(std::int32_t link, bool out, Picoseconds time) const
{
    PALLASCOPE_CHECK(link >= 0 && at(link) < m_sums->lanes.size());
    const std::int64_t t = clamped(*m_trace, time);
    const Copies& copies = m_trace->copies();
    const Lane& lane = m_sums->lanes[at(link)];
    const std::size_t landedCount = lane.by(copies.end, t);
    const auto length = [&](std::size_t i) {
        const std::size_t row = lane.row(i);
        return (copies.out[row] != 0) == out ? copies.end[row] - copies.start[row] : 0;
    };
    std::int64_t sum =
        lane.sums.upTo(m_trace->info().operands.size() * 4 + (out ? 1 : 0), landedCount, length);
    if (landedCount < lane.size && length(landedCount) != 0) {
        sum += std::max<std::int64_t>(0, t - copies.start[lane.row(landedCount)]);
    }
    return Picoseconds(sum);
}

std::size_t Index::copiesOf(std::int32_t link) const
{
    return m_sums->lanes[at(link)].size;
}

std::size_t Index::copyOf(std::int32_t link, std::size_t number) const
{
    return m_sums->lanes[at(link)].row(number);
}

std::size_t Index::copiesBy(std::int32_t link, const std::vector<std::int64_t>& column,
                            Picoseconds t) const
{
    return m_sums->lanes[at(link)].by(column, t.value());
}

Picoseconds Index::waiting(Picoseconds time) const
{
    const std::int64_t t = clamped(*m_trace, time);
    const Waits& waits = m_trace->waits();
    std::int64_t sum = m_sums->waits.upTo(0, begunBy(waits.begin, t), [&](std::size_t row) {
        return waits.end[row] - waits.begin[row];
    });
    for (std::size_t agent = 0; agent < m_trace->info().agents.size(); ++agent) {
        const std::int32_t row = waitAt(*m_trace, static_cast<std::int32_t>(agent), Picoseconds(t));
        if (row != kNone) {
            sum -= waits.end[at(row)] - t;
        }
    }
    return Picoseconds(sum);
}

double Index::operandBytes(std::int32_t operand, bool out, Picoseconds time) const
{
    PALLASCOPE_CHECK(operand >= 0 && at(operand) < m_trace->info().operands.size());
    const std::int64_t t = clamped(*m_trace, time);
    const std::size_t key = at(operand) * 2 + (out ? 1 : 0);
    double sum = 0;
    for (const Lane& lane : m_sums->lanes) {
        sum += laneBytes(*m_trace, lane, key, t);
    }
    return sum;
}

double Index::bytes(Picoseconds time) const
{
    const std::int64_t t = clamped(*m_trace, time);
    double sum = 0;
    for (std::size_t link = 0; link < m_sums->lanes.size(); ++link) {
        const int passes = m_trace->info().hbmPasses(link);
        for (std::size_t key = 0; key < 2 * m_trace->info().operands.size(); ++key) {
            sum += passes * laneBytes(*m_trace, m_sums->lanes[link], key, t);
        }
    }
    return sum;
}

double Index::flops(Picoseconds time) const
{
    const std::int64_t t = clamped(*m_trace, time);
    const Segments& segments = m_trace->segments();
    auto sum = static_cast<double>(m_sums->segments.upTo(
        m_trace->info().units.size(), begunBy(segments.begin, t),
        [&](std::size_t row) { return m_sums->flopsOf[at(segments.templateId[row])]; }));
    forRunning(*m_trace, t, [&](std::size_t id, std::int64_t since) {
        const double duration = static_cast<double>(m_trace->info().templates[id].duration.value());
        sum -=
            static_cast<double>(m_sums->flopsOf[id]) * (1 - static_cast<double>(since) / duration);
    });
    return sum;
}

std::int64_t Index::landed(std::int32_t operand, bool out, Picoseconds time) const
{
    PALLASCOPE_CHECK(operand >= 0 && at(operand) < m_trace->info().operands.size());
    const std::int64_t t = clamped(*m_trace, time);
    const Copies& copies = m_trace->copies();
    const std::size_t key = at(operand) * 2 + (out ? 1 : 0);
    std::int64_t sum = 0;
    for (const Lane& lane : m_sums->lanes) {
        sum += lane.sums.upTo(
            m_trace->info().operands.size() * 2 + key, lane.by(copies.end, t),
            [&](std::size_t i) { return keyOf(copies, lane.row(i)) == key ? 1 : 0; });
    }
    return sum;
}

BlockState Index::blockStateAt(std::int32_t operand, std::int64_t block, Picoseconds time) const
{
    PALLASCOPE_CHECK(operand >= 0 && at(operand) < m_sums->byBlock.size());
    const std::int64_t t = clamped(*m_trace, time);
    const Copies& copies = m_trace->copies();
    const Operand& of = m_trace->info().operands[at(operand)];
    if (of.pipeline == kNone) {
        return byHandAt(*m_trace, m_sums->byHand[at(operand)], of.direction, block, t);
    }
    const bool output = of.direction != Direction::In;
    const BlockHistory history(*m_trace, m_sums->byBlock[at(operand)], block, t);
    BlockState state;
    state.copies = static_cast<std::int64_t>(output ? history.taken : history.fetched);
    const auto inFlight = [&](std::size_t copy, BlockPhase phase) {
        state.phase = phase;
        state.fraction = copyFraction(*m_trace, copy, Picoseconds(t));
        return state;
    };
    if (const std::int32_t visit = history.stay(t); visit != kNone) {
        state.phase = BlockPhase::InUse;
        state.fraction = output ? shareOfStay(*m_trace, at(visit), t) : 0;
        return state;
    }
    if (const std::int32_t in = history.copyIn(history.fetched); in != kNone) {
        if (copies.issue[at(in)] <= t) {
            const bool moving = copies.start[at(in)] <= t;
            return inFlight(at(in), moving ? BlockPhase::Arriving : BlockPhase::Queued);
        }
    }
    if (const std::int32_t out = history.copyOut(history.taken);
        out != kNone && copies.issue[at(out)] <= t) {
        return inFlight(at(out), BlockPhase::Leaving);
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

std::span<const Index::ListedElement> Index::listsOf(std::int32_t operand, Extent element) const
{
    PALLASCOPE_CHECK(operand >= 0 && at(operand) < m_sums->listed.size());
    const std::vector<ListedElement>& all = m_sums->listed[at(operand)];
    const auto [first, last] = std::ranges::equal_range(
        all, element, {}, [](const ListedElement& one) -> Extent { return one.element; });
    return {first, last};
}

std::int64_t Index::blocksWritten(std::int32_t operand, Picoseconds t) const
{
    PALLASCOPE_CHECK(operand >= 0 && at(operand) < m_sums->written.size());
    return static_cast<std::int64_t>(begunBy(m_sums->written[at(operand)], t.value()));
}

} // namespace pallascope::trace
