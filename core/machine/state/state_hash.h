// A number that is equal for equal states of a run. It covers everything from which the run goes
// on, but not caches, counters of pauses, or what undefined memory happens to hold.
#pragma once

#include "core/machine/state/state.h"

#include <cstdint>

namespace pallascope::machine {

[[nodiscard]] std::uint64_t hashOf(const State& state);

} // namespace pallascope::machine
