// A number that is equal for equal states of a run: of what it goes on from, not of caches,
// counters of pauses, or what undefined memory happens to hold.
#pragma once

#include "core/machine/state/state.h"

#include <cstdint>

namespace pallascope::machine {

[[nodiscard]] std::uint64_t hashOf(const State& state);

} // namespace pallascope::machine
