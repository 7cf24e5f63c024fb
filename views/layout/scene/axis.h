// Linear axes of time and logarithmic axes, with ticks at 1, 2 and 5 times a power of ten.
#pragma once

#include "core/base/units.h"

#include <string>
#include <vector>

namespace pallascope::layout {

// The smallest number of the form 1, 2 or 5 times a power of ten that is at least `least` (> 0).
[[nodiscard]] double niceStep(double least);

// The multiples of a nice step in [begin, end] that lie at least `leastPx` apart on `width` px.
struct TimeTicks
{
    Picoseconds step;
    std::vector<Picoseconds> at;
    // The whole axis has one unit ("ns", "µs", "ms" or "s"), so labels are plain numbers: "12",
    // "0.35".
    std::string unit;
    [[nodiscard]] std::string label(Picoseconds t) const;
};

[[nodiscard]] TimeTicks timeTicks(Picoseconds begin, Picoseconds end, double width,
                                  double leastPx = 90);

// All numbers 1, 2 and 5 times 10^n in [low, high]; both must be > 0.
[[nodiscard]] std::vector<double> logTicks(double low, double high);
// The same for ticks at least `leastPx` apart on `width` px: 1, 2 and 5 if they have room,
// otherwise only decades.
[[nodiscard]] std::vector<double> logTicks(double low, double high, double width, double leastPx);
// The nearest number of the form 1, 2 or 5 times 10^n that is at most, or at least, `value`.
[[nodiscard]] double niceBelow(double value);
[[nodiscard]] double niceAbove(double value);

// A tick without trailing zeros, with thin spaces from 1 000 on: "0.05", "20", "1 000".
[[nodiscard]] std::string tickText(double value);
// A tick of an axis of times, with its unit: "20 µs".
[[nodiscard]] std::string secondsTickText(double seconds);

// Maps [low, high] to [from, to] px on a log scale.
struct LogScale
{
    double low = 1, high = 10, from = 0, to = 1;
    [[nodiscard]] double at(double value) const;
    [[nodiscard]] double valueAt(double px) const;
};

} // namespace pallascope::layout
