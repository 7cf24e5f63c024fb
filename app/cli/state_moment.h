// The moment of a run that `state` is asked for, by a time or by a number of something.
#pragma once

#include "app/cli/commands.h"
#include "core/machine/replay.h"

#include <cstdint>

namespace pallascope::app {

// What the moment is beside an event of the replay.
struct Moment
{
    Picoseconds time;      // the one that is asked for; 0: none is
    std::int32_t loop = 0; // of the round that is asked for
};

// Puts the run to the moment. Returns false if it is cancelled.
[[nodiscard]] Result<bool> moveTo(machine::Replay& replay, const StateCommand& command,
                                  const Progress& progress, Moment& moment);

// Complains if the moment does not exist.
[[nodiscard]] Status checkMoment(machine::Replay& replay, const StateCommand& command,
                                 std::int32_t loop);

} // namespace pallascope::app
