// Where breakpoints stop a run that the values of the run decide: the first NaN, and conditions on
// elements of refs. Whoever asks gets all stops of the run at once, from a replay of it.
#pragma once

#include "core/machine/replay.h"
#include "core/trace/breakpoint.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pallascope::study {

// An error if the run does not compute the values that the breakpoint needs, or has no such ref or
// element. `fullValues`: whether the replay computes all values.
[[nodiscard]] Status checkValues(const machine::Replay& replay, bool fullValues,
                                 const trace::Breakpoint& breakpoint);

struct ValueStop
{
    Picoseconds time;
    // The moment after the operation that does it. None where no operation does: copies land
    // between two moments.
    std::optional<std::int64_t> event;
    std::int32_t agent = -1; // that does it; with no event -1
};

// Where the breakpoint stops, sorted by time, of several at one time the one whose event comes
// first. A condition stops where it comes to hold in some memory of the ref: on any agent, in any
// slot. Undefined elements fulfil no condition. Returns nothing if it is cancelled. Runs from the
// start to the end, and leaves the replay at some other moment.
[[nodiscard]] Result<std::optional<std::vector<ValueStop>>>
valueStops(machine::Replay& replay, bool fullValues, const trace::Breakpoint& breakpoint,
           const machine::Replay::Proceed& proceed = {});

// Their times, in picoseconds.
[[nodiscard]] std::vector<std::int64_t> timesOf(const std::vector<ValueStop>& stops);

} // namespace pallascope::study
