// Where the time of a GPU's kernels goes while no unit is busy: blocks that start, SMs without
// blocks, warpgroups that wait.
#pragma once

#include "core/analysis/chains.h"
#include "core/trace/summary.h"

namespace pallascope::analysis {

struct GpuRun
{
    const trace::Info& info;
    const trace::Summary& sums;
    const chip::Chip& chip;
};

// Adds them to the chain of computing, of a run whose kernels take so long. First the time without
// blocks; then what is left, in proportion to what those agents wait for that wait for copies.
// Others, such as a warpgroup that only copies, wait for these most of the time, which costs
// nothing. Products run beside their agents, so waits for them are only what the other waits do not
// explain. What is left after all are the copies.
void addGpuWaits(Chains& chains, Picoseconds kernels, const GpuRun& run);

} // namespace pallascope::analysis
