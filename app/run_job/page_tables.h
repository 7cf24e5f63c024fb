// The tables in SMEM by which a run chooses what it copies, with their entries.
#pragma once

#include "core/base/array.h"
#include "core/chip/chip.h"
#include "core/ir/program.h"
#include "core/machine/run.h"
#include "views/layout/run/run_view.h"

#include <vector>

namespace pallascope::app {

// Of the first device. The entries are those at the first copy that they choose, which a replay of
// the beginning of the run computes: only what decides the run, whatever it has computed itself.
[[nodiscard]] std::vector<layout::PageTable>
pageTables(const ir::Program& program, const std::vector<Array>& inputs, const chip::Chip& chip,
           const machine::Options& options, const trace::Trace& trace);

} // namespace pallascope::app
