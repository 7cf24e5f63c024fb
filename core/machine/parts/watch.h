// Notes what happens to the elements of memory that somebody watches, and where NaNs come up. Parts
// tell it of every access. While nobody watches, that costs one test each.
#pragma once

#include "core/machine/prepare/prepared.h"
#include "core/machine/record/recorder.h"
#include "core/machine/state/state.h"
#include "core/machine/touch.h"

#include <map>
#include <utility>
#include <vector>

namespace pallascope::machine {

class Turn;

class Watch
{
public:
    // All of these outlive it.
    Watch(const Prepared& prepared, const Recorder& recorder, const Turn& turn, const State& state)
        : m_prepared(prepared)
        , m_recorder(recorder)
        , m_turn(turn)
        , m_agents(state.agents)
        , m_memory(state.memory)
    {}

    // Watches from this moment on.
    void begin(Watched watched);
    // Ends that. Returns what has been noted.
    [[nodiscard]] Touches end();

    [[nodiscard]] bool isOn() const { return m_isOn; }

    [[nodiscard]] bool seeksNans() const { return m_watched.nans; }

    // Who touches memory from now on: an operation of the current agent, or a copy.
    void byOperation(const ir::Operation& operation, std::int64_t event, Picoseconds time);
    // One outside of a segment, whose event has been counted.
    void byOperation(const ir::Operation& operation);
    // What a pipeline does between two events.
    void byPipeline(const ir::Operation& pipeline);
    void byCopy(const Flight& flight, Picoseconds time);

    // A scope or a pipeline of the current agent begins with memory for a ref, or ends with it.
    void created(ir::ValueId ref, SlabRange memories);
    void released(ir::ValueId ref, SlabRange memories);
    // A ref of the current agent shows this part of an array.
    void bound(ir::ValueId ref, const RefBinding& where);

    // A watched cell that is touched, and the cell at the other end of a copy.
    struct Hit
    {
        Cell cell;
        std::optional<Cell> other;
        std::int64_t position = 0, of = 0; // as in a Touch
    };

    using Hits = std::vector<Hit>;

    // While nobody watches, each of these has nothing to say after one test.
    [[nodiscard]] Hits in(const RefBinding& ref) const { return m_isOn ? hitsIn(ref) : Hits(); }

    [[nodiscard]] Hits in(std::int32_t memory, std::int64_t element) const
    {
        return m_isOn ? hitsIn(memory, element) : Hits();
    }

    // What a manual DMA or a pipeline's copy touches at its source or at its target.
    [[nodiscard]] Hits in(const Flight& flight, bool target) const
    {
        return m_isOn ? hitsIn(flight, target) : Hits();
    }

    [[nodiscard]] Hits inBlock(const OperandPlan& operand, const RefBinding& array,
                               std::int64_t block, std::int32_t slot, bool inSlot) const
    {
        return m_isOn ? hitsInBlock(operand, array, block, slot, inSlot) : Hits();
    }

    // All of some memories.
    [[nodiscard]] Hits in(SlabRange memories) const { return m_isOn ? hitsIn(memories) : Hits(); }

    void read(const Hits& hits)
    {
        if (!hits.empty()) {
            noteRead(hits);
        }
    }

    // Notes a write, with the contents before and after, from its construction to its end.
    class Writing
    {
    public:
        Writing(Watch& watch, Hits hits, Touch::Kind kind = Touch::Kind::Written)
            : m_watch(watch)
            , m_hits(std::move(hits))
            , m_kind(kind)
        {
            if (!m_hits.empty()) {
                begin();
            }
        }

        ~Writing()
        {
            if (!m_hits.empty()) {
                end();
            }
        }

        Writing(const Writing&) = delete;
        Writing& operator=(const Writing&) = delete;

    private:
        void begin();
        void end();

        Watch& m_watch;
        Hits m_hits;
        Touch::Kind m_kind;
        std::vector<Held> m_before;
    };

    void noteBirth(const ir::Operation& operation, bool isOfInf);
    void noteLoad(const RefBinding& ref, const RuntimeValue& loaded);

private:
    [[nodiscard]] Hits hitsIn(const RefBinding& ref) const;
    [[nodiscard]] Hits hitsIn(std::int32_t memory, std::int64_t element) const;
    [[nodiscard]] Hits hitsIn(const Flight& flight, bool target) const;
    [[nodiscard]] Hits hitsInBlock(const OperandPlan& operand, const RefBinding& array,
                                   std::int64_t block, std::int32_t slot, bool inSlot) const;
    [[nodiscard]] Hits hitsIn(SlabRange memories) const;
    void noteRead(const Hits& hits);
    [[nodiscard]] Held held(const Cell& cell) const;
    [[nodiscard]] Spot spotOf(const Cell& cell) const;

    // The ref that owns a memory, and the agent that has it: the first one of those that share it.
    struct Home
    {
        ir::ValueId ref;
        std::int32_t agent = -1;
    };

    [[nodiscard]] Home homeOf(std::int32_t memory) const;
    [[nodiscard]] bool isSharedWith(std::int32_t agent, const Home& home) const;
    [[nodiscard]] std::optional<std::int64_t> positionOf(ir::ValueId ref) const; // if it is watched
    [[nodiscard]] std::int32_t memoryOf(const Agent& agent, ir::ValueId ref) const;
    void add(const Cell& cell, std::int32_t owner, std::int32_t slot = -1);
    void byAgent();
    [[nodiscard]] Touch touch(Touch::Kind kind, const Hit& hit) const;

    [[nodiscard]] const Shape& shapeOfMemory(std::int32_t memory) const
    {
        return m_memory[memory].contents.shape();
    }

    const Prepared& m_prepared;
    const Recorder& m_recorder;
    const Turn& m_turn;
    const std::deque<Agent>& m_agents;
    const Slab<Memory>& m_memory;
    bool m_isOn = false;
    Watched m_watched;

    struct Entry
    {
        Cell cell;
        std::int32_t owner = -1;
        std::int32_t slot = -1; // as in a Touch
        bool isAsked = false;   // by its number, and not because of the ref that has it
    };

    std::vector<Entry> m_cells;
    std::map<std::int32_t, Home> m_created; // of memory created since it began, by its number
    Touch m_by; // what all touches of the current operation or copy have in common
    bool m_isCopy = false;
    Touches m_found;
    std::size_t m_nansLeft = 0; // loaded NaNs that may still be kept
};

} // namespace pallascope::machine
