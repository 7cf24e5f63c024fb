// What a unit does at a moment: on the first core, or on agents of other kinds if the first core
// does not use it.
#pragma once

#include "core/trace/lookup.h"

#include <optional>
#include <string>

namespace pallascope::layout {

struct UnitState
{
    std::string words = "idle";
    std::optional<double> share; // how much of the current operation is done
};

// A unit of the first core works for the core itself or, with manual commands, beside it. If agents
// of other kinds work on such a unit, the words are "3 of 32:" and the share is that of the agents
// that work.
[[nodiscard]] UnitState unitState(const trace::Trace& trace, trace::UnitRow unit, Picoseconds now);

// Whether a wait is for other cores to finish, and not for a copy, a
// semaphore or a unit.
[[nodiscard]] bool waitsForOthers(const trace::Trace& trace, trace::WaitRow wait);

} // namespace pallascope::layout
