#include "core/analysis/gpu_waits.h"

#include <algorithm>

namespace pallascope::analysis {

namespace {

// How long the first of the SMs' places wait for blocks after the first ones to start.
Picoseconds blockStarts(const GpuRun& run)
{
    Picoseconds sum;
    for (const trace::BlockGrid& grid : run.info.blockGrids) {
        const std::int64_t places = std::min(grid.blocks, grid.atATime);
        if (places > 0) {
            const double later =
                static_cast<double>(grid.blocks - places) / static_cast<double>(places);
            sum += times(later, run.chip.blockStart(grid.barriers > 0));
        }
    }
    return sum;
}

} // namespace

void addGpuWaits(Chains& chains, Picoseconds kernels, const GpuRun& run)
{
    const trace::Summary::Agents& agents = run.sums.agents;
    const Picoseconds inBlocks(run.sums.inBlocks.value() / agentsUsed(run.info));
    const Picoseconds away = std::max(Picoseconds(0), kernels - inBlocks);
    const Picoseconds starts = std::min(away, blockStarts(run));
    const auto more = [&](LossKind kind, Picoseconds time) {
        chains.compute(kind, std::min(kernels, chains.computed() + time));
    };
    more(LossKind::BlockStarts, starts);
    more(LossKind::IdleCores, away - starts);
    chains.compute(LossKind::IdleCores, std::min(run.sums.busiest, kernels));
    const Picoseconds left = std::max(Picoseconds(0), kernels - chains.computed());
    const Picoseconds waits = agents.others + agents.copies;
    more(LossKind::Waits, left - std::min(left, waits));
    if (waits > Picoseconds(0)) {
        const double part = std::min(1.0, ratio(left, waits));
        more(LossKind::Waits, times(part, agents.others));
    }
}

} // namespace pallascope::analysis
