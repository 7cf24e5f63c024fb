#include "views/layout/run/grid_blocks.h"

#include "core/base/format.h"
#include "core/trace/columns.h"
#include "core/trace/lookup.h"

#include <algorithm>
#include <fmt/format.h>

namespace pallascope::layout {

namespace {

using trace::at;
using trace::GridBlocks;

} // namespace

BlockDoes blockDoes(const trace::Trace& trace, std::int64_t row, Picoseconds now)
{
    const GridBlocks& blocks = trace.gridBlocks();
    const std::size_t i = at(row);
    return now.value() < blocks.begin[i]  ? BlockDoes::NotYet
           : now.value() >= blocks.end[i] ? BlockDoes::Done
           : blocks.claimed[i] != 0       ? BlockDoes::Claimed
                                          : BlockDoes::Runs;
}

std::int32_t smOfBlock(const RunView& run, std::int64_t row)
{
    const std::vector<std::int32_t>& smOf = run.index->agents().smOf;
    const std::size_t agent = at(run.trace->gridBlocks().agent[at(row)]);
    return agent < smOf.size() ? smOf[agent] : trace::kNone;
}

std::string smName(const RunView& run, std::int32_t sm)
{
    const trace::Sm& of = run.index->agents().sms[trace::at(sm)];
    return run.trace->info().deviceCount() > 1
               ? "device " + std::to_string(of.device) + " " + of.name
               : of.name;
}

std::int32_t onSm(const RunView& run, std::int32_t agent, std::int32_t sm)
{
    const trace::Agents& agents = run.index->agents();
    if (sm == trace::kNone || agents.smOf[at(agent)] == trace::kNone) {
        return agent;
    }
    const std::vector<std::int32_t>& own = agents.sms[at(agents.smOf[at(agent)])].agents;
    const std::vector<std::int32_t>& its = agents.sms[at(sm)].agents;
    const auto place =
        static_cast<std::size_t>(std::lower_bound(own.begin(), own.end(), agent) - own.begin());
    return its[std::min(place, its.size() - 1)];
}

std::string blockName(const trace::Trace& trace, std::int64_t row, std::int64_t others)
{
    const GridBlocks& blocks = trace.gridBlocks();
    const trace::BlockGrid& grid = trace.info().blockGrids[at(blocks.grid[at(row)])];
    const std::int64_t block = blocks.block[at(row)];
    const std::int64_t point = block / grid.cluster;
    std::string name = grid.extents.empty()
                           ? "block " + countText(point)
                           : "block " + trace::indexText(trace::rowMajorIndex(grid.extents, point));
    if (grid.cluster > 1) {
        const std::int64_t first = block % grid.cluster;
        name += fmt::format(", {}{} of its cluster", first,
                            others > 0 ? fmt::format("\u2013{}", first + others) : "");
    }
    return name;
}

} // namespace pallascope::layout
