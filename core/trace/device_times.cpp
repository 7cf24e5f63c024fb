#include "core/trace/device_times.h"

#include "core/trace/columns.h"
#include "core/trace/index_sums.h"
#include "core/trace/semaphore_counts.h"
#include "core/trace/summary.h"

#include <algorithm>
#include <numeric>

namespace pallascope::trace {

namespace {

// The number of rows of a device that begin before t.
std::size_t begunRows(const std::vector<std::int32_t>& rows, const std::vector<std::int64_t>& begin,
                      std::int64_t t)
{
    return at(std::partition_point(rows.begin(), rows.end(),
                                   [&](std::int32_t row) { return begin[at(row)] < t; })
              - rows.begin());
}

bool computes(UnitKind kind)
{
    return kind == UnitKind::Matrix || kind == UnitKind::Vector || kind == UnitKind::Transcendental
           || kind == UnitKind::Crosslane;
}

} // namespace

DeviceTimes::DeviceTimes(const Trace& trace)
    : m_trace(&trace)
    , m_devices(at(trace.info().deviceCount()))
{
    if (m_devices.size() == 1) {
        m_devices.front().ends = trace.end().value();
        return; // nobody asks
    }
    const std::size_t agents = trace.info().agentsPerDevice();
    chooseUnit();
    addSegments(agents);
    addWaits(agents);
    findStraggler();
}

void DeviceTimes::chooseUnit()
{
    const Info& info = m_trace->info();
    std::vector<std::int64_t> instances(info.templates.size());
    for (const std::int32_t id : m_trace->segments().templateId) {
        ++instances[at(id)];
    }
    std::int64_t most = 0;
    for (std::size_t unit = 0; unit < info.units.size(); ++unit) {
        std::int64_t busy = 0;
        for (std::size_t id = 0; id < instances.size() && computes(info.units[unit].kind); ++id) {
            busy += instances[id]
                    * busyWithin(info.templates[id], UnitRow::at(unit),
                                 info.templates[id].duration.value());
        }
        if (busy > most) {
            most = busy;
            m_unit = UnitRow::at(unit);
        }
    }
}

std::int64_t DeviceTimes::busyIn(std::int32_t segment, std::int64_t since) const
{
    const SegmentTemplate& of =
        m_trace->info().templates[at(m_trace->segments().templateId[at(segment)])];
    return m_unit ? busyWithin(of, *m_unit, std::min(since, of.duration.value())) : 0;
}

void DeviceTimes::addSegments(std::size_t agents)
{
    const Segments& segments = m_trace->segments();
    for (std::size_t row = 0; row < segments.size(); ++row) {
        const std::size_t number = at(segments.agent[row]) / agents;
        if (number >= m_devices.size()) {
            continue;
        }
        Device& device = m_devices[number];
        const std::int64_t takes =
            m_trace->info().templates[at(segments.templateId[row])].duration.value();
        device.ends = std::max(device.ends, segments.begin[row] + takes);
        if (at(segments.agent[row]) % agents == 0) {
            const std::int64_t before =
                device.segments.empty()
                    ? 0
                    : device.busy.back() + busyIn(device.segments.back(), m_trace->end().value());
            device.segments.push_back(static_cast<std::int32_t>(row));
            device.busy.push_back(before);
        }
    }
}

bool DeviceTimes::isForOthers(std::size_t wait) const
{
    const Info& info = m_trace->info();
    const Waits& waits = m_trace->waits();
    if (kindOfWait(*m_trace, wait) == Summarizer::WaitKind::Fusion) {
        return false;
    }
    const bool isOwnBarrier = !waits.semaphore.empty() && waits.semaphore[wait] != kNone
                              && isBarrier(info, waits.semaphore[wait]);
    if (isOwnBarrier) { // of a GPU's block
        return false;
    }
    // The links between devices join their HBM.
    return waits.copy[wait] == kNone
           || info.hbmPasses(at(m_trace->copies().link[at(waits.copy[wait])])) == 2;
}

void DeviceTimes::addWaits(std::size_t agents)
{
    const Waits& waits = m_trace->waits();
    for (std::size_t row = 0; row < waits.size(); ++row) {
        const std::size_t number = at(waits.agent[row]) / agents;
        if (number >= m_devices.size()) {
            continue;
        }
        Device& device = m_devices[number];
        device.ends = std::max(device.ends, waits.end[row]);
        if (at(waits.agent[row]) % agents == 0 && isForOthers(row)) {
            const std::int64_t last =
                device.waits.empty() ? 0
                                     : device.waited.back() + waits.end[at(device.waits.back())]
                                           - waits.begin[at(device.waits.back())];
            device.waits.push_back(static_cast<std::int32_t>(row));
            device.waited.push_back(last);
        }
    }
}

void DeviceTimes::findStraggler()
{
    constexpr double kLeast = 0.01; // of the run
    const auto idle = [&](std::size_t device) {
        const auto number = static_cast<std::int32_t>(device);
        return (waited(number, m_trace->end()) + m_trace->end() - ends(number)).value();
    };
    std::vector<std::int64_t> all(m_devices.size());
    for (std::size_t device = 0; device < all.size(); ++device) {
        all[device] = idle(device);
    }
    const auto least = std::min_element(all.begin(), all.end());
    const std::int64_t others = std::accumulate(all.begin(), all.end(), -*least);
    const std::int64_t lead = others / static_cast<std::int64_t>(all.size() - 1) - *least;
    // As busy as another one: neither is the one that all wait for.
    const auto limit =
        static_cast<std::int64_t>(kLeast * static_cast<double>(m_trace->end().value()));
    const auto near = std::count_if(all.begin(), all.end(),
                                    [&](std::int64_t time) { return time <= *least + limit / 2; });
    if (lead > limit && near == 1) {
        m_straggler = static_cast<std::int32_t>(least - all.begin());
        m_lead = Picoseconds(lead);
    }
}

Picoseconds DeviceTimes::busy(std::int32_t device, Picoseconds t) const
{
    const Device& of = m_devices[at(device)];
    const std::size_t begun = begunRows(of.segments, m_trace->segments().begin, t.value());
    if (begun == 0) {
        return Picoseconds(0);
    }
    const std::int32_t row = of.segments[begun - 1];
    return Picoseconds(of.busy[begun - 1]
                       + busyIn(row, t.value() - m_trace->segments().begin[at(row)]));
}

Picoseconds DeviceTimes::waited(std::int32_t device, Picoseconds t) const
{
    const Device& of = m_devices[at(device)];
    const Waits& waits = m_trace->waits();
    const std::size_t begun = begunRows(of.waits, waits.begin, t.value());
    if (begun == 0) {
        return Picoseconds(0);
    }
    const std::size_t row = at(of.waits[begun - 1]);
    return Picoseconds(of.waited[begun - 1] + std::min(t.value(), waits.end[row])
                       - waits.begin[row]);
}

Picoseconds DeviceTimes::ends(std::int32_t device) const
{
    return Picoseconds(m_devices[at(device)].ends);
}

} // namespace pallascope::trace
