// NaN and Inf among the defined elements of values.
#pragma once

#include "core/machine/values/value.h"

#include <cstdint>

namespace pallascope::machine {

struct NonFinite
{
    bool nan = false, inf = false;

    [[nodiscard]] bool any() const { return nan || inf; }
};

// As fast as reading the elements; integers hold none.
[[nodiscard]] NonFinite nonFiniteIn(const RuntimeValue& value);

// How many defined elements are NaN, or (`nan` false) Inf.
[[nodiscard]] std::int64_t countNonFinite(const RuntimeValue& value, bool nan);

} // namespace pallascope::machine
