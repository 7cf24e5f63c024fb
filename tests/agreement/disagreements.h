// What the views of one run say of one moment, compared: one number of steps, one colour for an
// array, one number of bytes.
#pragma once

#include "views/layout/run/run_view.h"

#include <memory>
#include <string>
#include <vector>

namespace pallascope::test {

// One sentence for each contradiction that is found at several moments of the run; none where all
// views agree.
[[nodiscard]] std::vector<std::string> disagreements(const layout::RunView& run);
// The same beside a kept run.
[[nodiscard]] std::vector<std::string>
disagreements(const layout::RunView& run, const std::shared_ptr<const layout::RunView>& kept);

} // namespace pallascope::test
