// How many times as fast one run is as another, and whether the model is good enough to tell that
// it is faster.
#pragma once

#include "core/analysis/report.h"

namespace pallascope::analysis {

// What is known about a run's time.
struct Timed
{
    std::string chip; // its name
    Picoseconds time;
    std::optional<Band> band;
};

[[nodiscard]] Timed timed(const Report& report);
// The alternative ran on the report's chip.
[[nodiscard]] Timed timed(const Alternative& alternative, const Report& report);

struct Speedup
{
    double times = 1; // how many times as fast; above 0

    struct Range // nine tenths of such pairs of timings lie in it; above 0
    {
        double low = 1, high = 1;
        // How far ratios of two such timings are off. Absent if the two runs share no such figure;
        // then the range comes from both bands together.
        std::optional<double> ratio;
    };

    std::optional<Range> range; // absent if a run has no band

    // Whether the difference is larger than the model's error.
    [[nodiscard]] bool isSure() const
    {
        return range.has_value() && (range->low > 1 || range->high < 1);
    }
};

// The speedup of `one` over `other`; absent if one of them takes no time. Two runs of the same kind
// of work on the same chip share part of their error, so the ratio of their times is only as far
// off as ratios of timings were. For other pairs both bands count in full.
[[nodiscard]] std::optional<Speedup> speedup(const Timed& one, const Timed& other);

// "surely faster", "surely slower" or "too close for the model to tell", of the alternative
// compared with the run. Empty if nobody knows how far their times are off, or if one of them takes
// no time.
[[nodiscard]] std::string certaintyText(const Alternative& alternative, const Report& report);

} // namespace pallascope::analysis
