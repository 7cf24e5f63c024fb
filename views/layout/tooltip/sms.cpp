// What the tooltip says about an SM of a GPU.
#include "core/base/format.h"
#include "core/trace/agents.h"
#include "views/layout/timeline/sm_lanes.h"
#include "views/layout/tooltip/parts.h"

#include <algorithm>

namespace pallascope::layout::tips {

Lines smLines(const RunView& run, std::int32_t sm)
{
    const std::vector<trace::Sm>& sms = run.index->agents().sms;
    if (sm < 0 || static_cast<std::size_t>(sm) >= sms.size()) {
        return {};
    }
    const trace::Sm& of = sms[static_cast<std::size_t>(sm)];
    const auto warpgroups = static_cast<std::int64_t>(of.agents.size());
    Lines lines = {of.name, counted(warpgroups, "warpgroup", "warpgroups")};
    const Picoseconds end = run.trace->end();
    for (const timeline::Lane& lane : timeline::smLanes(run, sm)) {
        const bool isPart =
            lane.kind == timeline::LaneKind::SmUnit || lane.kind == timeline::LaneKind::SmCopies;
        if (isPart && end.value() > 0) {
            const double share = std::min(1.0, ratio(timeline::busy(run, lane, end), end));
            lines.push_back(lane.name
                            + (lane.kind == timeline::LaneKind::SmUnit ? "" : " on a link") + ", "
                            + percentText(share, 1) + " of the run");
        }
    }
    return lines;
}

} // namespace pallascope::layout::tips
