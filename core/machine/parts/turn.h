// Whose turn it is and what ends the turn; and what this agent names: its values and refs, and the
// memory behind them.
#pragma once

#include "core/machine/parts/ending.h"
#include "core/machine/prepare/prepared.h"
#include "core/machine/record/recorder.h"
#include "core/machine/state/state.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace pallascope::machine {

// Where a run pauses: when it has had this many events, or before anything begins or retires after
// this time.
struct Until
{
    std::int64_t events = std::numeric_limits<std::int64_t>::max();
    Picoseconds time{std::numeric_limits<std::int64_t>::max()};
};

class Turn
{
public:
    // All of these outlive it. `fill` is what undefined memory reads as.
    Turn(const Prepared& prepared, Fill fill, const Recorder& recorder, const Ending& ending,
         Slab<Memory>& memory)
        : m_prepared(prepared)
        , m_slots(prepared.slots)
        , m_recorder(recorder)
        , m_ending(ending)
        , m_memory(memory)
        , m_fill(fill)
    {}

    [[nodiscard]] Agent& agent() const { return *m_agent; }

    void give(Agent& agent) { m_agent = &agent; }

    [[nodiscard]] bool isOf(const Agent& agent) const { return m_agent == &agent; }

    // The turn ends at this time at the latest, because another agent or a signal comes then.
    void endBy(Picoseconds time) { m_horizon = std::min(m_horizon, time); }

    void endAt(Picoseconds time) { m_horizon = time; }

    [[nodiscard]] Picoseconds horizon() const { return m_horizon; }

    [[nodiscard]] bool isOvertaken() const { return m_agent->time >= m_horizon; }

    void runUntil(const Until& until)
    {
        m_until = until;
        m_paused = false;
    }

    [[nodiscard]] const Until& until() const { return m_until; }

    // Sets whether the run pauses in the middle of a segment.
    void pauseWithin(bool pauses) { m_paused = pauses; }

    // Whether the run is where it was told to pause.
    [[nodiscard]] bool isAtPause() const
    {
        return m_paused || m_recorder.position().events >= m_until.events;
    }

    // Whether the run pauses or ends here. Both leave a frame in the same state, so that a run that
    // ends is in the same state wherever it was paused on the way.
    [[nodiscard]] bool halts() const { return m_ending.isReached() || isAtPause(); }

    [[nodiscard]] bool yields() const { return isOvertaken() || halts(); }

    [[nodiscard]] RuntimeValue& value(ir::ValueId id) const
    {
        return m_agent->values[m_slots.of(id)];
    }

    // The value of an int32 scalar.
    [[nodiscard]] std::int64_t number(ir::ValueId id) const
    {
        return static_cast<std::int64_t>(value(id).scalar);
    }

    [[nodiscard]] RefBinding& binding(ir::ValueId ref) const
    {
        return m_agent->refs[m_slots.of(ref)];
    }

    [[nodiscard]] Buffer& buffer(std::int32_t index) const { return m_memory[index].contents; }

    // The shape of the memory in which a ref lies. For semaphores that is the ref's own shape,
    // since they are numbered one after another; other memory is a buffer.
    [[nodiscard]] const Shape& memoryShape(ir::ValueId ref) const
    {
        if (!ir::isSemaphore(*m_prepared.program.type(ref).space)) {
            return buffer(binding(ref).buffer).shape();
        }
        return m_prepared.program.type(m_prepared.rootOf(ref)).shape;
    }

    // The number of the semaphore to which a ref refers.
    [[nodiscard]] std::int32_t semaphoreOf(ir::ValueId ref) const
    {
        const RefBinding& where = binding(ref);
        return where.buffer + static_cast<std::int32_t>(where.whole ? 0 : where.view.offset);
    }

    [[nodiscard]] Fill fill() const { return m_fill; }

    // A buffer of which nothing is defined.
    [[nodiscard]] Buffer undefined(DType dtype, Shape shape) const
    {
        return {dtype, std::move(shape), m_fill};
    }

private:
    Agent* m_agent = nullptr;
    const Prepared& m_prepared;
    const Slots& m_slots;
    const Recorder& m_recorder;
    const Ending& m_ending;
    Slab<Memory>& m_memory;
    Fill m_fill;
    Picoseconds m_horizon;
    Until m_until;
    bool m_paused = false;
};

} // namespace pallascope::machine
