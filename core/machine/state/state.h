// The state of a run at one moment, as plain values: agents with their frames, memories, copies
// under way, semaphores.
#pragma once

#include "core/machine/memory/memory.h"
#include "core/machine/memory/refs.h"
#include "core/machine/state/frames.h"
#include "core/machine/state/link.h"
#include "core/machine/state/queue.h"
#include "core/machine/state/races.h"
#include "core/machine/state/slab.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace pallascope::machine {

// What an agent waits for.
struct Waiting
{
    std::optional<std::int32_t> semaphore; // else for other cores of its core_map, or other slots
    std::int64_t amount = 0;
    bool decrement = true;
    Picoseconds since;
    const ir::Operation* operation = nullptr;
};

struct Agent
{
    std::int32_t id = 0;   // its place in State::agents
    std::int32_t kind = 0; // index into chip::Chip::agents; -1: of a unit that is asked by hand
    std::int32_t device = 0, slot = 0, core = 0;
    std::int32_t cores = 1; // of the core_map around
    std::int32_t block = 0; // of its grid
    const ir::CoreMapParams* mesh = nullptr;
    bool yields = false; // others that have come as far go first
    Picoseconds time;
    std::vector<Frame> frames;
    std::int32_t step = -1;               // row of trace::Steps that it works on, -1: none
    std::vector<RuntimeValue> values;     // by slot
    std::vector<RefBinding> refs;         // by slot
    std::optional<std::size_t> gridFrame; // the innermost pipeline's frame, for program_id
    std::optional<Waiting> waiting;

    [[nodiscard]] bool isDone() const { return frames.empty(); }
};

// A product in a result FIFO of the matrix unit.
struct Product
{
    RuntimeValue value; // where values are needed
    Picoseconds ready;
};

struct Memory
{
    Buffer contents;
    bool written = false;       // stored to since its stay began
    bool isUncontested = false; // between agents: one core's alone, or nobody writes to it
    bool isConstant = false;    // nobody writes to it, copies neither
    Picoseconds ready;          // of an accumulator: what was asked for so far is in it
    std::vector<Product> fifo;  // of an accumulator that is one: the next to be taken first
    bool explained = false;     // a finding says why some of it is undefined
    ir::LocationId undefinedBy; // the last store to it, or copy by hand, of something undefined
    ir::LocationId broughtBy;   // the last copy by hand to it
};

// One end of a copy that signals a semaphore, until a wait makes sure of it.
struct HeldCopy
{
    std::int32_t copy = -1; // row of trace::Copies
    AwaitedCopy awaited;    // what the wait puts in order
    std::int64_t bytes = 0;
    bool onlyReads = false; // its semaphore is the source's
};

struct Semaphore
{
    ir::MemorySpace space = ir::MemorySpace::Semaphore;
    std::int64_t count = 0;
    std::int32_t row = -1;           // of trace::Info::semaphores
    std::int32_t lastCopy = -1;      // that signalled it, row of trace::Copies
    std::vector<AwaitedCopy> landed; // that signalled it since somebody waited
    std::vector<HeldCopy> held;      // Semaphores::holdsCopies: in the order of their starts
    std::int64_t executed = 0;       // on_wait: bytes done and not yet taken off; else taken off of
                                     // copies that may or may not be done
    VectorClock clock;
    ir::LocationId location; // of what signalled it last
};

// A copy that moves data: it reads at its start and lands at its end.
struct Flight
{
    Picoseconds start, end;
    bool out = false, started = false;
    bool explained = false; // as Memory::explained, of what it writes back
    std::int32_t step = -1; // row that issued it
    std::int32_t copy = -1; // row of trace::Copies
    // Of a pipeline's copy:
    const OperandPlan* operand = nullptr;
    std::int32_t slotBuffer = -1;
    std::int64_t block = 0;
    RefBinding array;
    Buffer payload;
    // By hand:
    RefBinding source, target;
    RuntimeValue elements;
    ir::LocationId location; // of the copy; of one of a pipeline: as Memory::undefinedBy
    std::vector<std::pair<RefBinding, RefBinding>> rows; // of listed ones: from where to where
    std::vector<RuntimeValue> ofRows;
    bool adds = false;

    [[nodiscard]] bool touches(SlabRange buffers) const
    {
        const auto in = [&](std::int32_t buffer) {
            return buffers.first <= buffer && buffer < buffers.first + buffers.count;
        };
        return in(slotBuffer) || in(source.buffer) || in(target.buffer);
    }
};

// What a manual DMA will add to a semaphore.
struct Signal
{
    Picoseconds at;
    std::int32_t semaphore = -1;
    std::int64_t amount = 0;
    AwaitedCopy copy;
    ir::LocationId location;
    VectorClock clock; // of another device that sent it
};

// What signals that came before their semaphore have left for it.
struct EarlySignal
{
    std::int64_t amount = 0;
    VectorClock clock;
};

// Copies under way. A link is a bandwidth server with one queue.
struct CopyState
{
    std::vector<FifoLink> links;        // device by device
    std::vector<Queue<Flight>> flights; // by link, in order
    std::vector<Flight> held;           // dma_execution_mode=on_wait
};

struct SyncState
{
    Slab<Semaphore> semaphores;
    Queue<Signal> signals; // by time, the next one first
    // Barrier semaphores by (collective_id, agent); signals that came before their semaphore, by
    // (agent, ref, element).
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> barriers;
    std::map<std::tuple<std::int32_t, ir::ValueId, std::int64_t>, EarlySignal> early;
};

struct State
{
    // Cores in order, of one slot after the other, then the units that are asked by hand (which are
    // agents without a program: `time` is when one is free), of one device after the other.
    std::deque<Agent> agents;
    std::vector<std::int32_t> dispatched; // by device: blocks of its core_map that have begun
    Slab<Memory> memory;
    CopyState copies;
    SyncState sync;
    std::set<std::int32_t> aliased; // buffers that an input and an output share
    Races races;
    std::optional<Picoseconds> delivered; // a signal, since the last turn of an agent
    bool stopped = false;                 // a finding ended the run before the program did
    std::int64_t turns = 0;               // frames entered or resumed
};

} // namespace pallascope::machine
