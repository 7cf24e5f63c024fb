// How far a predicted time may be off, judged by published timings of similar work.
#pragma once

#include "core/analysis/report.h"

namespace pallascope::analysis {

// The kind of work that a run does, by the names of the residuals in chip files: "attention" if the
// matrix unit does at most 2048 FLOPs for each transcendental (scores and their exponentials need 4
// x the head dimension); "products" if it does more; "other" if it does none.
[[nodiscard]] std::string workOf(const Report& report, const chip::Chip& chip);

// The band that holds nine tenths of the timings of this kind of work on the chip. If the chip file
// has no timings of the kind, it uses those of "other" work; absent if there are none of these
// either.
[[nodiscard]] std::optional<Band> bandOf(const Report& report, const chip::Chip& chip);

// The band around a time that these timings support; `support` has the shares of a chip file.
[[nodiscard]] Band bandOf(Picoseconds time, const std::string& work, const chip::Residual& support);

// "930.4 µs to 1.01 ms"
[[nodiscard]] std::string bandText(const Band& band);
// "9 of 10 of 24 timings of attention on the chip lie within"; `chip` is the name for people.
[[nodiscard]] std::string supportText(const Band& band, const std::string& chip);
// "24 timings of attention"
[[nodiscard]] std::string timingsText(const Band& band);
// The object `time_support` of a report, as JSON text; "null" without a band.
[[nodiscard]] std::string supportJson(const std::optional<Band>& band);

} // namespace pallascope::analysis
