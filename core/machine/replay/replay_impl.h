// Internal to core/machine: what a Replay holds.
#pragma once

#include "core/machine/engine/engine.h"
#include "core/machine/replay.h"

#include <vector>

namespace pallascope::machine {

struct Replay::Impl
{
    // `thePrepared` is of theProgram and theChip.
    Impl(std::shared_ptr<const ir::Program> theProgram, std::shared_ptr<const chip::Chip> theChip,
         std::shared_ptr<const Prepared> thePrepared, Options theOptions, Spacing theSpacing);

    // Goes on until there, in slices of some milliseconds; false when cancelled.
    [[nodiscard]] Result<bool> forward(Until until, const Proceed& proceed);
    // To one of the marks, which grow on the way, or to the end.
    [[nodiscard]] Result<bool> toMark(Unit unit, std::size_t index, const Proceed& proceed);
    [[nodiscard]] Result<bool> seek(std::int64_t sequence, const Proceed& proceed);
    [[nodiscard]] const std::vector<std::int64_t>& marks(Unit unit) const;
    // To the last of the first `count` checkpoints, if the run is before it, or past what is looked
    // for.
    void approach(std::size_t count, bool isPast);
    [[nodiscard]] std::size_t countUpTo(std::int64_t number) const;
    void keepCheckpoint();
    void thin();

    // The end is a moment of its own, after the last event.
    [[nodiscard]] std::int64_t sequence() const
    {
        return engine.recorder().position().events + (engine.hasEnded() ? 1 : 0);
    }

    std::shared_ptr<const ir::Program> program;
    std::shared_ptr<const chip::Chip> chip;
    std::shared_ptr<const Prepared> prepared;
    Options options;
    Spacing spacing;
    Engine engine;
    std::vector<Engine::Checkpoint> checkpoints; // by sequence number; the first is at 0
    Bytes held;                                  // by them, about
    double cost = 0;                             // seconds of replay since the last one
    std::int64_t slice = 16;                     // events
};

} // namespace pallascope::machine
