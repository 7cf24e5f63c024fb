// Handles copies link by link: those of several devices, and those of one device with several
// links. Links work at the same time, so the ends of copies ascend only along each single link.
#include "core/base/format.h"
#include "views/layout/run/copies.h"
#include "views/layout/run/operand_color.h"
#include "views/layout/timeline/plot.h"
#include "views/layout/timeline/timeline.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace pallascope::layout::timeline {

namespace {

constexpr std::size_t kMostRows = 20'000, kMostSegments = 400'000;

std::vector<std::string> copyLabels(const trace::Trace& trace, std::size_t copy)
{
    const trace::Copies& copies = trace.copies();
    std::string name = trace::copyLabel(trace, trace::CopyRow::at(copy));
    return {name + " " + bytesText(Bytes(copies.bytes[copy])), std::move(name)};
}

// Goes through the copies over some links that end after a time, in the order of their starts.
class CopyRows
{
public:
    struct Next
    {
        std::size_t link = 0; // an index into those links
        std::size_t row = 0;
    };

    CopyRows(const RunView& run, const std::vector<std::int32_t>& links, std::int64_t t)
        : m_copies(run.trace->copies())
        , m_index(*run.index)
        , m_links(links)
    {
        for (const std::int32_t link : links) {
            m_next.push_back(m_index.copiesBy(trace::LinkRow{link}, m_copies.end, Picoseconds(t)));
        }
    }

    [[nodiscard]] std::optional<Next> take()
    {
        std::optional<Next> first;
        for (std::size_t i = 0; i < m_links.size(); ++i) {
            if (m_next[i] == m_index.copiesOf(trace::LinkRow{m_links[i]})) {
                continue;
            }
            const std::size_t row = m_index.copyOf(trace::LinkRow{m_links[i]}, m_next[i]).index();
            if (!first || m_copies.start[row] < m_copies.start[first->row]) {
                first = Next{i, row};
            }
        }
        if (first) {
            ++m_next[first->link];
        }
        return first;
    }

    // Skips the copies of one link that have ended by t.
    void skip(std::size_t link, std::int64_t t)
    {
        m_next[link] = std::max(m_next[link], m_index.copiesBy(trace::LinkRow{m_links[link]},
                                                               m_copies.end, Picoseconds(t)));
    }

private:
    const trace::Copies& m_copies;
    const trace::Index& m_index;
    const std::vector<std::int32_t>& m_links;
    std::vector<std::size_t> m_next; // for each link
};

// Whether a lane shows this copy over one of its links.
bool shows(const RunView& run, const Lane& lane, std::size_t copy)
{
    const bool isOut = run.trace->copies().out[copy] != 0;
    return lane.kind == LaneKind::SmCopies
               ? isCopyOfSm(run, trace::CopyRow::at(copy), lane.sm)
               : lane.device >= 0 || isOut == (lane.kind == LaneKind::CopyOut);
}

// Adds a time to the sums up to each of several ascending times.
void addSpan(std::vector<Picoseconds>& sums, const std::vector<Picoseconds>& times,
             std::int64_t from, std::int64_t to)
{
    for (std::size_t i = times.size(); i-- > 0 && times[i].value() > from;) {
        sums[i] += Picoseconds(std::min(times[i].value(), to) - from);
    }
}

} // namespace

bool hasDeviceLanes(const trace::Trace& trace)
{
    const auto devices = static_cast<std::size_t>(trace.info().deviceCount());
    // The number of agents is checked because a file may be wrong about it.
    return devices > 1 && trace.info().agents.size() >= devices
           && trace.copies().size() + trace.waits().size() <= kMostRows
           && trace.segments().size() <= kMostSegments;
}

// Copies over several links, and on several devices over one, overlap: their times are joined.
std::vector<Picoseconds> linksBusyBy(const RunView& run, const Lane& lane,
                                     const std::vector<Picoseconds>& times)
{
    const trace::Copies& copies = run.trace->copies();
    std::vector<Picoseconds> sums(times.size());
    std::int64_t from = 0, to = 0; // what is joined so far
    CopyRows rows(run, lane.links, 0);
    for (auto next = rows.take(); next && copies.start[next->row] < times.back().value();
         next = rows.take()) {
        if (!shows(run, lane, next->row)) {
            continue;
        }
        if (copies.start[next->row] > to) {
            addSpan(sums, times, from, to);
            from = copies.start[next->row];
        }
        to = std::max(to, copies.end[next->row]);
    }
    addSpan(sums, times, from, to);
    return sums;
}

std::vector<Bar> copyBars(const RunView& run, const Lane& lane,
                          const std::vector<std::int32_t>& links, const TimeAxis& axis, Level level)
{
    const trace::Copies& copies = run.trace->copies();
    const Plot plot(axis);
    CopyRows rows(run, links, plot.begin);
    std::vector<Bar> bars;
    for (auto next = rows.take(); next && copies.start[next->row] < plot.end; next = rows.take()) {
        const std::size_t row = next->row;
        if (!shows(run, lane, row) || copies.start[row] == copies.end[row]) {
            continue;
        }
        Bar bar;
        bar.begin = copies.start[row];
        bar.end = copies.end[row];
        bar.target = target::Copy{static_cast<std::int64_t>(row)};
        bar.color = operandRole(run, trace::OperandRow{copies.operand[row]});
        if (!append(bars, plot, std::move(bar))) {
            rows.skip(next->link, plot.timeAt(bars.back().x1) - 1);
        } else if (isLabelled(bars.back(), level)) {
            bars.back().labels = copyLabels(*run.trace, row);
        }
    }
    return bars;
}

std::vector<LinkTrack> linkTracksOf(const Lane& lane)
{
    constexpr double kLeast = 2; // px
    constexpr double kRoomy = 5; // px; tracks of this height leave a pixel free to the next
    std::vector<LinkTrack> tracks;
    const std::size_t links = lane.links.size();
    const auto most = static_cast<std::size_t>(std::max(1.0, std::floor(lane.h / kLeast)));
    const std::size_t count = std::min(links, most);
    for (std::size_t i = 0; i < count; ++i) {
        const auto edge = [&](std::size_t k) {
            return std::round(lane.h * static_cast<double>(k) / static_cast<double>(count));
        };
        const double h = edge(i + 1) - edge(i);
        const auto from = static_cast<std::ptrdiff_t>(links * i / count);
        const auto to = static_cast<std::ptrdiff_t>(links * (i + 1) / count);
        tracks.push_back({{lane.links.begin() + from, lane.links.begin() + to},
                          lane.y + edge(i),
                          h >= kRoomy && i + 1 < count ? h - 1 : h});
    }
    return tracks;
}

} // namespace pallascope::layout::timeline
