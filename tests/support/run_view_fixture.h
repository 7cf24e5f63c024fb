// A RunView of the synthetic main job, filled by plain arithmetic, for the tests of layouts and
// widgets. It does not depend on core/analysis or core/machine; the times of the alternatives are
// fixed figures.
#pragma once

#include "views/layout/run/run_view.h"

namespace pallascope::test {

[[nodiscard]] layout::RunView mainJobView(int block = 512);
// The view with blocks of 512, made once.
[[nodiscard]] const layout::RunView& sharedMainJob();

// The same for any trace of mainJob(), for tests that change it first.
[[nodiscard]] layout::RunView runViewOf(std::shared_ptr<const trace::Trace> trace);

} // namespace pallascope::test
