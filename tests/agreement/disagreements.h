// What the views of one run say of one moment, compared: one number of steps, one colour for an
// array, one number of bytes.
#pragma once

#include "views/layout/run/run_view.h"

#include <string>
#include <vector>

namespace pallascope::test {

// One sentence for each contradiction that is found at several moments of the run; none where all
// views agree.
[[nodiscard]] std::vector<std::string> disagreements(const layout::RunView& run);

} // namespace pallascope::test
