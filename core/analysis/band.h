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

} // namespace pallascope::analysis
