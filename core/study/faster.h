// What compare says about which run is faster, and about the bands of both.
#pragma once

#include "core/study/compare.h"

namespace pallascope::study {

// The lines "from" and "to", with a column for each run, behind names of this width. Empty if
// neither run has a band.
[[nodiscard]] std::string bandLines(const analysis::Report& a, const analysis::Report& b,
                                    std::size_t width);

// A line such as "B is 1.34 times as fast as A, surely: ...".
[[nodiscard]] std::string fasterText(const Comparison& comparison);

// The object `faster` as JSON text, or null if a run takes no time.
[[nodiscard]] std::string fasterJson(const Comparison& comparison);

} // namespace pallascope::study
