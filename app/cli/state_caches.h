// What the L2 of a GPU holds at a moment, in words, for `state`.
#pragma once

#include "core/machine/replay.h"

#include <string>

namespace pallascope::app {

// A line for each device and one for each array; empty where there is no L2.
[[nodiscard]] std::string cachesText(const machine::Replay& replay);

} // namespace pallascope::app
