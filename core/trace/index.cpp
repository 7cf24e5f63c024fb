#include "core/base/check.h"
#include "core/trace/lookup.h"
#include "core/trace/mark_time.h"

#include <algorithm>
#include <numeric>

namespace pallascope::trace {

namespace {

// Rows between two stored prefix sums: 800 000 rows need 200 KB per quantity, and a question adds
// up at most this many rows.
constexpr std::size_t kSampleRows = 32;

std::size_t at(std::int64_t index)
{
    return static_cast<std::size_t>(index);
}

// Prefix sums of one quantity. Unsigned: a hostile file may overflow them, which then only wraps.
class Sampled
{
public:
    [[nodiscard]] bool used() const { return m_total != 0; }

    // Call once per row, in order.
    void add(std::size_t row, std::int64_t value)
    {
        if (row % kSampleRows == 0) {
            m_samples.push_back(m_total);
        }
        m_total += static_cast<std::uint64_t>(value);
    }

    void finish()
    {
        if (used()) {
            m_samples.push_back(m_total);
        } else {
            m_samples.clear();
        }
        m_samples.shrink_to_fit();
    }

    // Sum over rows [0, last); value(row) must be what was added.
    template<class Value>
    [[nodiscard]] std::int64_t upTo(std::size_t last, Value value) const
    {
        if (!used()) {
            return 0;
        }
        std::uint64_t sum = m_samples[last / kSampleRows];
        for (std::size_t row = last / kSampleRows * kSampleRows; row < last; ++row) {
            sum += static_cast<std::uint64_t>(value(row));
        }
        return static_cast<std::int64_t>(sum);
    }

private:
    std::vector<std::uint64_t> m_samples;
    std::uint64_t m_total = 0;
};

std::size_t begunBy(const std::vector<std::int64_t>& column, std::int64_t t)
{
    return at(std::upper_bound(column.begin(), column.end(), t) - column.begin());
}

// The copies of one link in order. `rows` stays empty while there is one link: then it is every
// row.
struct Lane
{
    std::vector<std::uint32_t> rows;
    std::size_t size = 0;
    std::vector<Sampled> bytes, count; // by key: operand * 2 + out
    Sampled busy[2];                   // by direction

    [[nodiscard]] std::size_t row(std::size_t i) const { return rows.empty() ? i : rows[i]; }

    // How many of this lane's copies have column <= t; the column is sorted along a lane.
    [[nodiscard]] std::size_t by(const std::vector<std::int64_t>& column, std::int64_t t) const
    {
        std::size_t first = 0, length = size;
        while (length > 0) {
            const std::size_t half = length / 2;
            if (column[row(first + half)] <= t) {
                first += half + 1;
                length -= half + 1;
            } else {
                length = half;
            }
        }
        return first;
    }
};

std::size_t keyOf(const Copies& copies, std::size_t row)
{
    return at(copies.operand[row]) * 2 + copies.out[row];
}

// Busy time of one unit in the first `since` ps of a segment.
std::int64_t busyWithin(const SegmentTemplate& segment, std::int32_t unit, std::int64_t since)
{
    std::int64_t sum = 0;
    for (const Mark& mark : segment.marks) {
        if (mark.unit == unit) {
            const std::int64_t begin = markTime(segment, mark.offset);
            const std::int64_t end = markTime(segment, mark.offset + mark.length);
            sum += std::clamp(since, begin, end) - begin;
        }
    }
    return sum;
}

Lane makeLane(const Trace& trace, std::int32_t link)
{
    const Copies& copies = trace.copies();
    Lane lane;
    lane.size = copies.size();
    if (trace.info().links.size() > 1) {
        for (std::size_t row = 0; row < copies.size(); ++row) {
            if (copies.link[row] == link) {
                lane.rows.push_back(static_cast<std::uint32_t>(row));
            }
        }
        lane.size = lane.rows.size();
    }
    const std::size_t keys = trace.info().operands.size() * 2;
    lane.bytes.resize(keys);
    lane.count.resize(keys);
    for (std::size_t i = 0; i < lane.size; ++i) {
        const std::size_t row = lane.row(i), own = keyOf(copies, row);
        for (std::size_t key = 0; key < keys; ++key) {
            lane.bytes[key].add(i, key == own ? copies.bytes[row] : 0);
            lane.count[key].add(i, key == own ? 1 : 0);
        }
        const std::int64_t length = copies.end[row] - copies.start[row];
        lane.busy[0].add(i, copies.out[row] == 0 ? length : 0);
        lane.busy[1].add(i, copies.out[row] == 0 ? 0 : length);
    }
    for (std::size_t key = 0; key < keys; ++key) {
        lane.bytes[key].finish();
        lane.count[key].finish();
    }
    lane.busy[0].finish();
    lane.busy[1].finish();
    return lane;
}

// Visits of one operand ordered by block, then time. Counting sort; by comparison only where an
// array has far more blocks than were ever visited.
std::vector<std::uint32_t> rowsByBlock(const Visits& visits, std::size_t first, std::size_t last)
{
    std::vector<std::uint32_t> rows(last - first);
    std::int64_t highest = -1;
    for (std::size_t row = first; row < last; ++row) {
        highest = std::max(highest, visits.block[row]);
    }
    if (highest > static_cast<std::int64_t>(2 * rows.size() + 1024)) {
        std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(first));
        std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
            return visits.block[a] < visits.block[b];
        });
        return rows;
    }
    std::vector<std::uint32_t> next(at(highest + 2), 0);
    for (std::size_t row = first; row < last; ++row) {
        ++next[at(visits.block[row] + 1)];
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::size_t row = first; row < last; ++row) {
        rows[next[at(visits.block[row])]++] = static_cast<std::uint32_t>(row);
    }
    return rows;
}

double bodyShare(const Trace& trace, std::size_t step, std::int64_t t)
{
    const std::int64_t begin = trace.steps().bodyBegin[step], end = trace.steps().bodyEnd[step];
    if (t >= end) {
        return 1;
    }
    return t <= begin ? 0 : static_cast<double>(t - begin) / static_cast<double>(end - begin);
}

} // namespace

struct Index::Sums
{
    std::vector<std::int64_t> busyOf;  // full busy time: template * units + unit
    std::vector<std::int64_t> flopsOf; // by template
    std::vector<Sampled> unitBusy;
    Sampled flops;
    Sampled waiting;
    std::vector<Lane> lanes;
    std::vector<std::vector<std::uint32_t>> byBlock; // per operand: its visits, by (block, time)
    std::vector<std::vector<std::int64_t>>
        written; // per operand: when each block first landed, sorted

    explicit Sums(const Trace& trace)
    {
        addSegments(trace);
        for (std::size_t row = 0; row < trace.waits().size(); ++row) {
            waiting.add(row, trace.waits().end[row] - trace.waits().begin[row]);
        }
        waiting.finish();
        for (std::size_t link = 0; link < trace.info().links.size(); ++link) {
            lanes.push_back(makeLane(trace, static_cast<std::int32_t>(link)));
        }
        addVisits(trace);
    }

private:
    void addSegments(const Trace& trace)
    {
        const Info& info = trace.info();
        const std::size_t units = info.units.size();
        unitBusy.resize(units);
        std::vector<std::size_t> used; // only units that some template uses are worth a pass
        for (const SegmentTemplate& segment : info.templates) {
            flopsOf.push_back(segment.flops().value());
            for (std::size_t unit = 0; unit < units; ++unit) {
                busyOf.push_back(busyWithin(segment, static_cast<std::int32_t>(unit), INT64_MAX));
                if (busyOf.back() != 0 && std::find(used.begin(), used.end(), unit) == used.end()) {
                    used.push_back(unit);
                }
            }
        }
        const std::vector<std::int32_t>& ids = trace.segments().templateId;
        for (std::size_t row = 0; row < ids.size(); ++row) {
            const std::size_t id = at(ids[row]);
            flops.add(row, flopsOf[id]);
            for (const std::size_t unit : used) {
                unitBusy[unit].add(row, busyOf[id * units + unit]);
            }
        }
        flops.finish();
        for (Sampled& sums : unitBusy) {
            sums.finish();
        }
    }

    void addVisits(const Trace& trace)
    {
        const Visits& visits = trace.visits();
        std::size_t first = 0;
        for (std::size_t operand = 0; operand < trace.info().operands.size(); ++operand) {
            std::size_t last = first;
            while (last < visits.size() && at(visits.operand[last]) == operand) {
                ++last;
            }
            byBlock.push_back(rowsByBlock(visits, first, last));
            written.push_back(firstLandings(trace, byBlock.back()));
            first = last;
        }
    }

    static std::vector<std::int64_t> firstLandings(const Trace& trace,
                                                   const std::vector<std::uint32_t>& rows)
    {
        std::vector<std::int64_t> times;
        std::int64_t done = -1; // the last block that has a time
        for (const std::uint32_t row : rows) {
            const std::int32_t copy = trace.visits().copyOut[row];
            if (copy != kNone && trace.visits().block[row] != done) {
                done = trace.visits().block[row];
                times.push_back(trace.copies().end[at(copy)]);
            }
        }
        std::sort(times.begin(), times.end());
        times.shrink_to_fit();
        return times;
    }
};

Index::Index(std::shared_ptr<const Trace> trace)
    : m_trace(std::move(trace))
    , m_sums(std::make_shared<const Sums>(*m_trace))
{}

namespace {

std::int64_t clamped(const Trace& trace, Picoseconds t)
{
    return std::clamp<std::int64_t>(t.value(), 0, trace.end().value());
}

// Calls f(template, ps since its begin) for every segment that runs at t, one per agent.
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

} // namespace

Picoseconds Index::unitBusy(std::int32_t unit, Picoseconds time) const
{
    PALLASCOPE_CHECK(unit >= 0 && at(unit) < m_sums->unitBusy.size());
    const std::int64_t t = clamped(*m_trace, time);
    const Segments& segments = m_trace->segments();
    const std::size_t units = m_sums->unitBusy.size();
    const auto full = [&](std::size_t id) { return m_sums->busyOf[id * units + at(unit)]; };
    std::int64_t sum =
        m_sums->unitBusy[at(unit)].upTo(begunBy(segments.begin, t), [&](std::size_t row) {
            return full(at(segments.templateId[row]));
        });
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
    std::int64_t sum = lane.busy[out ? 1 : 0].upTo(landedCount, length);
    if (landedCount < lane.size && length(landedCount) != 0) {
        sum += std::max<std::int64_t>(0, t - copies.start[lane.row(landedCount)]);
    }
    return Picoseconds(sum);
}

Picoseconds Index::waiting(Picoseconds time) const
{
    const std::int64_t t = clamped(*m_trace, time);
    const Waits& waits = m_trace->waits();
    std::int64_t sum = m_sums->waiting.upTo(begunBy(waits.begin, t), [&](std::size_t row) {
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
    const Copies& copies = m_trace->copies();
    const std::size_t key = at(operand) * 2 + (out ? 1 : 0);
    double sum = 0;
    for (const Lane& lane : m_sums->lanes) {
        const std::size_t landedCount = lane.by(copies.end, t);
        sum += static_cast<double>(lane.bytes[key].upTo(landedCount, [&](std::size_t i) {
            return keyOf(copies, lane.row(i)) == key ? copies.bytes[lane.row(i)] : 0;
        }));
        if (landedCount < lane.size && keyOf(copies, lane.row(landedCount)) == key) {
            const std::size_t row = lane.row(landedCount);
            sum += static_cast<double>(copies.bytes[row])
                   * copyFraction(*m_trace, row, Picoseconds(t));
        }
    }
    return sum;
}

double Index::bytes(Picoseconds t) const
{
    double sum = 0;
    for (std::size_t operand = 0; operand < m_trace->info().operands.size(); ++operand) {
        for (const bool out : {false, true}) {
            sum += operandBytes(static_cast<std::int32_t>(operand), out, t);
        }
    }
    return sum;
}

double Index::flops(Picoseconds time) const
{
    const std::int64_t t = clamped(*m_trace, time);
    const Segments& segments = m_trace->segments();
    auto sum =
        static_cast<double>(m_sums->flops.upTo(begunBy(segments.begin, t), [&](std::size_t row) {
            return m_sums->flopsOf[at(segments.templateId[row])];
        }));
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
        sum += lane.count[key].upTo(lane.by(copies.end, t), [&](std::size_t i) {
            return keyOf(copies, lane.row(i)) == key ? 1 : 0;
        });
    }
    return sum;
}

BlockState Index::blockStateAt(std::int32_t operand, std::int64_t block, Picoseconds time) const
{
    PALLASCOPE_CHECK(operand >= 0 && at(operand) < m_sums->byBlock.size());
    const std::int64_t t = clamped(*m_trace, time);
    const Visits& visits = m_trace->visits();
    const Steps& steps = m_trace->steps();
    const Copies& copies = m_trace->copies();
    const std::vector<std::uint32_t>& all = m_sums->byBlock[at(operand)];
    const auto first = std::partition_point(
        all.begin(), all.end(), [&](std::uint32_t row) { return visits.block[row] < block; });
    const auto last = std::partition_point(
        first, all.end(), [&](std::uint32_t row) { return visits.block[row] <= block; });
    const auto landedBy = [&](const std::vector<std::int32_t>& column) {
        return std::partition_point(first, last, [&](std::uint32_t row) {
            return column[row] != kNone && copies.end[at(column[row])] <= t;
        });
    };
    const auto begun = std::partition_point(first, last, [&](std::uint32_t row) {
        return steps.begin[at(visits.firstStep[row])] <= t;
    });
    const bool output = m_trace->info().operands[at(operand)].direction != Direction::In;
    const auto fetched = landedBy(visits.copyIn);
    const auto taken = landedBy(visits.copyOut);
    BlockState state;
    state.copies = output ? taken - first : fetched - first;

    if (begun != first) { // the stay that began last
        const std::uint32_t row = *(begun - 1);
        const std::int32_t in = visits.copyIn[row], out = visits.copyOut[row];
        const bool here = in == kNone || copies.end[at(in)] <= t;
        const bool kept = out == kNone || copies.issue[at(out)] > t;
        if (here && kept && t < steps.end[at(visits.lastStep[row])]) {
            state.phase = BlockPhase::InUse;
            if (output) {
                const std::int32_t begin = visits.firstStep[row];
                const std::int32_t step =
                    std::min(stepAt(*m_trace, Picoseconds(t)), visits.lastStep[row]);
                state.fraction = (step - begin + bodyShare(*m_trace, at(step), t))
                                 / (visits.lastStep[row] - begin + 1);
            }
            return state;
        }
    }
    if (fetched != last && visits.copyIn[*fetched] != kNone
        && copies.issue[at(visits.copyIn[*fetched])] <= t) {
        const std::size_t copy = at(visits.copyIn[*fetched]);
        state.phase = copies.start[copy] <= t ? BlockPhase::Arriving : BlockPhase::Queued;
        state.fraction = copyFraction(*m_trace, copy, Picoseconds(t));
        return state;
    }
    if (taken < begun && visits.copyOut[*taken] != kNone
        && copies.issue[at(visits.copyOut[*taken])] <= t) {
        state.phase = BlockPhase::Leaving;
        state.fraction = copyFraction(*m_trace, at(visits.copyOut[*taken]), Picoseconds(t));
        return state;
    }
    if (fetched > begun) {
        state.phase = BlockPhase::Ready; // landed for a stay that has not begun
    } else if (state.copies > 0) {
        state.phase = output ? BlockPhase::Written : BlockPhase::Before;
    } else if (begun != first && (fetched != first || visits.copyIn[*first] == kNone)) {
        state.phase = BlockPhase::Before;
    }
    return state;
}

std::int64_t Index::blocksWritten(std::int32_t operand, Picoseconds t) const
{
    PALLASCOPE_CHECK(operand >= 0 && at(operand) < m_sums->written.size());
    return static_cast<std::int64_t>(begunBy(m_sums->written[at(operand)], t.value()));
}

} // namespace pallascope::trace
