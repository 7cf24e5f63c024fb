// The moment that `state --break` asks for: where a breakpoint stops the run.
#pragma once

#include "app/cli/commands.h"
#include "core/machine/replay.h"
#include "core/trace/breakpoint.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::app {

// Which breakpoints stop the run.
struct StoppedBy
{
    std::vector<std::string> breakpoints; // their texts; empty: there are not so many stops
    std::int64_t stops = 0; // of all breakpoints, from where it begins to where this one is
    Picoseconds time;       // of the stop
    std::string agent;      // that is there; empty if none is seen
};

// What can be said of the options before anything runs.
[[nodiscard]] Result<std::vector<trace::Breakpoint>> parseBreaks(const StateCommand& command);

// Moves the replay to the stop that is asked for; without one to the end, or backwards to the
// start.
[[nodiscard]] Result<StoppedBy> moveToBreak(machine::Replay& replay, const RunRequest& request,
                                            const StateCommand& command,
                                            const std::vector<trace::Breakpoint>& breakpoints);

// "stopped by grid:1,0"; where the run has several agents, with the one that is there
[[nodiscard]] std::string stoppedText(const StoppedBy& stopped, const StateCommand& command,
                                      bool hasSeveralAgents);

} // namespace pallascope::app
