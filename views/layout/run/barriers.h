// What barriers of a GPU's blocks count at a moment.
#pragma once

#include "core/trace/semaphore_counts.h"
#include "views/layout/run/run_view.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pallascope::layout {

struct BarrierNow
{
    std::int64_t complete = 0; // phases, since the block that has it began
    std::int64_t arrived = 0;  // in the phase under way
    std::int64_t needed = 0;   // arrivals that complete a phase; 0: none completes in this run
    std::int64_t copies = 0;   // under way that will arrive on it
    Bytes pending;             // of these, what has not landed
    std::vector<std::int32_t> waiting; // agents
};

// `semaphore` is a row of Info::semaphores.
[[nodiscard]] BarrierNow barrierAt(const RunView& run, std::int32_t semaphore, Picoseconds now);

// "phase 3, 0 of 1 arrived"; "2 arrived" where no phase completes in the run. Without `isLong`
// "3: 0/1", "2".
[[nodiscard]] std::string arrivedText(const BarrierNow& barrier, bool isLong = true);
// "16 KiB to come in 2 copies"; empty if no copy is under way to it.
[[nodiscard]] std::string pendingText(const BarrierNow& barrier);

} // namespace pallascope::layout
