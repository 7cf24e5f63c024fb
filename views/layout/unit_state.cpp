#include "views/layout/unit_state.h"

#include "core/trace/mark_time.h"

namespace pallascope::layout {

namespace {

std::optional<UnitState> stateFor(const trace::Trace& trace, std::int32_t agent, std::int32_t unit,
                                  Picoseconds now)
{
    const std::int32_t row = trace::segmentAt(trace, agent, now);
    if (row == trace::kNone) {
        return {};
    }
    const auto at = static_cast<std::size_t>(row);
    const trace::SegmentTemplate& segment =
        trace.info().templates[static_cast<std::size_t>(trace.segments().templateId[at])];
    const std::int64_t since = now.value() - trace.segments().begin[at];
    for (const trace::Mark& mark : segment.marks) {
        const std::int64_t begin = trace::markTime(segment, mark.offset);
        const std::int64_t end = trace::markTime(segment, mark.offset + mark.length);
        if (mark.unit == unit && begin <= since && since < end) {
            const bool isStep = mark.operation < 0;
            return UnitState{
                isStep ? "step"
                       : trace.info().operations[static_cast<std::size_t>(mark.operation)].label,
                static_cast<double>(since - begin) / static_cast<double>(end - begin)};
        }
    }
    return {};
}

} // namespace

UnitState unitState(const trace::Trace& trace, std::int32_t unit, Picoseconds now)
{
    const std::vector<std::string>& agents = trace.info().agents;
    const std::string ofCore = agents[0] + " ";
    for (std::size_t agent = 0; agent < agents.size() && now < trace.end(); ++agent) {
        if (agent == 0 || agents[agent].starts_with(ofCore)) { // the core, or a unit of it
            if (auto state = stateFor(trace, static_cast<std::int32_t>(agent), unit, now)) {
                return *state;
            }
        }
    }
    return {};
}

bool waitsForOthers(const trace::Trace& trace, std::int32_t wait)
{
    const trace::Waits& waits = trace.waits();
    const auto isNone = [wait](const std::vector<std::int32_t>& column) {
        return column.empty() || column[static_cast<std::size_t>(wait)] == trace::kNone;
    };
    return isNone(waits.copy) && isNone(waits.semaphore) && isNone(waits.operation);
}

} // namespace pallascope::layout
