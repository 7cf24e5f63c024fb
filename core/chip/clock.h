// At which clock a GPU runs a kernel: chip files have the boost clock, which short kernels reach,
// and the clock that it sustains.
#pragma once

#include "core/base/result.h"
#include "core/chip/chip.h"

#include <cstdint>

namespace pallascope::chip {

enum class Clock : std::uint8_t
{
    Sustained, // what the file gives as `clock_hz` of its agents
    Boost
};

// The chip with its agents at this clock, in the figures as in `json`. The error says that the chip
// is not a GPU, so that it has no boost clock.
[[nodiscard]] Result<Chip> atClock(const Chip& chip, Clock clock);

} // namespace pallascope::chip
