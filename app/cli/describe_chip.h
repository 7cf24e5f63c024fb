// What `describe` says of a chip.
#pragma once

#include "core/chip/chip.h"

namespace pallascope::app {

void printChip(const chip::Chip& chip);

} // namespace pallascope::app
