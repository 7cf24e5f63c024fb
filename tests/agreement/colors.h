// Which colour stands at the places of blocks, copies and slots in a picture.
#pragma once

#include "views/layout/run/run_view.h"
#include "views/layout/scene/scene.h"

#include <string>
#include <vector>

namespace pallascope::test {

// One sentence for each place that is painted in the colour of another array than the one that it
// stands for.
[[nodiscard]] std::vector<std::string> wrongColors(const layout::RunView& run,
                                                   const layout::Scene& scene);

} // namespace pallascope::test
