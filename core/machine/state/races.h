// Finds unordered accesses of one memory, by agents and by the copies that they start. It
// determines what happens before what with vector clocks. A copy is a thread of its own, from its
// start until somebody waits for it. As in JAX, jax/_src/pallas/mosaic/interpret
// (race_detection_state.py).
#pragma once

#include "core/ir/program.h"
#include "core/machine/state/access.h"
#include "core/machine/state/underway.h"
#include "core/machine/state/vector_clock.h"
#include "core/trace/row.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace pallascope::machine {

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
    bool withCopy = false; // or with a product under way; otherwise with another agent
    bool otherWrites = false, writes = false;
    trace::OptionalRow<trace::CopyRow> copy; // none if it is a product
    // The agent of the other access, or the one that started the copy.
    std::int32_t agent = -1;
    trace::OptionalRow<trace::StepRow> step; // of the other access
    ir::LocationId location;
    bool ofPipeline = false; // whether the copy is a pipeline's
    // They are in order, but the later one is of the async proxy, which does not know of the
    // earlier one for want of a commit_smem.
    bool isUncommitted = false;
    bool isLate = false; // whether the agent has not waited for the other access
    // It is late, and would be unordered if it were not.
    bool isUnordered = false;
    // Whether the other access is by a copy for which `agent` has waited, whoever started it.
    bool byAwaitedCopy = false;
    // Whether one of the two reads elements that nothing else is known to have written before.
    bool readsUnwritten = false;
};

// A product that reads its operands, and the buffers in which these are.
struct UnderwayReads
{
    std::int64_t product = -1;
    std::vector<std::int32_t> buffers;
};

// What a block of a cluster writes by its part of a copy that blocks make for each other: each
// fetches one part, which comes to all of them.
struct SharedWrite
{
    Access access;                    // in the memory of its own block
    std::int32_t block = 0;           // its number in the cluster
    std::vector<std::int32_t> blocks; // of all that make the copy
    trace::OptionalRow<trace::CopyRow> copy;
};

class Races
{
public:
    Races()
        : m_clocks(1)
    {
        release(0);
    }

    // At a fork, `count` agents from `first` on begin with what `parent` knows. At a join they end,
    // and `parent` learns what they know. `parent` may be one of them.
    void fork(std::int32_t parent, std::int32_t first, std::int32_t count);
    void join(std::int32_t parent, std::int32_t first, std::int32_t count);
    // As a kernel of a GPU ends: what its agents have under way is done.
    void completeAll(std::int32_t first, std::int32_t count);

    // Records an access by an agent. Returns the first conflict, if there is one.
    [[nodiscard]] std::optional<Race> access(std::int32_t agent, const Access& access);

    // The agent has waited for an access that was late: from now on others may know of it.
    void complete(std::int32_t agent, Access access);

    // Whether an access of a buffer can conflict at all, unless proxies matter there; checked
    // before anything else.
    [[nodiscard]] bool mayConflict(std::int32_t buffer, bool isUncontested) const
    {
        return (isShared() && !isUncontested)
               || (static_cast<std::size_t>(buffer) < m_underway.size()
                   && !m_underway[static_cast<std::size_t>(buffer)].empty());
    }

    // A copy starts: it reads one buffer and writes another until it is waited for.
    [[nodiscard]] std::optional<Race> start(std::int32_t agent, trace::CopyRow copy, Access read,
                                            Access write);
    // As the agent starts its part of a copy that blocks make for each other, it and those that
    // have started theirs write to each other's memory. Returns the first access in there which
    // the starter of the part there knew of, and the starter of another part did not, and the agent
    // and the place of the latter.
    [[nodiscard]] std::optional<std::pair<Race, Accessor>> share(std::int32_t agent,
                                                                 const SharedWrite& write);

    // A product starts: it reads its operands until finish(). Each reads is an access by `agent`.
    // Returns the first conflict, and with which of them, if there is one.
    [[nodiscard]] std::optional<std::pair<Race, std::size_t>>
    start(std::int32_t agent, std::vector<Access> reads, UnderwayReads& product);
    // The agent has waited for it.
    void finish(std::int32_t agent, const UnderwayReads& product);

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
    // All that the agent knows of becomes known to its copies and products (commit_smem).
    void commit(std::int32_t agent);

    // The agent changes one element of a buffer atomically: it learns what those knew who did so
    // before, and those who do so later learn what it knows.
    void synchronise(std::int32_t agent, std::int32_t buffer, std::int64_t element);

    // The copies from or to this buffer that were started and not waited for.
    [[nodiscard]] std::vector<Race> unawaited(std::int32_t buffer) const;
    // Accesses of a part of this buffer of which somebody who knows this much does not know.
    [[nodiscard]] std::vector<Race> unknownTo(const Epochs& known, std::int32_t buffer,
                                              const Reach& part) const;
    // The memory is released.
    void forget(std::int32_t buffer);

    // The agent begins a kernel: from now on the kernel's on-chip memory belongs to the kernel.
    void enter(std::int32_t agent);
    // Whether the agent knows that the other one has begun the kernel that it runs.
    [[nodiscard]] bool knowsEntry(std::int32_t agent, std::int32_t other) const;

private:
    friend class StateHasher;

public:
    // What a wait ordered.
    struct Settled
    {
        std::int32_t agent = -1; // that waited
        std::uint32_t epoch = 0; // of that agent, at its wait
        std::vector<UnderwayAccess> ends;
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
    static constexpr std::uint32_t kLate = std::numeric_limits<std::uint32_t>::max();

    struct Past // an access by an agent that other agents may not know about
    {
        std::int32_t agent = -1;
        std::uint32_t epoch = 0; // kLate: nobody can know of it yet
        std::uint32_t made = 0;  // the agent's epoch when it made the access
        std::int64_t start = 0;  // where its elements begin on the first axis
        std::shared_ptr<const Reach> reach;
        trace::OptionalRow<trace::StepRow> step;
        ir::LocationId location;
        bool adds = false;
        Proxy proxy = Proxy::None;
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
        [[nodiscard]] const Past* conflict(std::int32_t agent, const Epochs& known,
                                           const Reach& reach, bool adds) const;

        // The same for those of the generic proxy that `committed` does not cover, by any agent.
        [[nodiscard]] const Past* uncommitted(const Epochs& committed, const Reach& reach,
                                              bool adds) const;

        // The same for those by agents themselves that `mine` covers and `others` does not.
        [[nodiscard]] const Past* knownOnly(const Epochs& mine, const Epochs& others,
                                            const Reach& reach) const;

        // All accesses of any agent that reach into there and that `known` does not cover, by age.
        [[nodiscard]] std::vector<const Past*> conflicts(const Epochs& known, const Reach& reach,
                                                         bool adds) const;

    private:
        friend class StateHasher;

        // Calls visit(number of an access) for those that start in [from, to), and for some others.
        template<class F>
        void near(std::int64_t from, std::int64_t to, F visit) const;
        // The first, by start and then by age, that shares elements with `reach` and for which
        // isOpen(Past) holds.
        template<class F>
        [[nodiscard]] const Past* firstAt(const Reach& reach, bool adds, F isOpen) const;
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

    // What the blocks of a cluster have started of the copies that they make for each other into
    // one place.
    struct Share
    {
        std::int64_t round = 0; // of its block's copies to this place
        std::int32_t agent = -1;
        Epochs known; // what the agent knew
        SharedWrite write;
    };

    struct Shares
    {
        std::map<std::int32_t, std::int64_t> rounds; // by block: how many it has started
        std::vector<Share> open;                     // those that some block has yet to start
    };

    // The buffer, and where it begins and ends in the memory of a block.
    using SharedPlace = std::pair<std::int32_t, std::vector<std::int64_t>>;

    [[nodiscard]] std::optional<Race> intoPeer(const Share& other, const Share& mine) const;

    [[nodiscard]] std::optional<Race> againstCopies(const Access& access) const;
    [[nodiscard]] std::optional<Race> againstAgents(std::int32_t agent, const Access& access) const;
    [[nodiscard]] std::optional<Race> check(std::int32_t agent, const Access& access) const;
    [[nodiscard]] bool isUnwritten(const Access& access) const;

    // Whether it is worth remembering, since a later access may conflict.
    [[nodiscard]] bool mayMatter(const Access& access) const
    {
        return !isAll(access.place)
               && ((isShared() && !access.isUncontested) || access.proxy == Proxy::Generic);
    }

    void complete(std::int32_t agent, const Mover& mover, std::int32_t buffer);
    void doubt(const UnderwayAccess& end, const VectorClock& started,
               std::vector<Doubt>& doubts) const;
    void remember(std::int32_t agent, const Access& access,
                  trace::OptionalRow<trace::CopyRow> copy = {});

    [[nodiscard]] bool isShared() const { return m_clocks.size() > 1; }

    [[nodiscard]] VectorClock& clock(std::int32_t agent)
    {
        return m_clocks[static_cast<std::size_t>(agent)];
    }

    // How many releases the agent has made.
    [[nodiscard]] std::uint32_t epoch(std::int32_t agent) { return clock(agent).known[agent]; }

    void release(std::int32_t agent) { clock(agent).known.release(agent); }

    template<class T>
    [[nodiscard]] static T& of(std::vector<T>& perBuffer, std::int32_t buffer)
    {
        const auto at = static_cast<std::size_t>(buffer);
        if (at >= perBuffer.size()) {
            perBuffer.resize(at + 1);
        }
        return perBuffer[at];
    }

    std::vector<VectorClock> m_clocks; // for each agent; each begins with one release
    // For each buffer: by copies and products that were started and not waited for.
    std::vector<UnderwayAccesses> m_underway;
    std::int64_t m_products = 0;        // how many were started
    std::vector<History> m_past;        // for each buffer
    std::vector<std::uint32_t> m_lives; // for each buffer: how often it was released
    // For each element, by buffer and number: what those knew who changed it atomically.
    std::map<std::pair<std::int32_t, std::int64_t>, VectorClock> m_atomic;
    std::map<SharedPlace, Shares> m_shares;
    std::vector<std::uint32_t> m_entered; // for each agent: its epoch when it began its last kernel
};

} // namespace pallascope::machine
