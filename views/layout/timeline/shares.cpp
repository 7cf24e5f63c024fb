// Computes what share of several agents is busy or waits: summed over the run, and for each pixel.
// Each row in sight is looked at once; a row thinner than a pixel costs one addition.
#include "core/trace/device_times.h"
#include "core/trace/mark_time.h"
#include "views/layout/timeline/busy.h"
#include "views/layout/timeline/plot.h"
#include "views/layout/timeline/sm_lanes.h"
#include "views/layout/timeline/timeline.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pallascope::layout::timeline {

namespace {

constexpr double kLeastTrack = 6; // px
constexpr double kRoomy = 8;      // px; from this height on, a track leaves one pixel free below it

std::size_t at(std::int64_t index)
{
    return static_cast<std::size_t>(index);
}

bool isOf(const Lane& lane, std::int32_t agent)
{
    return std::binary_search(lane.agents.begin(), lane.agents.end(), agent);
}

// Whether a lane shows a unit of some of its users only.
bool isOfSome(const Lane& lane)
{
    return lane.kind == LaneKind::SmUnit || lane.kind == LaneKind::DeviceUnit;
}

// How long the agents of a lane have waited by each of several ascending times.
std::vector<Picoseconds> waitedBy(const trace::Trace& trace, const Lane& lane,
                                  const std::vector<Picoseconds>& times)
{
    const trace::Waits& waits = trace.waits();
    // What changes at each time: the number of waits going on, and the ends of waits that are over
    // minus the begins of all waits so far. The time waited by t is this sum plus the number times
    // t. The numbers are unsigned, so that a hostile file can only make them wrap, not overflow.
    std::vector<std::uint64_t> ongoing(times.size() + 1, 0), sum(times.size() + 1, 0);
    const auto after = [&](std::int64_t t) {
        return at(std::upper_bound(times.begin(), times.end(), Picoseconds(t)) - times.begin());
    };
    for (std::size_t row = 0; row < waits.size() && waits.begin[row] < times.back().value();
         ++row) {
        if (isOf(lane, waits.agent[row])) {
            const std::size_t begun = after(waits.begin[row]), ended = after(waits.end[row]);
            ++ongoing[begun];
            --ongoing[ended];
            sum[begun] -= static_cast<std::uint64_t>(waits.begin[row]);
            sum[ended] += static_cast<std::uint64_t>(waits.end[row]);
        }
    }
    std::vector<Picoseconds> waited;
    std::uint64_t going = 0, total = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        going += ongoing[i];
        total += sum[i];
        waited.emplace_back(static_cast<std::int64_t>(
            total + going * static_cast<std::uint64_t>(times[i].value())));
    }
    return waited;
}

// Adds up rows for each pixel.
class Columns
{
public:
    explicit Columns(const TimeAxis& axis)
        : m_size(at(std::llround(std::ceil(axis.width))))
        , m_part(m_size + 1, 0.0)
        , m_whole(m_size + 2, 0)
        , m_rows(m_size + 2)
        , m_begin(m_size + 1)
    {}

    // Adds time during which one agent is busy, in px from the plot's left edge.
    void add(double from, double to)
    {
        from = std::clamp(from, 0.0, static_cast<double>(m_size));
        to = std::clamp(to, 0.0, static_cast<double>(m_size));
        const auto first = static_cast<std::size_t>(from), last = static_cast<std::size_t>(to);
        if (first == last) {
            m_part[first] += to - from;
            return;
        }
        m_part[first] += static_cast<double>(first) + 1 - from;
        m_part[last] += to - static_cast<double>(last);
        ++m_whole[first + 1];
        --m_whole[last];
    }

    // Adds this much, in px, to the pixel that contains `px`.
    void addThin(double px, double length)
    {
        if (px >= 0 && px < static_cast<double>(m_size)) {
            m_part[static_cast<std::size_t>(px)] += length;
        }
    }

    // Notes that a row reaches from one px to the other, and that it begins at `begin`.
    void touch(double from, double to, std::size_t row, std::int64_t begin)
    {
        const auto most = static_cast<double>(m_size);
        if (to <= 0 || from >= most || to <= from) {
            return;
        }
        const auto first = static_cast<std::size_t>(std::max(0.0, from));
        const auto behind =
            std::max(first + 1, static_cast<std::size_t>(std::ceil(std::min(to, most))));
        std::uint64_t which = (static_cast<std::uint64_t>(row) + 1) * 0x9E3779B97F4A7C15U;
        which ^= which >> 32U;
        m_rows[first].add(1, static_cast<std::int64_t>(row), which);
        if (from >= 0 && !m_begin[first]) {
            m_begin[first] = Picoseconds(begin);
        }
        m_rows[behind].add(-1, -static_cast<std::int64_t>(row), ~which + 1);
    }

    [[nodiscard]] std::vector<Share> shares(std::size_t agents) const
    {
        std::vector<Share> all(m_size);
        Sum rows;
        std::int64_t whole = 0;
        for (std::size_t i = 0; i < m_size; ++i) {
            rows.add(m_rows[i].count, m_rows[i].row, m_rows[i].which);
            whole += m_whole[i];
            const double sum = static_cast<double>(whole) + m_part[i];
            all[i].share = std::clamp(sum / static_cast<double>(agents), 0.0, 1.0);
            all[i].rows = rows.count;
            all[i].row = rows.count == 1 ? rows.row : -1;
            all[i].which = rows.which;
            all[i].begin = m_begin[i];
        }
        return all;
    }

private:
    struct Sum
    {
        std::int64_t count = 0, row = 0;
        std::uint64_t which = 0;

        void add(std::int64_t rows, std::int64_t number, std::uint64_t mixed)
        {
            count += rows;
            row += number;
            which += mixed;
        }
    };

    std::size_t m_size;
    std::vector<double> m_part;        // for each pixel, the px of partial rows that are busy in it
    std::vector<std::int64_t> m_whole; // how many rows fill all pixels from here on, as changes
    std::vector<Sum> m_rows;           // the same for rows that reach into a pixel
    std::vector<std::optional<Picoseconds>> m_begin;
};

// How long a unit of some agents has been busy by each of several ascending times.
std::vector<Picoseconds> unitBusyBy(const RunView& run, const Lane& lane,
                                    const std::vector<Picoseconds>& times)
{
    const trace::Info& info = run.trace->info();
    const trace::Segments& segments = run.trace->segments();
    const std::vector<std::int32_t>& owner = run.index->agents().ownerOf;
    BusyTimes busyTimes(info, lane.unit);
    std::vector<Picoseconds> sums(times.size()), whole(times.size() + 1);
    for (std::size_t row = 0; row < segments.size() && segments.begin[row] < times.back().value();
         ++row) {
        if (!isOf(lane, owner[at(segments.agent[row])])) {
            continue;
        }
        const Busy& busy = busyTimes.of(segments.templateId[row]);
        const std::int64_t begin = segments.begin[row];
        auto i =
            at(std::upper_bound(times.begin(), times.end(), Picoseconds(begin)) - times.begin());
        for (; i < times.size() && !busy.times.empty()
               && times[i].value() - begin < busy.times.back().second;
             ++i) {
            for (const auto& [since, until] : busy.times) {
                const std::int64_t now = times[i].value() - begin;
                sums[i] += Picoseconds(std::max<std::int64_t>(0, std::min(now, until) - since));
            }
        }
        whole[i] += Picoseconds(busy.sum);
    }
    Picoseconds before;
    for (std::size_t i = 0; i < times.size(); ++i) {
        before += whole[i];
        sums[i] += before;
    }
    return sums;
}

void addSegments(Columns& columns, const RunView& run, const Lane& lane, const TimeAxis& axis)
{
    const trace::Trace& trace = *run.trace;
    const trace::Info& info = trace.info();
    const trace::Segments& segments = trace.segments();
    BusyTimes busyTimes(info, lane.unit);
    const auto px = [&](std::int64_t t) { return axis.toX(Picoseconds(t)) - axis.left; };
    const double pxPerPs =
        axis.width / static_cast<double>((axis.range.end - axis.range.begin).value());
    const auto first = std::upper_bound(segments.begin.begin(), segments.begin.end(),
                                        axis.range.begin.value() - longestSegment(info));
    for (std::size_t row = at(first - segments.begin.begin());
         row < segments.size() && segments.begin[row] < axis.range.end.value(); ++row) {
        const Busy& busy = busyTimes.of(segments.templateId[row]);
        const std::int32_t owner = run.index->agents().ownerOf[at(segments.agent[row])];
        if (busy.times.empty() || (isOfSome(lane) && !isOf(lane, owner))) {
            continue;
        }
        const std::int64_t begin = segments.begin[row];
        const double from = px(begin + busy.times.front().first);
        const double to = px(begin + busy.times.back().second);
        columns.touch(from, to, row, begin + busy.times.front().first);
        if (std::floor(from) == std::floor(to)) {
            columns.addThin(from, static_cast<double>(busy.sum) * pxPerPs);
            continue;
        }
        for (const auto& [since, until] : busy.times) {
            columns.add(px(begin + since), px(begin + until));
        }
    }
}

void addWaits(Columns& columns, const trace::Trace& trace, const Lane& lane, const TimeAxis& axis)
{
    const trace::Waits& waits = trace.waits();
    const auto px = [&](std::int64_t t) { return axis.toX(Picoseconds(t)) - axis.left; };
    for (std::size_t row = 0; row < waits.size() && waits.begin[row] < axis.range.end.value();
         ++row) {
        if (waits.end[row] > axis.range.begin.value() && waits.end[row] > waits.begin[row]
            && isOf(lane, waits.agent[row])) {
            columns.add(px(waits.begin[row]), px(waits.end[row]));
            columns.touch(px(waits.begin[row]), px(waits.end[row]), row, waits.begin[row]);
        }
    }
}

} // namespace

std::vector<Picoseconds> busyBy(const RunView& run, const Lane& lane,
                                const std::vector<Picoseconds>& times)
{
    // Warpgroups of an SM share its units, so what one of them does is a part of the SM's time.
    const auto agents = static_cast<std::int64_t>(
        lane.kind == LaneKind::SmUnit ? 1 : std::max<std::size_t>(1, lane.agents.size()));
    std::vector<Picoseconds> sums;
    const bool isOfLinks = lane.kind == LaneKind::SmCopies || lane.device >= 0
                           || lane.links.size() > 1; // a single link knows its own time
    if (isOfLinks && !lane.links.empty() && !times.empty()) {
        sums = linksBusyBy(run, lane, times);
    } else if (lane.role == Role::Wait && !lane.agents.empty() && !times.empty()) {
        sums = waitedBy(*run.trace, lane, times);
    } else if (lane.device >= 0 && isStripOfSms(lane) && !times.empty()) {
        Lane all = lane; // whose agents do not all use the unit
        all.agents.clear();
        const auto [first, end] = run.index->agents().smsOf(lane.device);
        for (std::int32_t sm = first; sm < end; ++sm) {
            const std::vector<std::int32_t>& own = run.index->agents().sms[at(sm)].agents;
            all.agents.insert(all.agents.end(), own.begin(), own.end());
        }
        std::sort(all.agents.begin(), all.agents.end());
        sums = unitBusyBy(run, all, times);
    } else if ((lane.kind == LaneKind::DeviceUnit || lane.kind == LaneKind::SmUnit
                || lane.kind == LaneKind::Agent)
               && !times.empty()) {
        sums = unitBusyBy(run, lane, times);
    }
    for (std::size_t i = sums.size(); i < times.size(); ++i) {
        Picoseconds& sum = sums.emplace_back();
        switch (lane.kind) {
        case LaneKind::Unit:
        case LaneKind::Sms:
            sum = run.index->unitBusy(trace::UnitRow{lane.unit}, times[i]);
            break;
        case LaneKind::Wait:
            sum = run.index->waiting(times[i]);
            break;
        case LaneKind::Device:
            sum = lane.unit == trace::kNone ? Picoseconds(0)
                                            : run.index->devices().busy(lane.device, times[i]);
            break;
        case LaneKind::DeviceCopy:
        case LaneKind::DeviceUnit:
        case LaneKind::DeviceWait:
        case LaneKind::Sm:
        case LaneKind::SmCopies:
        case LaneKind::SmUnit:
        case LaneKind::Agent:
            break; // no agent of the device takes part in the run
        case LaneKind::CopyIn:
        case LaneKind::CopyOut:
            for (const std::int32_t link : lane.links) {
                sum += run.index->linkBusy(trace::LinkRow{link}, lane.kind == LaneKind::CopyOut,
                                           times[i]);
            }
            break;
        }
    }
    for (Picoseconds& sum : sums) {
        sum = Picoseconds(sum.value() / agents);
    }
    return sums;
}

std::vector<Track> tracksOf(const Lane& lane)
{
    std::vector<Track> tracks;
    const auto count = static_cast<double>(lane.agents.size());
    const double pitch = count > 0 ? std::floor(lane.h / count) : 0;
    for (std::size_t i = 0; i < lane.agents.size() && pitch >= kLeastTrack; ++i) {
        tracks.push_back({lane.agents[i], lane.y + static_cast<double>(i) * pitch,
                          pitch >= kRoomy && count > 1 ? pitch - 1 : pitch});
    }
    return tracks;
}

std::vector<Share> sharesOf(const RunView& run, const Lane& lane, const TimeAxis& axis)
{
    Columns columns(axis);
    if (lane.role != Role::Wait) {
        addSegments(columns, run, lane, axis);
    } else {
        addWaits(columns, *run.trace, lane, axis);
    }
    return columns.shares(std::max<std::size_t>(1, lane.agents.size()));
}

const trace::Mark* markAt(const trace::Trace& trace, trace::SegmentRow segment, trace::UnitRow unit,
                          Picoseconds t)
{
    const trace::SegmentTemplate& of =
        trace.info().templates[at(trace.segments().templateId[segment.index()])];
    const std::int64_t since = t.value() - trace.segments().begin[segment.index()];
    const auto mark = std::find_if(of.marks.begin(), of.marks.end(), [&](const trace::Mark& one) {
        return one.unit == unit.number && trace::markTime(of, one.offset) <= since
               && since < trace::markTime(of, one.offset + one.length);
    });
    return mark == of.marks.end() ? nullptr : &*mark;
}

std::vector<RowAt> rowsAt(const RunView& run, const Lane& lane, Picoseconds t)
{
    const trace::Trace& trace = *run.trace;
    const std::vector<std::int32_t>& owner = run.index->agents().ownerOf;
    std::vector<RowAt> rows;
    for (std::size_t i = 0; i < owner.size(); ++i) {
        const auto agent = trace::AgentRow::at(i);
        if (!isOf(lane, owner[i])) {
            continue;
        }
        if (lane.role == Role::Wait) {
            if (const trace::OptionalRow<trace::WaitRow> wait = trace::waitAt(trace, agent, t)) {
                rows.emplace_back(*wait);
            }
        } else if (const auto segment = trace::segmentAt(trace, agent, t);
                   segment && markAt(trace, *segment, trace::UnitRow{lane.unit}, t) != nullptr) {
            rows.emplace_back(*segment);
        }
    }
    return rows;
}

} // namespace pallascope::layout::timeline
