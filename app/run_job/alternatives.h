// Neighbours of a run: other blocks and buffer counts of the same kernel. They are tried on the
// model to say what would help, and which blocks fit if those asked for do not.
#pragma once

#include "app/run_job/run_job.h"
#include "core/analysis/report.h"
#include "core/chip/chip.h"
#include "kernels/kernel.h"

#include <string>
#include <vector>

namespace pallascope::app {

// The neighbours with all blocks halved, doubled and quadrupled, with all as large as the largest,
// and with one more buffer; and, if it is faster than all these, what halving and doubling single
// blocks leads to in a few rounds. No block is larger than what it cuts. Left out are those that
// would take more than kMostTrialSteps steps (with single blocks a part of that, so that all of a
// round together take about as long as one of the others). Where a choice would add up what lies
// past an array, one of its blocks is replaced by one that divides the array.
inline constexpr std::int64_t kMostTrialSteps = 40'000;
[[nodiscard]] std::vector<analysis::Alternative> alternatives(const kernels::Kernel& kernel,
                                                              const kernels::Arguments& arguments,
                                                              const chip::Chip& chip);

// Whether blocks of an input overhang its array along a grid axis on which no output depends. Then
// a step of a built-in kernel adds up what lies past the array, and its result is undefined, which
// a run without values does not see.
[[nodiscard]] bool sumsPastAnArray(const ir::Program& program);

// The blocks nearest to those asked for that fit the physical memory, the nearest and largest
// first. Empty if the kernel has no blocks or none fit. They are not tried, so their times are 0.
[[nodiscard]] std::vector<analysis::Alternative> nearestThatFit(const kernels::Kernel& kernel,
                                                                const kernels::Arguments& arguments,
                                                                const chip::Chip& chip,
                                                                std::size_t most);

// "2048×4096×2048 (112 MiB), 2048×2048×4096 (96 MiB)"
[[nodiscard]] std::string namesOf(const std::vector<analysis::Alternative>& nearest);

// Gives one of them the time that the model predicts, if it takes at most kMostTrialSteps steps.
void tryTime(analysis::Alternative& alternative, const kernels::Kernel& kernel,
             const kernels::Arguments& arguments, const chip::Chip& chip);

// The parameters besides the blocks that are above their defaults and take on-chip memory by that.
[[nodiscard]] std::vector<std::string> raisedTooFar(const kernels::Kernel& kernel,
                                                    const kernels::Arguments& arguments,
                                                    const chip::Chip& chip, Bytes taken);

} // namespace pallascope::app
