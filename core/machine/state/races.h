// Finds unordered accesses of one memory, by agents and by the copies that they start.
// Happens-before by vector clocks; a copy is a thread of its own from its start until somebody
// waits for it. As in JAX, jax/_src/pallas/mosaic/interpret (race_detection_state.py).
#pragma once

#include "core/ir/program.h"
#include "core/machine/memory/refs.h"
#include "core/machine/prepare/pipeline_operand.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace pallascope::machine {

// For each agent, how many of its releases (signals, copy starts) are known.
using VectorClock = std::vector<std::uint32_t>;

void learn(VectorClock& clock, const VectorClock& other);

// A part of a buffer, spelled out only when it may conflict. Default: all of it.
struct Place
{
    struct Located
    {
        RefBinding ref;
        Shape memory;                                // of its buffer
        std::optional<std::vector<RefBinding>> rows; // then these parts of it alone
    };

    std::shared_ptr<const Located> located;
    const OperandPlan* operand = nullptr; // then: its block number `block` of what is located
    std::int64_t block = 0;
    mutable std::shared_ptr<const Reach> reach; // once it was spelled out
};

struct Access
{
    std::int32_t buffer = -1;   // -1: nobody writes to it, so that nothing can be in conflict
    bool isUncontested = false; // no other agent reaches it, or nobody writes to it
    bool writes = false;
    std::int32_t step = -1;
    ir::LocationId location;
    Place place;
    bool adds = false; // to what is there, element by element: in any order with others that do
    bool byPipeline = false; // a copy that no author waits for
};

// A copy that somebody has waited for, and the buffers that it read and wrote; -1: the wait says
// nothing about that end.
struct AwaitedCopy
{
    std::int32_t copy = -1, from = -1, to = -1;
};

struct Race
{
    bool withCopy = false; // else with another agent
    bool otherWrites = false, writes = false;
    std::int32_t copy = -1;  // row of trace::Copies
    std::int32_t agent = -1; // whose other access it is, or who started the copy
    std::int32_t step = -1;  // of the other access
    ir::LocationId location;
    bool ofPipeline = false; // the copy
};

class Races
{
public:
    // `count` agents from `first` on begin with what `parent` knows; they end, and it knows what
    // they know. It may be one of them.
    void fork(std::int32_t parent, std::int32_t first, std::int32_t count);
    void join(std::int32_t parent, std::int32_t first, std::int32_t count);

    // An access by an agent: the first conflict, if any.
    [[nodiscard]] std::optional<Race> access(std::int32_t agent, const Access& access);

    // Whether an access of a buffer can conflict at all; asked before anything else.
    [[nodiscard]] bool mayConflict(std::int32_t buffer, bool isUncontested) const
    {
        return (isShared() && !isUncontested)
               || (static_cast<std::size_t>(buffer) < m_copies.size()
                   && !m_copies[static_cast<std::size_t>(buffer)].empty());
    }

    // A copy is started: it reads one buffer and writes another until it is awaited.
    [[nodiscard]] std::optional<Race> start(std::int32_t agent, std::int32_t copy, Access read,
                                            Access write);
    // The agent has waited for the copy: what it did is ordered before what the agent does now.
    void await(std::int32_t agent, const AwaitedCopy& copy);

    void signal(std::int32_t agent, VectorClock& semaphore);
    void wait(std::int32_t agent, const VectorClock& semaphore);

    // The copies from or to this buffer that were started and not awaited.
    [[nodiscard]] std::vector<Race> unawaited(std::int32_t buffer) const;
    // The memory is given back.
    void forget(std::int32_t buffer);

    // The agent begins a kernel: from here on what the kernel has on the chip is the kernel's.
    void enter(std::int32_t agent);
    // Whether the agent knows that the other has begun the kernel that it runs.
    [[nodiscard]] bool knowsEntry(std::int32_t agent, std::int32_t other) const;

private:
    friend class StateHasher;

    struct CopyAccess
    {
        std::int32_t copy = -1;
        std::int32_t otherBuffer = -1; // at its other end
        std::int32_t agent = -1;       // that started it
        Access access;
    };

    struct Past // an access by an agent that others may not know of
    {
        std::int32_t agent = -1;
        std::uint32_t epoch = 0;
        std::int64_t start = 0; // of the reach, on its first axis
        std::shared_ptr<const Reach> reach;
        std::int32_t step = -1;
        ir::LocationId location;
        bool adds = false;
        std::int32_t next = -1; // the one before it in its chain
    };

    // Found by where they start on the first axis: a hash table of stretches of that axis, none
    // shorter than any of the accesses.
    class PastAccesses
    {
    public:
        // A later access of the same place by the same agent takes the place of the earlier: what
        // is not ordered after it is not ordered after that one.
        void add(Past past);

        // The first, by start and then by age, that reaches into there and that another agent may
        // not know of.
        [[nodiscard]] const Past* conflict(std::int32_t agent, const VectorClock& known,
                                           const Reach& reach, bool adds) const;

    private:
        friend class StateHasher;

        // Calls visit(number of an access) for those that start in [from, to), and others.
        template<class F>
        void near(std::int64_t from, std::int64_t to, F visit) const;
        void link(std::int32_t number);
        void rebuild();

        [[nodiscard]] std::size_t chainOf(std::int64_t stretch) const
        {
            return static_cast<std::size_t>(stretch) & (m_chains.size() - 1);
        }

        std::vector<Past> m_all;            // in the order of their first times
        std::vector<std::int32_t> m_chains; // the last one of each; a power of two
        int m_shift = 0;                    // a stretch is 1 << m_shift long
    };

    struct History
    {
        PastAccesses reads, writes;
    };

    [[nodiscard]] std::optional<Race> againstCopies(const Access& access) const;
    [[nodiscard]] std::optional<Race> againstAgents(std::int32_t agent, const Access& access,
                                                    const Reach& reach) const;
    void remember(std::int32_t agent, const Access& access);
    // None: not started, or awaited before.
    [[nodiscard]] static std::vector<CopyAccess>::iterator find(std::vector<CopyAccess>& copies,
                                                                std::int32_t copy);

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

    std::vector<VectorClock> m_clocks{VectorClock{1}}; // by agent
    std::vector<std::vector<CopyAccess>> m_copies;     // by buffer: started, not awaited
    std::vector<History> m_past;                       // by buffer
    std::vector<std::uint32_t> m_entered;              // by agent: its epoch at its last kernel
};

} // namespace pallascope::machine
