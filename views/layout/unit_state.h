// What a unit of the first core does at a moment.
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

// At work for the core itself or, asked by hand, beside it.
[[nodiscard]] UnitState unitState(const trace::Trace& trace, std::int32_t unit, Picoseconds now);

// A row of trace::Waits: neither for a copy nor for a semaphore or a unit, but until other cores
// are done.
[[nodiscard]] bool waitsForOthers(const trace::Trace& trace, std::int32_t wait);

} // namespace pallascope::layout
