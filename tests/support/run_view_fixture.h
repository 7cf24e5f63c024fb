// A RunView of the synthetic main job, filled by plain arithmetic: what layouts and widgets are
// tested with. Independent of core/analysis and core/machine; the alternatives' times are fixed
// figures.
#pragma once

#include "views/layout/run/run_view.h"

namespace pallascope::test {

[[nodiscard]] layout::RunView mainJobView(int block = 512);
// With blocks of 512, made once.
[[nodiscard]] const layout::RunView& sharedMainJob();

// The same around any trace of mainJob(), for tests that change it first.
[[nodiscard]] layout::RunView runViewOf(std::shared_ptr<const trace::Trace> trace);

} // namespace pallascope::test
