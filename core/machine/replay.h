// A run that can be put to any of its moments, forwards and backwards, with the contents of its
// memories there. A moment is a sequence number: how many events the run has had. Events are
// operations, copies started, waits, signals, branches and loops entered, and bodies of steps
// begun; a few come in pairs, so that not every number is a moment of its own. The end is one more.
// Times never decrease along the events of one core; of several cores, whoever is behind goes on,
// by a segment at a time.
#pragma once

#include "core/machine/run.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pallascope::machine {

class Replay
{
public:
    // Checkpoints lie so far apart in the time that it takes to run from one to the next, and twice
    // as far whenever they would take more memory than this besides the arrays of the start.
    struct Spacing
    {
        Seconds between{0.025};
        Bytes memory{std::int64_t{512} << 20};
    };

    // At sequence number 0. `options.values` decides which values there are to look at, not which
    // moments. Errors as of run().
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

    // Asked every few milliseconds of a replay with the share that is done, 0..1; false cancels it.
    using Proceed = std::function<bool(double)>;

    // To the first moment at or after a sequence number, or the end. False when cancelled, at some
    // moment on the way.
    [[nodiscard]] Result<bool> seek(std::int64_t sequence, const Proceed& proceed = {});
    // To the moment before the first event that is later than a time.
    [[nodiscard]] Result<bool> seekTime(Picoseconds time, const Proceed& proceed = {});

    enum class Unit : std::uint8_t
    {
        Operation, // any event
        Step,      // the body of a grid step begins
        Copy       // a copy is started
    };

    // To the moment after such an event, by its number in the run from 0, or to the end.
    [[nodiscard]] Result<bool> seekTo(Unit unit, std::int64_t number, const Proceed& proceed = {});

    // Such events as far as the run has come: at the end all of them.
    [[nodiscard]] std::int64_t known(Unit unit) const;

    // To the next or previous moment after such an event; where there is none, to the end or the
    // start.
    [[nodiscard]] Result<bool> step(Unit unit, bool forward, const Proceed& proceed = {});

    // Where an agent stands.
    struct AgentPlace
    {
        std::string agent;
        Picoseconds time;
        std::int64_t step = -1;        // row of trace::Steps; -1: none
        std::int32_t next = -1;        // Operation::id that comes next; -1: the pipeline's own work
        std::string waits;             // for this semaphore
        std::vector<ir::ValueId> refs; // what it can look at, of the innermost region last
        bool isDone = false;
    };

    [[nodiscard]] std::vector<AgentPlace> places() const;

    struct Contents
    {
        Array elements;                    // undefined ones as `uninitialized_memory` has them
        std::vector<std::uint8_t> defined; // per element: 1 or 0
    };

    // A ref of an agent, one of its place's.
    [[nodiscard]] Contents contents(std::size_t agent, ir::ValueId ref);

    struct InFlight
    {
        std::int64_t copy = -1; // row of trace::Copies
        std::string what;       // "x(0,1) in"; of one by hand "by hand"
        Picoseconds start, end;
    };

    // Copies that move data and have not landed.
    [[nodiscard]] std::vector<InFlight> inFlight() const;

    struct SemaphoreCount
    {
        std::string name, agent; // it belongs to
        std::int64_t count = 0;
    };

    [[nodiscard]] std::vector<SemaphoreCount> semaphores() const;

    [[nodiscard]] const ir::Program& program() const;
    [[nodiscard]] std::size_t checkpointCount() const;
    [[nodiscard]] Bytes checkpointBytes() const; // that they hold, about

    // Of all that the run goes on from: equal for equal moments, however they were come to.
    [[nodiscard]] std::uint64_t hash() const;

private:
    struct Impl;
    explicit Replay(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

} // namespace pallascope::machine
