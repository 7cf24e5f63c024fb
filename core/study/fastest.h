// Decides which rows of a sweep are the fastest, as far as the model can tell.
#pragma once

#include "core/study/sweep.h"

namespace pallascope::study {

enum class Standing
{
    None, // it did not run, has findings, or the error of its time or of the best one's is unknown
    Slower,   // slower than the best, by more than the model's error
    Perhaps,  // the model cannot tell it from the best
    Shortest, // the shortest time of all rows without findings, but how far it is off is unknown
    Best      // the same, and how far it is off is known
};

// The standing of each row. At most one row is the best or the shortest: of equal rows the first.
[[nodiscard]] std::vector<Standing> standings(const std::vector<SweepRow>& rows);

// For a row that ran: "yes", "perhaps", "no", or "" for None and Shortest.
[[nodiscard]] const char* nameOf(Standing standing);

} // namespace pallascope::study
