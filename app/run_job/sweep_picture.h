// The rows of a sweep as the picture that shows them.
#pragma once

#include "core/study/sweep.h"
#include "views/layout/sweep/sweep.h"

#include <string>
#include <vector>

namespace pallascope::app {

// `kernel` is as the sweep's subject names it. The rows are some of the plan's combinations; the
// target of each is its number among them.
[[nodiscard]] layout::SweepPicture sweepPicture(const std::string& kernel,
                                                const study::SweepPlan& plan,
                                                const std::vector<study::SweepRow>& rows);

} // namespace pallascope::app
