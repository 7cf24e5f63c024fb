// What the model takes instead of a figure that nobody has published, in words.
#pragma once

#include "core/chip/chip.h"

#include <string>

namespace pallascope::chip {

// With its unit: "330 ns", "1 cycle". Of what the chip's devices share the model takes the part of
// one: "16 MiB of a device (32 MiB of the chip)".
[[nodiscard]] std::string standInText(const Chip& chip, const UnknownFigure& figure);

} // namespace pallascope::chip
