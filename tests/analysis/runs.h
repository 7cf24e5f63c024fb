// Runs for the tests of the analysis: the main job by plain arithmetic, and small kernels run by
// the machine on a v5e.
#pragma once

#include "core/analysis/report.h"
#include "core/trace/trace.h"

#include <memory>
#include <string>
#include <vector>

namespace pallascope::analysis_test {

// tests/support's main job with the chip file of a v5e inside.
[[nodiscard]] trace::TraceBuilder mainJobBuilder();
[[nodiscard]] std::shared_ptr<const trace::Trace> mainJob();

struct NamedRun
{
    std::string name;
    std::shared_ptr<const trace::Trace> trace;
};

// Two cores of a v5p that copy by hand.
[[nodiscard]] std::shared_ptr<const trace::Trace> twoCores();

// A kernel that does nothing but count up to 10 000 in SMEM.
[[nodiscard]] std::shared_ptr<const trace::Trace> counting();

// Blocks that overhang, other loop orders, one, two and three buffers, one step, no products.
[[nodiscard]] const std::vector<NamedRun>& machineRuns();

} // namespace pallascope::analysis_test
