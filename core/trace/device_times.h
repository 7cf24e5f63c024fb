// How long each device of a run has computed and waited by a moment.
#pragma once

#include "core/trace/row.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::trace {

// Of the first agent of each device, which stands for it. Sums are kept for each row, so that every
// question takes O(log n). Refers to the trace.
class DeviceTimes
{
public:
    explicit DeviceTimes(const Trace& trace);

    // The unit whose busy times these are: of those that compute, the one that all devices together
    // keep busy longest; none if none computes.
    [[nodiscard]] OptionalRow<UnitRow> unit() const { return m_unit; }

    [[nodiscard]] Picoseconds busy(std::int32_t device, Picoseconds t) const;

    // The time waited for other devices: for copies between devices, and for semaphores.
    [[nodiscard]] Picoseconds waited(std::int32_t device, Picoseconds t) const;

    // When its agents are done.
    [[nodiscard]] Picoseconds ends(std::int32_t device) const;

    // The device for which the others wait: it waits least, and is done last. kNone if all wait for
    // about as long, within a hundredth of the run.
    [[nodiscard]] std::int32_t straggler() const { return m_straggler; }

    // What it waits less than the others on average.
    [[nodiscard]] Picoseconds lead() const { return m_lead; }

private:
    struct Device
    {
        std::vector<std::int32_t> segments, waits; // rows, in order
        std::vector<std::int64_t> busy, waited;    // the sums before each of these rows
        std::int64_t ends = 0;
    };

    void addSegments(std::size_t agents);
    void addWaits(std::size_t agents);
    void chooseUnit();
    void findStraggler();
    [[nodiscard]] bool isForOthers(std::size_t wait) const;
    [[nodiscard]] std::int64_t busyIn(std::int32_t segment, std::int64_t since) const;

    const Trace* m_trace;
    std::vector<Device> m_devices;
    OptionalRow<UnitRow> m_unit;
    std::int32_t m_straggler = kNone;
    Picoseconds m_lead;
};

} // namespace pallascope::trace
