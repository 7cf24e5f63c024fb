// Transcendental functions that the C library does not have.
#include "core/machine/ops/rules_transcendental.h"

#include <numbers>

namespace pallascope::machine::ops {

// An approximation that is good to about 1e-3 (Winitzki, "A handy approximation for the error
// function and its inverse", 2008), then Newton's method in double until the float no longer
// changes.
float inverseErf(float y)
{
    if (y == 0 || !(std::fabs(y) < 1)) {
        return std::fabs(y) == 1 ? y * std::numeric_limits<float>::infinity()
               : y == 0          ? y
                                 : std::numeric_limits<float>::quiet_NaN();
    }
    constexpr double kA = 0.147;
    const auto target = static_cast<double>(y);
    const double logarithm = std::log1p(-target * target);
    const double half = 2 / (std::numbers::pi * kA) + logarithm / 2;
    double x = std::copysign(std::sqrt(std::sqrt(half * half - logarithm / kA) - half), target);
    for (int step = 0; step < 4; ++step) {
        const double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-x * x);
        x -= (std::erf(x) - target) / slope;
    }
    return static_cast<float>(x);
}

} // namespace pallascope::machine::ops
