// What every part of a running machine has at hand.
#pragma once

#include "core/machine/parts/ending.h"
#include "core/machine/parts/turn.h"
#include "core/machine/prepare/prepared.h"
#include "core/machine/record/recorder.h"

namespace pallascope::machine {

// All of it outlives the parts.
struct Context
{
    const Prepared& prepared;
    const Settings& settings;
    Recorder& recorder;
    Turn& turn;
    Ending& ending;
    Slab<Memory>& memory;
    Races& races;
    bool detects = false; // races are looked for
};

} // namespace pallascope::machine
