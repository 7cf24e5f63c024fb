// What compare says about runs that may not do what they should.
#pragma once

#include "core/study/compare.h"

namespace pallascope::study {

// A line for each finding and wrong result, and one that says what that means for the comparison.
// Empty if neither run has any.
[[nodiscard]] std::string faultLines(const Comparison& comparison);

// The object `faults` as JSON text: of each run, the kinds of its findings and whether its result
// is right, or null if that was not checked.
[[nodiscard]] std::string faultsJson(const Comparison& comparison);

} // namespace pallascope::study
