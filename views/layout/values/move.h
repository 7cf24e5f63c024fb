// Where the keys, the wheel and the pointer lead in a picture of values.
#pragma once

#include "views/layout/values/values.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace pallascope::layout::values {

// Elements on a side of the largest cell.
inline constexpr std::int64_t kLargestSide = 1024;

// The chosen element goes so many rows and columns further, and stays in sight. Nothing where it
// would leave the plane's elements. It begins where the cursor will be once all presses are
// answered, which `choice` says and `sight` not yet.
[[nodiscard]] std::optional<ValuesChoice> moved(const ValuesSight& sight, ValuesChoice choice,
                                                int rows, int columns);

struct Zoomed
{
    std::int64_t side = 0; // as in ValuesChoice
    std::optional<std::pair<std::int64_t, std::int64_t>> corner;
};

// Cells half as large or twice as large, which keeps an element where it is. Nothing at either end.
[[nodiscard]] std::optional<Zoomed> zoomed(const ValuesSight& sight, int direction,
                                           std::int64_t element);

} // namespace pallascope::layout::values
