// Linear and log axes with ticks at 1, 2 and 5 times a power of ten.
#pragma once

#include "core/base/units.h"

#include <string>
#include <vector>

namespace pallascope::layout {

// The smallest of 1, 2, 5 times a power of ten that is at least `least` (> 0).
[[nodiscard]] double niceStep(double least);

// Multiples of a nice step in [begin, end], at least `leastPx` apart on `width` px.
struct TimeTicks
{
    Picoseconds step;
    std::vector<Picoseconds> at;
    // One unit for the axis: "12", "0.35"; unit is "ns", "µs", "ms" or "s".
    std::string unit;
    [[nodiscard]] std::string label(Picoseconds t) const;
};

[[nodiscard]] TimeTicks timeTicks(Picoseconds begin, Picoseconds end, double width,
                                  double leastPx = 90);

// All 1, 2, 5 times 10^n in [low, high]; both > 0.
[[nodiscard]] std::vector<double> logTicks(double low, double high);
// Those of logTicks that lie at least `leastPx` apart on `width` px: 1-2-5, else decades.
[[nodiscard]] std::vector<double> logTicks(double low, double high, double width, double leastPx);
// The nearest 1, 2, 5 times 10^n at or below, at or above.
[[nodiscard]] double niceBelow(double value);
[[nodiscard]] double niceAbove(double value);

// "0.05", "20", "1 000": a tick without trailing zeros, thin space from 1 000.
[[nodiscard]] std::string tickText(double value);

// Maps [low, high] to [from, to] px on a log scale.
struct LogScale
{
    double low = 1, high = 10, from = 0, to = 1;
    [[nodiscard]] double at(double value) const;
    [[nodiscard]] double valueAt(double px) const;
};

} // namespace pallascope::layout
