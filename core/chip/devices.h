// Divides a chip that its maker counts as one into the several devices that programs see.
#pragma once

#include "core/chip/chip.h"

#include <string>

namespace pallascope::chip {

// Gives each of chip.devices an equal share of what the chip shares. Returns the name of the first
// thing that cannot be divided evenly, such as "count of TensorCore"; empty if everything can.
[[nodiscard]] std::string divideAmongDevices(Chip& chip);

} // namespace pallascope::chip
