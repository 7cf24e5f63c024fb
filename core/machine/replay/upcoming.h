// What an agent does next, found in its frames: the run pauses behind an operation, before it
// leaves the region or the round of a loop that this operation ends.
#pragma once

#include "core/machine/prepare/prepared.h"
#include "core/machine/state/state.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::machine {

struct Upcoming
{
    std::optional<std::int32_t> operation;    // Operation::id; none if a pipeline itself works next
    std::vector<const ir::Operation*> rounds; // loops of which a round begins before that
};

[[nodiscard]] Upcoming upcomingOf(const Prepared& prepared, const Agent& agent);

} // namespace pallascope::machine
