// A run that can be moved to any of its moments, forwards and backwards, with the contents of its
// memories there. A moment is a sequence number: how many events the run has had. Events are
// operations, starts of copies, waits, signals, entries into branches and loops, and beginnings of
// the bodies of steps. Some events come in pairs, so not every number is a moment of its own. The
// end counts as one more. Times never decrease along the events of one core; with several cores the
// one that is behind runs next, one segment at a time.
#pragma once

#include "core/machine/run.h"
#include "core/machine/touch.h"
#include "core/trace/row.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::machine {

class Replay
{
public:
    // Checkpoints are `between` apart, measured in the time that it takes to run from one to the
    // next. The distance doubles whenever they would take more than `memory`, not counting the
    // arrays at the start. The times of that many first moments are kept, in 8 bytes each, so that
    // a moment is found by its time at once; others are searched for.
    struct Spacing
    {
        Seconds between{0.025};
        Bytes memory{std::int64_t{512} << 20};
        std::size_t times = std::size_t{1} << 23;
    };

    // Starts at sequence number 0. `options.values` decides which values can be looked at, not
    // which moments exist. Errors are those of run().
    [[nodiscard]] static Result<std::unique_ptr<Replay>>
    start(ir::Program program, const std::vector<Array>& inputs, chip::Chip chip,
          const Options& options, Spacing spacing);

    [[nodiscard]] static Result<std::unique_ptr<Replay>> start(ir::Program program,
                                                               const std::vector<Array>& inputs,
                                                               chip::Chip chip,
                                                               const Options& options)
    {
        return start(std::move(program), inputs, std::move(chip), options, Spacing{});
    }

    ~Replay();
    Replay(const Replay&) = delete;
    Replay& operator=(const Replay&) = delete;

    [[nodiscard]] std::int64_t sequence() const;
    [[nodiscard]] Picoseconds time() const; // of the last event
    [[nodiscard]] bool isAtEnd() const;

    // Called every few milliseconds of a replay with the share (0 to 1) that is done. Returning
    // false cancels it.
    using Proceed = std::function<bool(double)>;

    // Moves to the first moment at or after a sequence number, or to the end. Returns false if it
    // is cancelled, and then stays at some moment on the way.
    [[nodiscard]] Result<bool> seek(std::int64_t sequence, const Proceed& proceed = {});
    // Moves to the moment before the first event that is later than `time`.
    [[nodiscard]] Result<bool> seekTime(Picoseconds time, const Proceed& proceed = {});

    enum class Unit : std::uint8_t
    {
        Operation, // any event
        Step,      // the beginning of a grid step's body
        Copy       // the start of a copy
    };

    // Moves to the moment after an event of this kind, by its number in the run (from 0), or to the
    // end.
    [[nodiscard]] Result<bool> seekTo(Unit unit, std::int64_t number, const Proceed& proceed = {});

    // How many events of this kind are known: those up to the farthest moment that the run has
    // reached.
    [[nodiscard]] std::int64_t known(Unit unit) const;

    // The loops whose rounds are known, as in trace::Info; of each the rounds of the first agent
    // that runs it.
    [[nodiscard]] const std::vector<trace::Loop>& loops() const;
    // Moves to where a round of one of them begins, by its number in the run (from 0), or to the
    // end.
    [[nodiscard]] Result<bool> seekToRound(std::int32_t loop, std::int64_t number,
                                           const Proceed& proceed = {});
    // How many of its rounds are known, and how many have begun at this moment.
    [[nodiscard]] std::int64_t knownRounds(std::int32_t loop) const;
    [[nodiscard]] std::int64_t begunRounds(std::int32_t loop) const;

    // Moves to the next or previous moment after an event of this kind or, if there is none, to the
    // end or the start.
    [[nodiscard]] Result<bool> step(Unit unit, bool forward, const Proceed& proceed = {});

    // Where an agent is in the program.
    struct AgentPlace
    {
        std::string agent;
        Picoseconds time;
        trace::OptionalRow<trace::StepRow> step;
        // Operation::id of the next operation; none if the pipeline itself works next.
        std::optional<std::int32_t> next;
        std::string waits; // the semaphore for which it waits
        // The number in its grid of the block that it runs, or of the cluster; none on other chips
        // than GPUs.
        std::optional<std::int64_t> block;
        // Refs that it can look at, those of the innermost region last.
        std::vector<ir::ValueId> refs;
        bool isDone = false;
    };

    [[nodiscard]] std::vector<AgentPlace> places() const;

    struct Contents
    {
        Array elements;                    // undefined elements are as `uninitialized_memory` says
        std::vector<std::uint8_t> defined; // for each element: 1 or 0
    };

    // The contents of one of the refs that the agent's place lists, now or, if `time` is later,
    // with the copies that have ended by then.
    [[nodiscard]] Contents contents(std::size_t agent, ir::ValueId ref, Picoseconds time = {});

    // The same without a copy where the memory is dense.
    struct Held
    {
        Array elements;       // undefined elements are anything; without data none is defined
        SharedBytes defined;  // for each element: 1 or 0; null: all that have data
        SharedBytes arriving; // 1: a copy that was issued and has not landed writes it; null: none
    };

    // Calls see(held) with what a ref holds at `time`, which lies from the last event to the next
    // one: the copies that end by then have landed. Whoever keeps it makes the next write to that
    // memory copy all of it.
    void look(std::size_t agent, ir::ValueId ref, Picoseconds time,
              const std::function<void(const Held&)>& see);
    [[nodiscard]] Held held(std::size_t agent, ir::ValueId ref, Picoseconds time);

    // Whether the run computes what a ref holds: with values `needed`, only what decides its time.
    [[nodiscard]] bool computes(ir::ValueId ref) const;

    // Runs all over again, from the start to the end, and tells what happens to what is watched.
    // Returns nothing if it is cancelled. All values must be computed.
    [[nodiscard]] Result<std::optional<Touches>> watch(Watched watched,
                                                       const Proceed& proceed = {});

    struct InFlight
    {
        trace::CopyRow copy;
        std::string what; // "x(0,1) in", or "manual DMA"
        Picoseconds start, end;
    };

    // Copies that move data and have not landed yet.
    [[nodiscard]] std::vector<InFlight> inFlight() const;

    struct SemaphoreCount
    {
        std::string name, agent; // `agent`: to which it belongs
        std::int64_t count = 0;
        bool countsBytes = false; // of copies: it is a DMA semaphore
        // Of a barrier: the phases that are complete, and how many arrivals complete one.
        std::optional<std::int64_t> phases;
        std::int64_t needed = 0;
    };

    [[nodiscard]] std::vector<SemaphoreCount> semaphores() const;

    // What an L2 holds of an array in GMEM, or has asked HBM for; and what copies that read the
    // array have taken from L2, and had to take from HBM.
    struct CachedArray
    {
        std::string name;
        Bytes array; // all of it
        Bytes held, hit, missed;
    };

    struct Cache
    {
        std::string name; // "L2", "device 1 L2"
        Bytes capacity, held;
        std::vector<CachedArray> arrays; // in the order in which they were first asked for
    };

    // For each device of a GPU's chip; none on other chips. What is written goes to HBM at once, so
    // nothing that L2 holds has yet to be written there.
    [[nodiscard]] std::vector<Cache> caches() const;

    [[nodiscard]] const ir::Program& program() const;
    [[nodiscard]] std::size_t checkpointCount() const;
    [[nodiscard]] Bytes checkpointBytes() const; // memory that the checkpoints hold, approximately

    // A hash of everything from which the run goes on. It is equal for equal moments, however they
    // were reached.
    [[nodiscard]] std::uint64_t hash() const;

private:
    struct Impl;
    explicit Replay(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

} // namespace pallascope::machine
