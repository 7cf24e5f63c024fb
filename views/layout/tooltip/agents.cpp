// Writes what a tooltip says about several agents at once.
#include "core/base/format.h"
#include "views/layout/timeline/timeline.h"
#include "views/layout/tooltip/parts.h"

#include <algorithm>
#include <map>

namespace pallascope::layout::tips {

namespace {

constexpr std::size_t kMostLines = 12;

// What one of the agents does: "for x(0,3)", "add".
std::string doing(const trace::Trace& trace, const timeline::Lane& lane,
                  const timeline::RowAt& found, Picoseconds t)
{
    if (const auto* wait = std::get_if<trace::WaitRow>(&found)) {
        const std::string name = trace::awaitedName(trace, *wait);
        return name.empty() ? "for the others" : "for " + name;
    }
    const auto segment = std::get<trace::SegmentRow>(found);
    const trace::Mark* mark = timeline::markAt(trace, segment, trace::UnitRow{lane.unit}, t);
    return mark == nullptr || mark->operation < 0
               ? "step overhead"
               : trace.info().operations[row(mark->operation)].label;
}

} // namespace

std::string byAgent(const RunView& run, trace::AgentRow agent)
{
    return run.index->agents().size() > 1 ? run.trace->info().agents[agent.index()] : std::string();
}

Lines momentLines(const RunView& run, const target::Moment& moment)
{
    const trace::Trace& trace = *run.trace;
    const std::optional<timeline::Lane> lane = timeline::laneOf(run, moment.lane);
    const Picoseconds t = moment.time;
    if (!lane || lane->agents.empty()) {
        return {};
    }
    const bool isUnit = lane->role != Role::Wait;
    const std::vector<timeline::RowAt> rows = timeline::rowsAt(run, *lane, t);
    const std::string all = countText(static_cast<std::int64_t>(lane->agents.size()));
    Lines lines = {(isUnit ? lane->name + ": " : "")
                   + countText(static_cast<std::int64_t>(rows.size())) + " of " + all
                   + (isUnit             ? " busy"
                      : rows.size() == 1 ? " waits"
                                         : " wait")};
    std::vector<std::pair<std::string, std::vector<std::int32_t>>> groups;
    for (const timeline::RowAt& found : rows) {
        const auto* wait = std::get_if<trace::WaitRow>(&found);
        const std::int32_t agent =
            wait != nullptr ? trace.waits().agent[wait->index()]
                            : trace.segments().agent[std::get<trace::SegmentRow>(found).index()];
        const std::string what = doing(trace, *lane, found, t);
        auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const auto& one) { return one.first == what; });
        if (group == groups.end()) {
            group = groups.insert(group, {what, {}});
        }
        group->second.push_back(agent);
    }
    std::size_t left = rows.size();
    for (std::size_t i = 0; i < std::min(kMostLines, groups.size()); ++i) {
        lines.push_back(groups[i].first + ": " + trace::agentNames(trace.info(), groups[i].second));
        left -= groups[i].second.size();
    }
    if (left > 0) {
        lines.push_back("and " + countText(static_cast<std::int64_t>(left))
                        + " more: a higher time line shows each");
    }
    lines.push_back("at " + countText(t.value()) + " ps");
    return lines;
}

} // namespace pallascope::layout::tips
