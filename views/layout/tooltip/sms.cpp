// What the tooltip says about an SM of a GPU.
#include "core/base/format.h"
#include "core/trace/agents.h"
#include "views/layout/run/barriers.h"
#include "views/layout/run/grid_blocks.h"
#include "views/layout/timeline/sm_lanes.h"
#include "views/layout/tooltip/parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout::tips {

Lines smLines(const RunView& run, std::int32_t sm)
{
    const std::vector<trace::Sm>& sms = run.index->agents().sms;
    if (sm < 0 || static_cast<std::size_t>(sm) >= sms.size()) {
        return {};
    }
    const trace::Sm& of = sms[static_cast<std::size_t>(sm)];
    const auto warpgroups = static_cast<std::int64_t>(of.agents.size());
    Lines lines = {smName(run, sm), counted(warpgroups, "warpgroup", "warpgroups")};
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

Lines gridBlockLines(const RunView& run, const ViewState& state, std::int64_t block)
{
    const trace::Trace& trace = *run.trace;
    const trace::GridBlocks& blocks = trace.gridBlocks();
    const std::size_t i = row(block);
    const std::int32_t sm = smOfBlock(run, block);
    const bool isClaimed = blocks.claimed[i] != 0;
    Lines lines = {blockName(trace, block)};
    const std::string agent = trace.info().agents[row(blocks.agent[i])];
    lines.push_back("on "
                    + (sm == trace::kNone ? agent : agent.substr(0, agent.find(" Warpgroup"))));
    const Picoseconds begin(blocks.begin[i]), end(blocks.end[i]);
    const std::string length = timeText(end - begin);
    switch (blockDoes(trace, block, state.now)) {
    case BlockDoes::NotYet:
        lines.push_back("begins in " + timeText(begin - state.now));
        break;
    case BlockDoes::Claimed:
        lines.push_back("claimed " + timeText(state.now - begin)
                        + " ago by the block that runs there");
        break;
    case BlockDoes::Runs:
        lines.push_back("runs since " + timeText(state.now - begin) + ", of " + length);
        break;
    case BlockDoes::Done:
        lines.push_back(isClaimed ? "done, claimed by the block that ran there"
                                  : "done, ran " + length);
        break;
    }
    lines.push_back(fmt::format("from {} to {}", timeText(begin), timeText(end)));
    lines.push_back(fmt::format("number {} of {}", countText(blocks.block[i]),
                                countText(trace.info().blockGrids[row(blocks.grid[i])].blocks)));
    return lines;
}

Lines semaphoreLines(const RunView& run, const ViewState& state, std::int64_t semaphore)
{
    const trace::Info& info = run.trace->info();
    const auto number = static_cast<std::int32_t>(semaphore);
    const trace::Semaphore& of = info.semaphores[row(semaphore)];
    Lines lines = {of.name};
    if (!isBarrier(info, number)) {
        const std::int64_t count = run.index->semaphores().countAt(number, state.now);
        lines.push_back(of.kind == "dma_semaphore" ? "counts " + bytesText(Bytes(count))
                                                   : "counts " + countText(count));
        return lines;
    }
    const BarrierNow barrier = barrierAt(run, number, state.now);
    lines.push_back("barrier of " + info.agents[row(of.agent)]);
    lines.push_back(arrivedText(barrier));
    if (const std::string pending = pendingText(barrier); !pending.empty()) {
        lines.push_back(pending);
    }
    if (!barrier.waiting.empty()) {
        lines.push_back("waited for by " + trace::agentNames(info, barrier.waiting));
    }
    return lines;
}

} // namespace pallascope::layout::tips
