// The private state of a Replay. Used only within core/machine/replay.
#pragma once

#include "core/machine/engine/engine.h"
#include "core/machine/replay.h"

#include <functional>
#include <optional>
#include <vector>

namespace pallascope::machine {

struct Replay::Impl
{
    // `thePrepared` must have been made from theProgram and theChip.
    Impl(std::shared_ptr<const ir::Program> theProgram, std::shared_ptr<const chip::Chip> theChip,
         std::shared_ptr<const Prepared> thePrepared, Options theOptions, Spacing theSpacing);

    // Advances to `until` in slices of some milliseconds. Returns false if cancelled.
    [[nodiscard]] Result<bool> forward(Until until, const Proceed& proceed);
    // Where the next slice ends: not beyond what is known, from where on times are to be learned.
    [[nodiscard]] std::int64_t endOfSlice(std::int64_t most) const;
    [[nodiscard]] Status advance(Until until);
    // The same, but false if `goesOn` ends it within a long product; then the run is at a
    // checkpoint.
    [[nodiscard]] Result<bool> advanceWhile(const std::function<bool()>& goesOn, Until until);
    [[nodiscard]] bool learns() const;
    // Goes on until the times of all moments up to `time` are known, or as many as are kept.
    // Returns false if cancelled.
    [[nodiscard]] Result<bool> explore(Picoseconds time, const Proceed& proceed);
    [[nodiscard]] bool knowsAllUpTo(Picoseconds time) const;
    [[nodiscard]] Result<bool> searchTime(Picoseconds time, const Proceed& proceed);
    // Advances to a mark, or to the end of the run. More marks are found on the way.
    [[nodiscard]] Result<bool>
    toMark(const std::function<const std::vector<std::int64_t>&()>& marks, std::size_t index,
           const Proceed& proceed);
    [[nodiscard]] Result<bool> toMark(Unit unit, std::size_t index, const Proceed& proceed);
    [[nodiscard]] Result<bool> seek(std::int64_t sequence, const Proceed& proceed);
    [[nodiscard]] const std::vector<std::int64_t>& marks(Unit unit) const;
    [[nodiscard]] const std::vector<std::int64_t>& rounds(std::int32_t loop) const;
    // Restores the last of the first `count` checkpoints if the run has not come to that one yet,
    // or if the run is past what is looked for.
    void approach(std::size_t count, bool isPast);
    [[nodiscard]] std::size_t countUpTo(std::int64_t number) const;
    void keepCheckpoint();
    void thin();

    // The end of the run counts as a moment of its own, after the last event.
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
    std::vector<Engine::Checkpoint> checkpoints; // ascending by sequence number; the first is at 0
    Bytes held;                                  // by the checkpoints, approximately
    double cost = 0;                             // seconds of replay since the last checkpoint
    std::int64_t slice = 16;                     // events in one slice
    // By sequence number, as far as the run has been: the time of the latest event up to there. So
    // a moment is found by its time without a search in the run itself.
    std::vector<Picoseconds> latest;
    // The sequence number of the end, once a run has come there: `watch` tells by it how far it is.
    std::optional<std::int64_t> end;
};

} // namespace pallascope::machine
