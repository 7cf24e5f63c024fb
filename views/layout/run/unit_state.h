// What a unit does at a moment: that of the first core, else those of agents of other kinds.
#pragma once

#include "core/trace/lookup.h"

#include <optional>
#include <string>

namespace pallascope::layout {

struct UnitState
{
    std::string words = "idle";
    std::optional<double> share; // of the operation under way
};

// At work for the core itself or, asked by hand, beside it. Of a unit that other kinds of agents
// have, "3 of 32:" and the share of them that works.
[[nodiscard]] UnitState unitState(const trace::Trace& trace, std::int32_t unit, Picoseconds now);

// A row of trace::Waits: neither for a copy nor for a semaphore or a unit, but until other cores
// are done.
[[nodiscard]] bool waitsForOthers(const trace::Trace& trace, std::int32_t wait);

} // namespace pallascope::layout
