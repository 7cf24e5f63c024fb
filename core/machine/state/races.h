// Finds unordered accesses of one memory, by agents and by the copies that they start. It
// determines what happens before what with vector clocks. A copy is a thread of its own, from its
// start until somebody waits for it. As in JAX, jax/_src/pallas/mosaic/interpret
// (race_detection_state.py).
#pragma once

#include "core/ir/program.h"
#include "core/machine/state/place.h"
#include "core/trace/row.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace pallascope::machine {

// For each agent, how many of its releases (signals and starts of copies) are known.
using VectorClock = std::vector<std::uint32_t>;

void learn(VectorClock& clock, const VectorClock& other);

struct Access
{
    std::int32_t buffer = -1;   // -1: nobody writes to it, so nothing can conflict
    bool isUncontested = false; // no other agent accesses it, or nobody writes to it
    bool writes = false;
    trace::OptionalRow<trace::StepRow> step;
    ir::LocationId location;
    Place place;
    bool adds = false;       // adds element by element; such accesses may be in any order
    bool byPipeline = false; // a copy for which the author need not wait
};

// A copy for which somebody has waited, and the buffers that it read and wrote. -1: the wait says
// nothing about that end.
struct AwaitedCopy
{
    trace::OptionalRow<trace::CopyRow> copy;
    std::int32_t from = -1, to = -1;
};

// The access that conflicts with the other one of a Race.
struct Accessor
{
    std::int32_t agent = -1;
    trace::OptionalRow<trace::CopyRow> copy; // that makes the access
    trace::OptionalRow<trace::StepRow> step;
    ir::LocationId location;
};

struct Race
{
    bool withCopy = false; // otherwise with another agent
    bool otherWrites = false, writes = false;
    trace::OptionalRow<trace::CopyRow> copy;
    std::int32_t agent = -1; // the agent of the other access, or the one that started the copy
    trace::OptionalRow<trace::StepRow> step; // of the other access
    ir::LocationId location;
    bool ofPipeline = false; // whether the copy is a pipeline's
};

class Races
{
public:
    // At a fork, `count` agents from `first` on begin with what `parent` knows. At a join they end,
    // and `parent` learns what they know. `parent` may be one of them.
    void fork(std::int32_t parent, std::int32_t first, std::int32_t count);
    void join(std::int32_t parent, std::int32_t first, std::int32_t count);

    // Records an access by an agent. Returns the first conflict, if there is one.
    [[nodiscard]] std::optional<Race> access(std::int32_t agent, const Access& access);

    // Whether an access of a buffer can conflict at all; checked before anything else.
    [[nodiscard]] bool mayConflict(std::int32_t buffer, bool isUncontested) const
    {
        return (isShared() && !isUncontested)
               || (static_cast<std::size_t>(buffer) < m_copies.size()
                   && !m_copies[static_cast<std::size_t>(buffer)].empty());
    }

    // A copy starts: it reads one buffer and writes another until it is waited for.
    [[nodiscard]] std::optional<Race> start(std::int32_t agent, trace::CopyRow copy, Access read,
                                            Access write);
    // The agent has waited for the copy: what the copy did is ordered before what the agent does
    // now.
    void await(std::int32_t agent, const AwaitedCopy& copy);

    struct Settled;
    struct Doubt;
    // As await, and returns what `doubt` needs if the wait turns out to prove less than it seemed.
    [[nodiscard]] Settled settle(std::int32_t agent, const AwaitedCopy& copy);
    // Whether `agent` knows that this wait has happened.
    [[nodiscard]] bool knows(std::int32_t agent, const Settled& settled) const;
    // The wait may have been for another copy. Both ends are under way again; returns the accesses
    // that relied on the wait. `started`: what the copy's starter knew when it started the copy.
    [[nodiscard]] std::vector<Doubt> doubt(Settled settled, const VectorClock& started);

    [[nodiscard]] const VectorClock& clockOf(std::int32_t agent) const
    {
        return m_clocks[static_cast<std::size_t>(agent)];
    }

    void signal(std::int32_t agent, VectorClock& semaphore);
    void wait(std::int32_t agent, const VectorClock& semaphore);

    // The agent changes one element of a buffer atomically: it learns what those knew who did so
    // before, and those who do so later learn what it knows.
    void synchronise(std::int32_t agent, std::int32_t buffer, std::int64_t element);

    // The copies from or to this buffer that were started and not waited for.
    [[nodiscard]] std::vector<Race> unawaited(std::int32_t buffer) const;
    // The memory is released.
    void forget(std::int32_t buffer);

    // The agent begins a kernel: from now on the kernel's on-chip memory belongs to the kernel.
    void enter(std::int32_t agent);
    // Whether the agent knows that the other one has begun the kernel that it runs.
    [[nodiscard]] bool knowsEntry(std::int32_t agent, std::int32_t other) const;

private:
    friend class StateHasher;

    struct CopyAccess
    {
        trace::CopyRow copy;
        std::int32_t otherBuffer = -1; // the buffer at its other end
        std::int32_t agent = -1;       // the agent that started it
        Access access;
    };

public:
    // What a wait ordered.
    struct Settled
    {
        std::int32_t agent = -1; // that waited
        std::uint32_t epoch = 0; // of that agent, at its wait
        std::vector<CopyAccess> ends;
        std::vector<std::uint32_t> lives; // of the buffers of these ends, as m_lives
    };

    // An access that relied on a wait.
    struct Doubt
    {
        Race race; // with the copy
        Accessor accessor;
        bool atTarget = false; // the access is at the end that the copy writes
    };

private:
    struct Past // an access by an agent that other agents may not know about
    {
        std::int32_t agent = -1;
        std::uint32_t epoch = 0;
        std::int64_t start = 0; // where its elements begin on the first axis
        std::shared_ptr<const Reach> reach;
        trace::OptionalRow<trace::StepRow> step;
        ir::LocationId location;
        bool adds = false;
        trace::OptionalRow<trace::CopyRow>
            copy;               // the copy that made the access and that the agent waited for
        std::int32_t next = -1; // the access before it in its chain
    };

    // Finds accesses by where they start on the first axis. It is a hash table of stretches of that
    // axis; no stretch is shorter than any access.
    class PastAccesses
    {
    public:
        // A later access of the same place by the same agent replaces the earlier one: whatever is
        // not ordered after the later one is not ordered after the earlier one either.
        void add(Past past);

        // The first access, by start and then by age, that shares elements with `reach` and that
        // another agent may not know about.
        [[nodiscard]] const Past* conflict(std::int32_t agent, const VectorClock& known,
                                           const Reach& reach, bool adds) const;

        // All accesses of any agent that reach into there and that `known` does not cover, by age.
        [[nodiscard]] std::vector<const Past*> conflicts(const VectorClock& known,
                                                         const Reach& reach, bool adds) const;

    private:
        friend class StateHasher;

        // Calls visit(number of an access) for those that start in [from, to), and for some others.
        template<class F>
        void near(std::int64_t from, std::int64_t to, F visit) const;
        void link(std::int32_t number);
        void rebuild();

        [[nodiscard]] std::size_t chainOf(std::int64_t stretch) const
        {
            return static_cast<std::size_t>(stretch) & (m_chains.size() - 1);
        }

        std::vector<Past> m_all; // in the order in which they were first made
        // The last access of each chain; their number is a power of two.
        std::vector<std::int32_t> m_chains;
        int m_shift = 0; // a stretch has 1 << m_shift elements
    };

    struct History
    {
        PastAccesses reads, writes;
    };

    [[nodiscard]] std::optional<Race> againstCopies(const Access& access) const;
    [[nodiscard]] std::optional<Race> againstAgents(std::int32_t agent, const Access& access,
                                                    const Reach& reach) const;
    void doubt(const CopyAccess& end, const VectorClock& started, std::vector<Doubt>& doubts) const;
    void remember(std::int32_t agent, const Access& access,
                  trace::OptionalRow<trace::CopyRow> copy = {});
    // end() if the copy was not started or has been waited for.
    [[nodiscard]] static std::vector<CopyAccess>::iterator find(std::vector<CopyAccess>& copies,
                                                                trace::CopyRow copy);

    [[nodiscard]] bool isShared() const { return m_clocks.size() > 1; }

    [[nodiscard]] VectorClock& clock(std::int32_t agent)
    {
        return m_clocks[static_cast<std::size_t>(agent)];
    }

    template<class T>
    [[nodiscard]] static T& of(std::vector<T>& perBuffer, std::int32_t buffer)
    {
        const auto at = static_cast<std::size_t>(buffer);
        if (at >= perBuffer.size()) {
            perBuffer.resize(at + 1);
        }
        return perBuffer[at];
    }

    std::vector<VectorClock> m_clocks{VectorClock{1}}; // for each agent
    // For each buffer: copies that were started and not waited for.
    std::vector<std::vector<CopyAccess>> m_copies;
    std::vector<History> m_past;        // for each buffer
    std::vector<std::uint32_t> m_lives; // for each buffer: how often it was released
    // For each element, by buffer and number: what those knew who changed it atomically.
    std::map<std::pair<std::int32_t, std::int64_t>, VectorClock> m_atomic;
    std::vector<std::uint32_t> m_entered; // for each agent: its epoch when it began its last kernel
};

} // namespace pallascope::machine
