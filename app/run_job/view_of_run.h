// What the views need of a run besides its trace, worked out once.
#pragma once

#include "core/base/result.h"
#include "core/ir/program.h"
#include "core/trace/trace.h"
#include "views/layout/run/run_view.h"

#include <memory>
#include <vector>

namespace pallascope::app {

// Without alternatives and verdict.
[[nodiscard]] Result<std::shared_ptr<layout::RunView>>
viewOf(std::shared_ptr<const trace::Trace> trace);

// With both: the alternatives are tried here. A trace from a file has no program, so nothing of it
// is known.
[[nodiscard]] Result<std::shared_ptr<const layout::RunView>>
runViewOf(std::shared_ptr<const trace::Trace> trace, const ir::Program* program = nullptr,
          std::vector<layout::PageTable> tables = {});

} // namespace pallascope::app
