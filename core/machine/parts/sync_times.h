// What an agent of a GPU spends on synchronization itself, beside the time that it waits for
// others.
#pragma once

#include "core/base/units.h"
#include "core/chip/chip.h"

#include <cmath>
#include <cstdint>

namespace pallascope::machine {

struct SyncTimes
{
    Picoseconds arrival;        // an arrival at a barrier
    Picoseconds wait;           // a wait at a barrier, after its phase is complete
    Picoseconds look;           // one whose phase was complete before
    Picoseconds l1Load;         // a load of which L1 holds everything
    Picoseconds change;         // of an element of GMEM by an atomic operation, in L2
    Picoseconds copyBeyondLoad; // how much later a copy of the TMA ends than a load over its link
    Picoseconds productWait;    // a wait for products, after they have ended
    Picoseconds registerProductWait; // the same, if their left operand is in registers
};

// All zero on a chip that is not a GPU.
[[nodiscard]] inline SyncTimes syncTimes(const chip::Chip& chip)
{
    if (!chip.multiprocessor) {
        return {};
    }
    const chip::Multiprocessor& sm = *chip.multiprocessor;
    const auto timeOf = [&](double cycles) {
        return toPicoseconds(Cycles(static_cast<std::int64_t>(std::llround(cycles))),
                             chip.agents.front().clock);
    };
    return {timeOf(sm.arriveCycles),
            timeOf(sm.waitCycles),
            timeOf(sm.sharedLoadCycles),
            timeOf(sm.l1LoadCycles),
            timeOf(sm.atomicCycles),
            timeOf(sm.copyCycles.value_or(0)),
            timeOf(sm.productWaitCycles.value_or(0)),
            timeOf(sm.registerProductWaitCycles.value_or(sm.productWaitCycles.value_or(0)))};
}

} // namespace pallascope::machine
