// The state of a run at one moment, as plain values: agents with their frames, memories, copies
// under way, semaphores. A checkpoint is a copy of it.
#pragma once

#include "core/machine/memory/memory.h"
#include "core/machine/memory/refs.h"
#include "core/machine/state/barrier.h"
#include "core/machine/state/frames.h"
#include "core/machine/state/hindrances.h"
#include "core/machine/state/link.h"
#include "core/machine/state/queue.h"
#include "core/machine/state/races.h"
#include "core/machine/state/sector_cache.h"
#include "core/machine/state/slab.h"

#include <algorithm>
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
    // Empty: it waits for other cores of its core_map, or for other slots.
    std::optional<std::int32_t> semaphore;
    std::int64_t amount = 0;
    bool decrement = true;
    Picoseconds since;
    const ir::Operation* operation = nullptr;
};

// A group of copies out of SMEM that an agent waits for together.
struct StoreGroup
{
    std::vector<AwaitedCopy> copies;
    Picoseconds read, written; // when all of them have read SMEM, and written HBM
};

// A product of the tensor core that its agent has not waited for.
struct UnderwayProduct
{
    Picoseconds end;               // when a wait for it returns
    std::int32_t accumulator = -1; // the buffer to which it adds
    UnderwayReads reads;           // of its operands in SMEM; none if races are not looked for
};

struct Agent
{
    std::int32_t id = 0; // its index in State::agents
    // Index into chip::Chip::agents; -1: an instance of the matrix unit that the program uses
    // directly.
    std::int32_t kind = 0;
    std::int32_t device = 0, slot = 0; // of the chip
    // The place that it belongs to, as AgentGroup numbers them, and its number there.
    std::int32_t home = 0, seat = 0;
    // The place of the first block of the cluster whose block it runs, and its number among all
    // agents of that cluster. Without clusters the same as above.
    std::int32_t place = 0, core = 0;
    std::int32_t parent = -1; // of a warp: the agent that stands for its warpgroup
    std::int32_t order = 0;   // of agents with the same time, the one with the lowest goes first
    std::int32_t cores = 1;   // in the enclosing core_map
    std::int32_t block = 0;   // the number of its block in that core_map's grid
    const ir::CoreMapParams* mesh = nullptr;
    bool yields = false; // other agents with the same time go first
    Picoseconds time;
    std::vector<Frame> frames;
    trace::OptionalRow<trace::StepRow> step; // on which it works
    std::vector<RuntimeValue> values;        // by slot
    std::vector<RefBinding> refs;            // by slot
    std::optional<std::size_t> gridFrame; // index of the innermost pipeline's frame, for program_id
    std::optional<Waiting> waiting;
    std::vector<StoreGroup> groups; // closed and not known to be written, the oldest first
    std::size_t readGroups = 0;     // how many of these, from the oldest on, have been read
    StoreGroup openGroup;
    std::vector<UnderwayProduct> products;         // in the order of their requests
    std::vector<Access> tensorLoads, tensorStores; // of TMEM, for which it has not waited

    [[nodiscard]] bool isDone() const { return frames.empty(); }
};

// A product in a result FIFO of the matrix unit.
struct Product
{
    RuntimeValue value; // set if values are needed
    Picoseconds ready;
};

struct Memory
{
    // What it holds since its visit began, if it is a slot of an output, or else since it exists.
    enum class Holds : std::uint8_t
    {
        Nothing, // that a store, or the start of a copy, has brought
        Current, // what came at this index of the pipeline's parallel axes
        Carried  // what came at an index before
    };

    Buffer contents;
    Holds holds = Holds::Nothing;
    // No two agents can conflict over it: it belongs to one core, or nobody writes to it.
    bool isUncontested = false;
    bool isConstant = false;   // nobody writes to it, and no copy does
    bool hasProxies = false;   // SMEM for loads or stores and for copies or products; see Proxy
    Picoseconds ready;         // of an accumulator: when all requests so far are done
    std::vector<Product> fifo; // of a result FIFO: its products, the next one first
    bool explained = false;    // a finding already says why part of it is undefined
    // The last store or manual DMA that wrote something undefined to it. Code that capture adds has
    // no place.
    std::optional<ir::LocationId> undefinedBy;
    ir::LocationId broughtBy; // the last manual DMA to it
    std::int32_t device = 0;  // whose memory it is
};

// One end of a copy that signals a semaphore, kept until a wait guarantees that it is done.
struct HeldCopy
{
    trace::CopyRow copy;
    AwaitedCopy awaited; // what the wait will order
    std::int64_t bytes = 0;
    bool onlyReads = false; // the semaphore belongs to the source
    const ir::Operation* operation = nullptr;
    bool isReported = false; // whether a finding names an access that relied on a wait for it
    VectorClock started;     // what its starter knew then; kept where a wait may be doubted
};

// A copy that a wait was sure of. A copy that is started later, by an agent that does not know of
// the wait, might have signalled the semaphore in its place.
struct SettledCopy
{
    HeldCopy copy;
    Races::Settled settled;
};

struct Semaphore
{
    ir::MemorySpace space = ir::MemorySpace::Semaphore;
    std::int64_t count = 0;
    trace::OptionalRow<trace::SemaphoreRow> row; // none once it has been given back
    trace::OptionalRow<trace::CopyRow> lastCopy; // that signalled it last
    std::vector<AwaitedCopy> landed; // copies that signalled it since somebody last waited
    std::vector<HeldCopy> held;      // in the order of their starts; see Semaphores::holdsCopies
    std::int64_t heldBytes = 0;      // of all of them
    std::int64_t largestHeld = 0;    // none of them has more bytes
    bool isShared = false;           // whether copies that other devices start may signal it
    // If it is shared: copies that waits were sure of, while some agent may not know of the wait.
    std::vector<SettledCopy> settled;
    // With on_wait: bytes that are done and not yet subtracted; otherwise subtracted bytes of
    // copies that may not be done.
    std::int64_t executed = 0;
    VectorClock clock;
    ir::LocationId location;           // of what signalled it last
    std::vector<std::int32_t> waiters; // agents that wait for it, in ascending order
    // Only of a barrier, whose `count` is that of the arrivals in its open phase and whose `landed`
    // are the copies among them: what those know who have observed the last complete phase, and
    // the copies that arrived in it.
    Barrier barrier;
    VectorClock completed;
    std::vector<AwaitedCopy> arrivedCopies;
    std::int32_t parts = 0; // that have come of an arrival that several copies make together

    void hold(HeldCopy copy)
    {
        heldBytes += copy.bytes;
        largestHeld = std::max(largestHeld, copy.bytes);
        held.push_back(std::move(copy));
    }
};

inline void addWaiter(Semaphore& semaphore, std::int32_t agent)
{
    std::vector<std::int32_t>& waiters = semaphore.waiters;
    waiters.insert(std::lower_bound(waiters.begin(), waiters.end(), agent), agent);
}

// A copy that moves data. It reads when it starts and lands when it ends.
struct Flight
{
    Picoseconds start, end;
    bool out = false, started = false;
    bool explained = false;                  // as Memory::explained, for what it writes back
    std::int32_t agent = -1;                 // that started it
    trace::OptionalRow<trace::StepRow> step; // that issued it
    trace::CopyRow copy;
    // Only for a pipeline's copy:
    const OperandPlan* operand = nullptr;
    std::int32_t slotBuffer = -1;
    std::int64_t block = 0;
    RefBinding array;
    Buffer payload;
    // Only for manual DMA:
    RefBinding source, target;
    RuntimeValue elements;
    ir::LocationId location; // of the copy; of a pipeline's copy out as Memory::undefinedBy
    // For listed rows: from where to where each goes.
    std::vector<std::pair<RefBinding, RefBinding>> rows;
    std::vector<RuntimeValue> ofRows;
    ir::AtomicType reduction = ir::AtomicType::Xchg;

    [[nodiscard]] bool touches(SlabRange buffers) const
    {
        const auto in = [&](std::int32_t buffer) {
            return buffers.first <= buffer && buffer < buffers.first + buffers.count;
        };
        return in(slotBuffer) || in(source.buffer) || in(target.buffer);
    }
};

// What a manual DMA will add to a semaphore, and when.
struct Signal
{
    Picoseconds at;
    std::int32_t semaphore = -1;
    std::int64_t amount = 0;
    AwaitedCopy copy;
    ir::LocationId location;
    VectorClock clock;      // of the other device, or of the tensor core, that sent it
    std::int32_t parts = 1; // how many such signals make one arrival
};

// Whether a signal of a barrier is an arrival, or the last one of several that make one. Of these
// it counts in `parts` how many have come.
inline bool isWholeArrival(const Signal& signal, std::int32_t& parts)
{
    if (signal.parts == 1) {
        return true;
    }
    parts = (parts + 1) % signal.parts;
    return parts == 0;
}

// The sum of signals that came before their semaphore existed.
struct EarlySignal
{
    std::int64_t amount = 0;
    VectorClock clock;
};

// Copies under way. Each link is a bandwidth server with one queue.
struct CopyState
{
    std::vector<FifoLink> links;        // ordered by device
    std::vector<Queue<Flight>> flights; // for each link, in order
    std::vector<Flight> held;           // only with dma_execution_mode=on_wait
    std::vector<SectorCache> caches;    // for each device, where the chip has one
};

struct SyncState
{
    Slab<Semaphore> semaphores;
    Queue<Signal> signals; // by time, the earliest first
    // Barrier semaphores by (collective_id, agent), and signals that came before their semaphore by
    // (agent, ref, element).
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> barriers;
    std::map<std::tuple<std::int32_t, ir::ValueId, std::int64_t>, EarlySignal> early;
};

// What a collective run_scoped has allocated, which all agents of a block share.
struct SharedScope
{
    std::int32_t device = 0, kind = 0, place = 0;
    const ir::Operation* operation = nullptr;
    std::vector<std::int32_t> entered, inside; // agents: that have come, that have not left
    Owned owned;

    // If blocks of a cluster share it: what an agent that has left knew then.
    struct Left
    {
        std::int32_t block = 0; // the agent's, in the cluster
        VectorClock clock;
    };

    std::map<std::int32_t, Left> left; // by agent
};

// Through what the warpgroups of a GPU's block reduce arrays to one number.
struct ReductionScratch
{
    std::int32_t buffer = -1;
    std::int32_t block = -1; // whose it is, as Agent::block
};

// By the number of the first agent of the block's place.
using ReductionScratches = std::map<std::int32_t, ReductionScratch>;

// What the agents of a slot share, whichever place their blocks have.
struct SlotUse
{
    std::vector<Picoseconds> free; // when each unit of the chip is, and the port
    Hindrances ofProducts;
    std::optional<SectorCache> l1; // since the kernel's first load there, where the chip has one
};

// By device and slot.
using SlotUses = std::map<std::pair<std::int32_t, std::int32_t>, SlotUse>;

struct State
{
    // Ordered by device; on each device the cores of one slot after another, then the instances of
    // the matrix unit that the program uses directly. These are agents without a program, whose
    // `time` is when they are free.
    std::deque<Agent> agents;
    // For each device: how many blocks of its core_map have begun.
    std::vector<std::int32_t> dispatched;
    Slab<Memory> memory;
    std::vector<SharedScope> sharedScopes; // in the order in which they began
    SlotUses slotUses;
    ReductionScratches reductionScratches;
    CopyState copies;
    SyncState sync;
    std::set<std::int32_t> aliased; // buffers that an input and an output share
    Races races;
    std::optional<Picoseconds> delivered; // the time of a signal since the last turn of an agent
    bool stopped = false;                 // whether a finding ended the run before the program did
    std::int64_t turns = 0;               // number of frames entered or resumed
};

} // namespace pallascope::machine
