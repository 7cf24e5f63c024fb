// What commands call the numbers that JSON does not have.
#pragma once

#include <cmath>

namespace pallascope::app {

// "nan" whatever the sign of the NaN, which depends on the processor.
[[nodiscard]] inline const char* nonFiniteName(double value)
{
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

} // namespace pallascope::app
