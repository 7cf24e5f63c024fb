// How far a predicted time may be off.
#pragma once

#include "core/analysis/report.h"

namespace pallascope::analysis {

// The kind of work of a run, as the residuals of chip files name it: "attention" where the matrix
// unit does at most 2048 FLOPs for each transcendental, as scores and their exponentials need (4 x
// the head dimension); "products" where it does more; "other" where it does none.
[[nodiscard]] std::string workOf(const Report& report, const chip::Chip& chip);

// Of the timings of that kind of work on the chip, nine tenths of which lie within; absent where
// the chip's file knows of none, nor of other work.
[[nodiscard]] std::optional<Band> bandOf(const Report& report, const chip::Chip& chip);

// That of a time, by the timings that support it. The support's shares are those of chip files.
[[nodiscard]] Band bandOf(Picoseconds time, const std::string& work, const chip::Residual& support);

// "930.4 µs to 1.01 ms"
[[nodiscard]] std::string bandText(const Band& band);
// "9 of 10 of 24 timings of attention on the chip lie within": of a chip by its name for people.
[[nodiscard]] std::string supportText(const Band& band, const std::string& chip);
// "24 timings of attention"
[[nodiscard]] std::string timingsText(const Band& band);
// The object `time_support` of reports, as JSON text; "null" without a band.
[[nodiscard]] std::string supportJson(const std::optional<Band>& band);

} // namespace pallascope::analysis
