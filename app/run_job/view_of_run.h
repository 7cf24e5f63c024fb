// What the views need of a run besides its trace, worked out once.
#pragma once

#include "core/base/result.h"
#include "core/trace/trace.h"
#include "views/layout/run/run_view.h"

#include <memory>
#include <vector>

namespace pallascope::app {

// Without alternatives and verdict.
[[nodiscard]] Result<std::shared_ptr<layout::RunView>>
viewOf(std::shared_ptr<const trace::Trace> trace);

// With both: the alternatives are tried here.
[[nodiscard]] Result<std::shared_ptr<const layout::RunView>>
runViewOf(std::shared_ptr<const trace::Trace> trace, std::vector<layout::PageTable> tables = {});

} // namespace pallascope::app
