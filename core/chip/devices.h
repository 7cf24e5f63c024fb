// Divides a chip that its maker counts as one into the several devices that programs see.
#pragma once

#include "core/chip/chip.h"

#include <string>
#include <string_view>

namespace pallascope::chip {

// Gives each of chip.devices an equal share of what the chip shares. Returns the name of the first
// thing that cannot be divided evenly, such as "count of TensorCore"; empty if everything can.
[[nodiscard]] std::string divideAmongDevices(Chip& chip);

// Whether a figure of the file, by the pointer to it in its JSON, is of the whole chip and so among
// those that are divided. Not for the numbers of agents and slots.
[[nodiscard]] bool isDivided(const Chip& chip, std::string_view pointer);

} // namespace pallascope::chip
