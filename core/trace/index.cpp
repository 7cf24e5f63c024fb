#include "core/base/check.h"
#include "core/trace/columns.h"
#include "core/trace/index_sums.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <span>

namespace pallascope::trace {

namespace {

// Calls f(template, ps since its begin) for each segment that runs at t; there is at most one for
// each agent.
template<class F>
void forRunning(const Trace& trace, std::int64_t t, F f)
{
    for (std::size_t agent = 0; agent < trace.info().agents.size(); ++agent) {
        if (const OptionalRow<SegmentRow> row =
                segmentAt(trace, AgentRow::at(agent), Picoseconds(t))) {
            f(at(trace.segments().templateId[row->index()]),
              t - trace.segments().begin[row->index()]);
        }
    }
}

// What one link has moved by t, of a quantity of its sums: value(row) is what each copy adds to it.
template<class Value>
double movedBy(const Trace& trace, const Lane& lane, std::size_t quantity, std::int64_t t,
               Value value)
{
    const std::size_t landed = lane.by(trace.copies().end, t);
    auto sum = static_cast<double>(
        lane.sums.upTo(quantity, landed, [&](std::size_t i) { return value(lane.row(i)); }));
    if (landed < lane.size) {
        const std::size_t row = lane.row(landed);
        if (const std::int64_t bytes = value(row); bytes != 0) {
            sum +=
                static_cast<double>(bytes) * copyFraction(trace, CopyRow::at(row), Picoseconds(t));
        }
    }
    return sum;
}

// The bytes that one link has moved by t for one operand and direction.
double laneBytes(const Trace& trace, const Lane& lane, std::size_t key, std::int64_t t)
{
    const Copies& copies = trace.copies();
    return lane.has(key, trace.info().operands.size()) ? movedBy(
               trace, lane, key, t,
               [&](std::size_t row) { return keyOf(copies, row) == key ? copies.bytes[row] : 0; })
                                                       : 0;
}

} // namespace

struct Index::Later
{
    std::once_flag made;
    std::optional<const Sums> sums;
};

Index::Index(std::shared_ptr<const Trace> trace)
    : m_trace(std::move(trace))
    , m_later(std::make_shared<Later>())
{}

const Index::Sums& Index::sums() const
{
    std::call_once(m_later->made, [this] { m_later->sums.emplace(*m_trace); });
    return *m_later->sums;
}

const Agents& Index::agents() const
{
    return sums().agents;
}

const PipelineKinds& Index::pipelines() const
{
    return sums().pipelines;
}

const Arrays& Index::arrays() const
{
    return sums().arrays;
}

const GridLaunches& Index::launches() const
{
    return sums().launches;
}

const LoopRounds& Index::rounds() const
{
    return sums().rounds;
}

const SemaphoreCounts& Index::semaphores() const
{
    return sums().semaphores;
}

const CacheHistory& Index::caches() const
{
    return sums().caches;
}

const ScratchSlots& Index::scratch() const
{
    return sums().scratch;
}

const LeadingSteps& Index::leading() const
{
    return sums().leading;
}

void Index::prepareForPictures() const
{
    static_cast<void>(sums().forPictures(*m_trace));
}

const ManualArrays& Index::manualArrays(std::int32_t device) const
{
    const std::vector<ManualArrays>& all = sums().forPictures(*m_trace).manual;
    return all[device >= 0 && at(device) < all.size() ? at(device) : 0];
}

const Pieces& Index::pieces(std::int32_t device) const
{
    const bool exists = device >= 0 && at(device) < sums().pieces.size();
    return sums().pieces[exists ? at(device) : 0];
}

const DeviceTimes& Index::devices() const
{
    return sums().devices;
}

std::span<const std::int32_t> Index::sharing(OperandRow operand) const
{
    PALLASCOPE_CHECK(operand.index() < sums().firstSharing.size());
    return sums().sharing[at(sums().firstSharing[operand.index()])];
}

std::span<const std::int32_t> Index::alike(OperandRow operand) const
{
    const auto& all = sums().forPictures(*m_trace).alike;
    PALLASCOPE_CHECK(operand.index() < all.size());
    return all[operand.index()];
}

const Windows& Index::windows(OperandRow operand) const
{
    const std::vector<Windows>& all = sums().forPictures(*m_trace).windows;
    PALLASCOPE_CHECK(operand.index() < all.size());
    return all[operand.index()];
}

Picoseconds Index::unitBusy(UnitRow unit, Picoseconds time) const
{
    PALLASCOPE_CHECK(unit.index() < m_trace->info().units.size());
    const std::int64_t t = clamped(*m_trace, time);
    const Segments& segments = m_trace->segments();
    const std::size_t units = m_trace->info().units.size();
    const auto full = [&](std::size_t id) { return sums().busyOf[id * units + unit.index()]; };
    std::int64_t sum =
        sums().segments.upTo(unit.index(), begunBy(segments.begin, t),
                             [&](std::size_t row) { return full(at(segments.templateId[row])); });
    forRunning(*m_trace, t, [&](std::size_t id, std::int64_t since) {
        sum -= full(id) - busyWithin(m_trace->info().templates[id], unit, since);
    });
    return Picoseconds(sum);
}

Picoseconds Index::linkBusy(LinkRow link, bool out, Picoseconds time) const
{
    PALLASCOPE_CHECK(link.index() < sums().lanes.size());
    const std::int64_t t = clamped(*m_trace, time);
    const Copies& copies = m_trace->copies();
    const Lane& lane = sums().lanes[link.index()];
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

std::size_t Index::copiesOf(LinkRow link) const
{
    return sums().lanes[link.index()].size;
}

CopyRow Index::copyOf(LinkRow link, std::size_t number) const
{
    return CopyRow::at(sums().lanes[link.index()].row(number));
}

std::size_t Index::copiesBy(LinkRow link, const std::vector<std::int64_t>& column,
                            Picoseconds t) const
{
    return sums().lanes[link.index()].by(column, t.value());
}

Picoseconds Index::waiting(Picoseconds time) const
{
    const std::int64_t t = clamped(*m_trace, time);
    const Waits& waits = m_trace->waits();
    const Sums& its = sums();
    const std::size_t begun = begunBy(waits.begin, t), ended = begunBy(its.waitEnds, t);
    const std::int64_t sum = its.waits.upTo(
        0, begun, [&](std::size_t row) { return waits.end[row] - waits.begin[row]; });
    // Less what is still to come of those under way, over all agents.
    const std::int64_t begunEnds =
        its.waits.upTo(1, begun, [&](std::size_t row) { return waits.end[row]; });
    const std::int64_t endedEnds =
        its.endedWaits.upTo(0, ended, [&](std::size_t i) { return its.waitEnds[i]; });
    const auto underWay = static_cast<std::uint64_t>(begun - ended);
    const std::uint64_t left = static_cast<std::uint64_t>(begunEnds)
                               - static_cast<std::uint64_t>(endedEnds)
                               - underWay * static_cast<std::uint64_t>(t);
    return Picoseconds(sum - static_cast<std::int64_t>(left));
}

double Index::operandBytes(OperandRow operand, bool out, LinkRow link, Picoseconds time) const
{
    PALLASCOPE_CHECK(operand.index() < m_trace->info().operands.size());
    const std::size_t key = operand.index() * 2 + (out ? 1 : 0);
    return laneBytes(*m_trace, sums().lanes[link.index()], key, clamped(*m_trace, time));
}

double Index::bytes(Picoseconds time) const
{
    const std::int64_t t = clamped(*m_trace, time);
    const std::size_t quantity = Lane::hbmBytes(m_trace->info().operands.size());
    double sum = 0;
    for (const Lane& lane : sums().lanes) {
        sum += movedBy(*m_trace, lane, quantity, t,
                       [&](std::size_t row) { return hbmBytesOf(lane, m_trace->copies(), row); });
    }
    return sum;
}

double Index::linkBytes(LinkRow link, Picoseconds time) const
{
    PALLASCOPE_CHECK(link.index() < sums().lanes.size());
    const std::int64_t t = clamped(*m_trace, time);
    return movedBy(*m_trace, sums().lanes[link.index()],
                   Lane::allBytes(m_trace->info().operands.size()), t,
                   [&](std::size_t row) { return m_trace->copies().bytes[row]; });
}

Index::Moved Index::moved(OperandRow operand, Picoseconds time) const
{
    PALLASCOPE_CHECK(operand.index() < m_trace->info().operands.size());
    const std::int64_t t = clamped(*m_trace, time);
    const bool stays = m_trace->info().staysInHbm(operand.index());
    Moved sum;
    for (const Lane& lane : sums().lanes) {
        const int times = lane.hbmTimes[operand.index()];
        const double in = laneBytes(*m_trace, lane, operand.index() * 2, t);
        const double out = laneBytes(*m_trace, lane, operand.index() * 2 + 1, t);
        if (times == 0) {
            sum.outsideHbm += in + out;
        } else {
            sum.read += stays ? times * (in + out) / 2 : in;
            sum.written += stays ? times * (in + out) / 2 : out;
        }
    }
    return sum;
}

double Index::flops(Picoseconds time) const
{
    const std::int64_t t = clamped(*m_trace, time);
    const Segments& segments = m_trace->segments();
    auto sum = static_cast<double>(sums().segments.upTo(
        m_trace->info().units.size(), begunBy(segments.begin, t),
        [&](std::size_t row) { return sums().flopsOf[at(segments.templateId[row])]; }));
    forRunning(*m_trace, t, [&](std::size_t id, std::int64_t since) {
        const double duration = static_cast<double>(m_trace->info().templates[id].duration.value());
        sum -=
            static_cast<double>(sums().flopsOf[id]) * (1 - static_cast<double>(since) / duration);
    });
    return sum;
}

std::int64_t Index::landed(OperandRow operand, bool out, Picoseconds time) const
{
    PALLASCOPE_CHECK(operand.index() < m_trace->info().operands.size());
    const std::int64_t t = clamped(*m_trace, time);
    const Copies& copies = m_trace->copies();
    const std::size_t key = operand.index() * 2 + (out ? 1 : 0);
    std::int64_t sum = 0;
    for (const Lane& lane : sums().lanes) {
        sum += lane.sums.upTo(
            m_trace->info().operands.size() * 2 + key, lane.by(copies.end, t),
            [&](std::size_t i) { return keyOf(copies, lane.row(i)) == key ? 1 : 0; });
    }
    return sum;
}

std::span<const Index::ListedElement> Index::listsOf(OperandRow operand, Extent element) const
{
    PALLASCOPE_CHECK(operand.index() < sums().listed.size());
    const std::vector<ListedElement>& all = sums().listed[operand.index()];
    const auto [first, last] = std::ranges::equal_range(
        all, element, {}, [](const ListedElement& one) -> Extent { return one.element; });
    return {first, last};
}

std::int64_t Index::blocksWritten(OperandRow operand, Picoseconds t) const
{
    PALLASCOPE_CHECK(operand.index() < sums().written.size());
    const std::int32_t first = sums().firstSharing[operand.index()];
    return static_cast<std::int64_t>(begunBy(sums().written[at(first)], t.value()));
}

} // namespace pallascope::trace
