// What tells two runs of one program apart.
#pragma once

#include "core/trace/trace.h"

#include <string>

namespace pallascope::machine_test {

// The first difference in rows, times, structural findings or anything else that does not depend on
// whether all values are computed; empty: there is none.
[[nodiscard]] std::string firstDifference(const trace::Trace& full, const trace::Trace& needed);

} // namespace pallascope::machine_test
