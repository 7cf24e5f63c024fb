// The bands above the lanes of a time line that show the rounds of nested loops.
#pragma once

#include "views/layout/run/run_view.h"

#include <cstdint>
#include <vector>

namespace pallascope::layout::timeline {

// The loops of one depth that one agent runs, one after the other.
struct RoundBand
{
    std::vector<std::int32_t> loops; // rows of Info::loops
    double y = 0, h = 0;
};

// From the outermost on: at most three, the band with the names of grid steps counted among them.
// Where there is little height, inner ones are left out first. Loops with a single round have none.
[[nodiscard]] std::vector<RoundBand> roundBandsOf(const RunView& run, double height);

// Whether there is a band with the names of grid steps: not where rounds are all there is to name.
[[nodiscard]] bool hasStepRuler(const RunView& run);

// The y at which the lanes begin.
[[nodiscard]] double plotTopOf(const RunView& run, double height);

} // namespace pallascope::layout::timeline
