// Finds what distinguishes two runs of one program.
#pragma once

#include "core/trace/trace.h"

#include <string>
#include <vector>

namespace pallascope::machine_test {

// The first difference in rows, times, structural findings, or anything else that does not depend
// on whether all values are computed. Empty if there is none.
[[nodiscard]] std::string firstDifference(const trace::Trace& full, const trace::Trace& needed);

// The findings that do not need values.
[[nodiscard]] std::vector<trace::Finding> structural(const trace::Trace& trace);

} // namespace pallascope::machine_test
