// Runs for the tests of the analysis: the main job made by plain arithmetic, and small kernels that
// the machine runs on a v5e.
#pragma once

#include "core/analysis/report.h"
#include "core/ir/program.h"
#include "core/trace/trace.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pallascope::analysis_test {

// The main job of tests/support, with the chip file of a v5e in it.
[[nodiscard]] trace::TraceBuilder mainJobBuilder();
[[nodiscard]] std::shared_ptr<const trace::Trace> mainJob();

struct NamedRun
{
    std::string name;
    std::shared_ptr<const trace::Trace> trace;
};

// Two cores of a v5p with manual DMA.
[[nodiscard]] std::shared_ptr<const trace::Trace> twoCores();

// A pipeline of 4 steps, then one of 128.
[[nodiscard]] std::shared_ptr<const trace::Trace> twoPipelines();

// A kernel that only counts up to 10 000 in SMEM.
[[nodiscard]] std::shared_ptr<const trace::Trace> counting();

// A kernel of the library, or any program, on a chip.
[[nodiscard]] std::shared_ptr<const trace::Trace>
runOf(const std::string& kernel, const std::map<std::string, std::string>& given,
      const std::string& chip);
[[nodiscard]] std::shared_ptr<const trace::Trace> runOf(const ir::Program& program,
                                                        const std::string& chip);
[[nodiscard]] std::shared_ptr<const trace::Trace> runOf(const ir::Program& program,
                                                        const chip::Chip& chip);
[[nodiscard]] ir::Program programOf(const std::string& kernel,
                                    const std::map<std::string, std::string>& given);

[[nodiscard]] inline double microseconds(Picoseconds time)
{
    return toSeconds(time).value() * 1e6;
}

// Runs with overhanging blocks, other loop orders, one, two and three buffers, one step, or no
// products.
[[nodiscard]] const std::vector<NamedRun>& machineRuns();

} // namespace pallascope::analysis_test
