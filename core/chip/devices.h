// A chip that its makers count as one and that programs see as several devices.
#pragma once

#include "core/chip/chip.h"

#include <string>

namespace pallascope::chip {

// What the chip shares belongs to each of chip.devices in equal parts. What has none, such as the
// "count of TensorCore"; empty: all has.
[[nodiscard]] std::string divideAmongDevices(Chip& chip);

} // namespace pallascope::chip
