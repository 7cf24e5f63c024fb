#include "views/layout/run/unit_state.h"

#include "core/base/format.h"
#include "core/trace/agents.h"
#include "core/trace/mark_time.h"

#include <algorithm>
#include <set>

namespace pallascope::layout {

namespace {

std::optional<UnitState> stateFor(const trace::Trace& trace, trace::AgentRow agent,
                                  trace::UnitRow unit, Picoseconds now)
{
    const trace::OptionalRow<trace::SegmentRow> row =
        trace::segmentAt(trace, trace::AgentRow{agent}, now);
    if (!row) {
        return {};
    }
    const std::size_t at = row->index();
    const trace::SegmentTemplate& segment =
        trace.info().templates[static_cast<std::size_t>(trace.segments().templateId[at])];
    const std::int64_t since = now.value() - trace.segments().begin[at];
    for (const trace::Mark& mark : segment.marks) {
        const std::int64_t begin = trace::markTime(segment, mark.offset);
        const std::int64_t end = trace::markTime(segment, mark.offset + mark.length);
        if (mark.unit == unit.number && begin <= since && since < end) {
            const bool isStep = mark.operation < 0;
            return UnitState{
                isStep ? "step"
                       : trace.info().operations[static_cast<std::size_t>(mark.operation)].label,
                static_cast<double>(since - begin) / static_cast<double>(end - begin)};
        }
    }
    return {};
}

// Whether an agent is of another kind than the first one and is not an instance of the unit itself.
bool isOther(const trace::Info& info, std::size_t agent, trace::UnitRow unit)
{
    const std::string kind = trace::kindOfAgent(info.agents[agent]);
    return kind != trace::kindOfAgent(info.agents[0])
           && !kind.ends_with(info.units[unit.index()].name);
}

// How many of the agents of these kinds work.
UnitState stateOf(const trace::Info& info, const std::vector<std::size_t>& working)
{
    std::set<std::string> kinds;
    for (const std::size_t agent : working) {
        kinds.insert(trace::kindOfAgent(info.agents[agent]));
    }
    const auto all =
        std::count_if(info.agents.begin(), info.agents.end(), [&](const std::string& name) {
            return kinds.contains(trace::kindOfAgent(name));
        });
    const auto count = static_cast<std::int64_t>(working.size());
    return {countText(count) + " of " + countText(all) + ":",
            static_cast<double>(count) / static_cast<double>(all)};
}

} // namespace

UnitState unitState(const trace::Trace& trace, trace::UnitRow unit, Picoseconds now)
{
    const trace::Info& info = trace.info();
    const std::string ofCore = info.agents[0] + " ";
    std::vector<std::size_t> working;
    for (std::size_t agent = 0; agent < info.agents.size() && now < trace.end(); ++agent) {
        // the core or a unit of it
        const bool isCore = agent == 0 || info.agents[agent].starts_with(ofCore);
        if (!isCore && !isOther(info, agent, unit)) {
            continue;
        }
        if (const auto state = stateFor(trace, trace::AgentRow::at(agent), unit, now)) {
            if (isCore) {
                return *state;
            }
            working.push_back(agent);
        }
    }
    return working.empty() ? UnitState{} : stateOf(info, working);
}

bool waitsForOthers(const trace::Trace& trace, trace::WaitRow wait)
{
    const trace::Waits& waits = trace.waits();
    const auto isNone = [wait](const std::vector<std::int32_t>& column) {
        return column.empty() || column[wait.index()] == trace::kNone;
    };
    return isNone(waits.copy) && isNone(waits.semaphore) && isNone(waits.operation);
}

} // namespace pallascope::layout
