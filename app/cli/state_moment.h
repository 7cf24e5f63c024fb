// The moment of a run that `state` is asked for, by a time or by a number of something.
#pragma once

#include "app/cli/commands.h"
#include "core/machine/replay.h"

#include <cstdint>

namespace pallascope::app {

// Puts the run to the moment. Returns false if it is cancelled. If a round is asked for, `loop`
// becomes its loop.
[[nodiscard]] Result<bool> moveTo(machine::Replay& replay, const StateCommand& command,
                                  const Progress& progress, std::int32_t& loop);

// Complains if the moment does not exist.
[[nodiscard]] Status checkMoment(machine::Replay& replay, const StateCommand& command,
                                 std::int32_t loop);

} // namespace pallascope::app
