// What all parts of a running machine use.
#pragma once

#include "core/machine/parts/ending.h"
#include "core/machine/parts/turn.h"
#include "core/machine/parts/watch.h"
#include "core/machine/prepare/prepared.h"
#include "core/machine/record/recorder.h"

namespace pallascope::machine {

// All of these outlive the parts.
struct Context
{
    const Prepared& prepared;
    const Settings& settings;
    Recorder& recorder;
    Turn& turn;
    Ending& ending;
    Slab<Memory>& memory;
    Races& races;
    const Slab<Semaphore>& semaphores;
    bool detects = false; // whether to look for races
    Watch& watch;
};

// Base of a part that uses the whole context. Other parts name what they need of it.
class Part
{
protected:
    explicit Part(const Context& context)
        : m_prepared(context.prepared)
        , m_settings(context.settings)
        , m_recorder(context.recorder)
        , m_turn(context.turn)
        , m_ending(context.ending)
        , m_memory(context.memory)
        , m_races(context.races)
        , m_detects(context.detects)
        , m_watch(context.watch)
    {}

    const Prepared& m_prepared;
    const Settings& m_settings;
    Recorder& m_recorder;
    Turn& m_turn;
    Ending& m_ending;
    Slab<Memory>& m_memory;
    Races& m_races;
    const bool m_detects;
    Watch& m_watch;
};

} // namespace pallascope::machine
