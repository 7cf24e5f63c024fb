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

// The neighbours with all blocks halved, doubled and quadrupled, the one with one more buffer, and
// the fastest of those with one block halved or doubled, if it is faster than all these. Left out
// are those that would take more than kMostTrialSteps steps (with one block a part of that, so that
// all of these together take about as long as one of the others), and those that would add up what
// lies past an array.
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
