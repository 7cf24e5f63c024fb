// What compare says of which run is faster, and of the bands of both.
#pragma once

#include "core/study/compare.h"

namespace pallascope::study {

// "time from" and "time to", a column for each run; empty where neither has a band.
[[nodiscard]] std::string bandLines(const analysis::Report& a, const analysis::Report& b);

// "B is 1.34 times as fast as A, surely: ...": a line.
[[nodiscard]] std::string fasterText(const Comparison& comparison);

// The object `faster`, as JSON text; null where a run takes no time.
[[nodiscard]] std::string fasterJson(const Comparison& comparison);

} // namespace pallascope::study
