// Which rows of a sweep are the fastest, as far as the model can tell.
#pragma once

#include "core/study/sweep.h"

namespace pallascope::study {

enum class Standing
{
    None,    // it did not run, has findings, or nobody knows how far its time or the best's is off
    Slower,  // than the best, by more than the model errs
    Perhaps, // the model cannot tell it from the best
    Best     // the least time of those without findings
};

// For each row; of equal ones the first is the best. At most one is.
[[nodiscard]] std::vector<Standing> standings(const std::vector<SweepRow>& rows);

// Of a row that ran; "yes", "perhaps", "no", and "" for none.
[[nodiscard]] const char* nameOf(Standing standing);

} // namespace pallascope::study
