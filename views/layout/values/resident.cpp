#include "views/layout/values/resident.h"

#include "core/trace/copy_ends.h"
#include "core/trace/scratch_slots.h"

#include <algorithm>
#include <optional>

namespace pallascope::layout::values {

namespace {

using Ranges = std::vector<trace::AxisRange>; // for each axis of an array

std::optional<Residence> residenceOf(trace::SlotPhase phase)
{
    switch (phase) {
    case trace::SlotPhase::Empty:
    case trace::SlotPhase::Free:
        return std::nullopt;
    case trace::SlotPhase::Queued:
        return Residence::Queued;
    case trace::SlotPhase::Arriving:
    case trace::SlotPhase::Leaving:
        return Residence::Moving;
    case trace::SlotPhase::Ready:
    case trace::SlotPhase::LeavingQueued:
        return Residence::Here;
    case trace::SlotPhase::InUse:
        return Residence::InUse;
    }
    return std::nullopt;
}

// What of a plane some elements of its array cover.
std::optional<Region> regionOf(const Ranges& ranges, const Shape& array, const Plane& plane)
{
    const std::size_t rank = array.rank();
    if (rank == 0) {
        return std::nullopt;
    }
    const auto inside = [&](std::size_t axis) {
        return trace::AxisRange{std::max<Extent>(ranges[axis].from, 0),
                                std::min(ranges[axis].to, array[axis])};
    };
    const trace::AxisRange columns = inside(rank - 1);
    if (columns.to <= columns.from) {
        return std::nullopt;
    }
    if (rank == 1) { // wrapped into rows
        const std::int64_t first = columns.from / plane.columns;
        const std::int64_t last = (columns.to - 1) / plane.columns;
        return first == last
                   ? Region{first, columns.from % plane.columns, 1, columns.to - columns.from}
                   : Region{first, 0, last - first + 1, plane.columns};
    }
    std::int64_t rest = plane.first / (plane.rows * plane.columns);
    for (std::size_t axis = rank - 2; axis-- > 0;) {
        const Extent at = rest % array[axis];
        rest /= array[axis];
        if (at < ranges[axis].from || at >= ranges[axis].to) {
            return std::nullopt;
        }
    }
    const trace::AxisRange rows = inside(rank - 2);
    return rows.to <= rows.from ? std::nullopt
                                : std::optional(Region{rows.from, columns.from, rows.to - rows.from,
                                                       columns.to - columns.from});
}

class Finder
{
public:
    Finder(const RunView& run, Picoseconds now, trace::OperandRow operand, std::int32_t device,
           const Plane& plane)
        : m_run(run)
        , m_trace(*run.trace)
        , m_info(run.trace->info())
        , m_now(now)
        , m_operand(m_info.operands[operand.index()])
        , m_named(namedArrayOf(operand.index()))
        , m_device(device)
        , m_plane(plane)
    {}

    std::vector<Resident> find() &&
    {
        for (std::size_t i = 0; i < m_info.operands.size(); ++i) {
            const trace::Operand& operand = m_info.operands[i];
            if (isOfArray(i) && operand.pipeline != trace::kNone
                && isOfDevice(m_info.pipelines[static_cast<std::size_t>(operand.pipeline)].agent)) {
                addSlots(operand);
            }
        }
        const std::vector<trace::ScratchSlot>& slots = m_run.index->scratch().all();
        for (std::size_t slot = 0; slot < slots.size(); ++slot) {
            if (isOfDevice(slots[slot].agent)) {
                addScratch(slot);
            }
        }
        return std::move(m_found);
    }

private:
    [[nodiscard]] std::int32_t namedArrayOf(std::size_t operand) const
    {
        return m_run.index->arrays().ofOperand[operand];
    }

    // Kernels may give one array two names and two arrays one name. Older files do not say which
    // array it is; there the name has to do.
    [[nodiscard]] bool isOfArray(std::size_t operand) const
    {
        const trace::Operand& other = m_info.operands[operand];
        const bool isNumbered = m_operand.arrayNumber >= 0 && other.arrayNumber >= 0;
        return other.array == m_operand.array
               && (isNumbered ? other.arrayNumber == m_operand.arrayNumber
                              : namedArrayOf(operand) == m_named);
    }

    [[nodiscard]] bool isOfDevice(std::int32_t agent) const
    {
        return m_info.deviceOf(agent) == m_device;
    }

    void add(const Ranges& ranges, Residence how)
    {
        if (ranges.size() != m_operand.array.rank()) {
            return; // the trace does not say where the copy goes
        }
        if (const auto region = regionOf(ranges, m_operand.array, m_plane)) {
            m_found.push_back({*region, how});
        }
    }

    void addSlots(const trace::Operand& operand)
    {
        for (std::int32_t slot = 0; slot < operand.slots; ++slot) {
            const trace::SlotState state =
                trace::slotStateAt(m_trace, trace::BufferRow{operand.firstBuffer + slot}, m_now);
            const std::optional<Residence> how = residenceOf(state.phase);
            if (!how || !state.block) {
                continue;
            }
            Ranges ranges;
            for (std::size_t axis = 0; axis < m_operand.array.rank(); ++axis) {
                ranges.push_back(trace::rangeOf(operand, *state.block, axis));
            }
            if (operand.indirectAxis < 0) {
                add(ranges, *how);
                continue;
            }
            for (const std::int32_t element : trace::indicesOf(operand, *state.block)) {
                ranges[static_cast<std::size_t>(operand.indirectAxis)] = {element, element + 1};
                if (element >= 0) { // others lie outside of the array
                    add(ranges, *how);
                }
            }
        }
    }

    void addScratch(std::size_t slot)
    {
        const trace::ScratchState state = m_run.index->scratch().stateAt(m_trace, slot, m_now);
        if (state.phase == trace::ScratchPhase::Unused
            || state.phase == trace::ScratchPhase::Sent) {
            return;
        }
        const trace::Copies& copies = m_trace.copies();
        for (const trace::EndRow end : state.ends) {
            const trace::EndRow there = trace::otherEnd(end);
            const std::size_t copy = trace::copyOf(m_trace, end).index();
            if (!isOfArray(static_cast<std::size_t>(copies.operand[copy]))
                || m_trace.copyEnds().buffer[there.index()] != trace::kNone
                || copies.issue[copy] > m_now.value()) {
                continue;
            }
            const Residence landed =
                state.phase == trace::ScratchPhase::InUse ? Residence::InUse : Residence::Here;
            add(trace::rangesOfEnd(m_trace, there),
                copies.start[copy] > m_now.value() ? Residence::Queued
                : copies.end[copy] > m_now.value() ? Residence::Moving
                                                   : landed);
        }
    }

    const RunView& m_run;
    const trace::Trace& m_trace;
    const trace::Info& m_info;
    Picoseconds m_now;
    const trace::Operand& m_operand;
    std::int32_t m_named;
    std::int32_t m_device;
    const Plane& m_plane;
    std::vector<Resident> m_found;
};

} // namespace

std::vector<Resident> residentsOf(const RunView& run, Picoseconds now, trace::OperandRow operand,
                                  std::int32_t device, const Plane& plane)
{
    return Finder(run, now, operand, device, plane).find();
}

} // namespace pallascope::layout::values
