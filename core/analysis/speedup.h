// How many times as fast one run is as another, and whether the model can tell that it is faster.
#pragma once

#include "core/analysis/report.h"

namespace pallascope::analysis {

// What is known of a run's time.
struct Timed
{
    std::string chip; // its name
    Picoseconds time;
    std::optional<Band> band;
};

[[nodiscard]] Timed timed(const Report& report);
// Of a run on the report's chip.
[[nodiscard]] Timed timed(const Alternative& alternative, const Report& report);

struct Speedup
{
    double times = 1; // how many times as fast, above 0

    struct Range // nine tenths of such pairs of timings say so; above 0
    {
        double low = 1, high = 1;
        // How far ratios of two such timings are off; absent where the runs share no such figure,
        // and the range is that of both bands together.
        std::optional<double> ratio;
    };

    std::optional<Range> range; // absent where a run has no band

    // Which of them is faster is beyond what the model errs by.
    [[nodiscard]] bool isSure() const
    {
        return range.has_value() && (range->low > 1 || range->high < 1);
    }
};

// Of `one` over `other`; absent where one of them takes no time. Two runs on the same chip of the
// same kind of work share a part of their error, so the ratio of their times is off by what
// ratios of timings were; others may be off by both their bands.
[[nodiscard]] std::optional<Speedup> speedup(const Timed& one, const Timed& other);

// "surely faster", "surely slower", "too close for the model to tell": of the alternative beside
// the run. Empty where nobody knows how far their times are off, or where one takes no time.
[[nodiscard]] std::string certaintyText(const Alternative& alternative, const Report& report);

} // namespace pallascope::analysis
