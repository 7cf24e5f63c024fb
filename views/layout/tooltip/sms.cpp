// What the tooltip says about the SMs of a GPU and about the L2 that they share.
#include "core/base/format.h"
#include "core/trace/agents.h"
#include "views/layout/memory/cached.h"
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

Lines cachedLines(const RunView& run, const ViewState& state, const target::Cached& cached)
{
    const trace::Operand& operand = run.trace->info().operands[row(cached.operand)];
    for (const CachedArray& array : cachedArrays(run, cached.device, state.now)) {
        if (array.operands.front() != cached.operand) {
            continue;
        }
        const std::string name(trace::arrayName(operand));
        Lines lines = {name + " in L2"};
        lines.push_back(bytesText(array.held) + ", "
                        + percentText(ratio(array.held, operand.arrayBytes), 1) + " of the array, "
                        + percentText(ratio(array.held, run.report.l2->room), 1) + " of L2");
        if (const auto read = fromL2(run, array.operands, state.now)) {
            lines.push_back(fmt::format("of reads so far {} from L2, {} from HBM: {}",
                                        bytesText(read->hit), bytesText(read->missed),
                                        percentText(read->share(), 1)));
        }
        lines.push_back(fmt::format("{} of {} bytes", countText(array.held.value()),
                                    countText(operand.arrayBytes.value())));
        return lines;
    }
    return {};
}

} // namespace pallascope::layout::tips
