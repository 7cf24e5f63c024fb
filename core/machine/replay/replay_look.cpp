// Reads what can be seen at one moment of a replay.
#include "core/machine/replay/replay_impl.h"
#include "core/machine/replay/upcoming.h"
#include "core/machine/state/state_hash.h"
#include "core/trace/pipelines.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace pallascope::machine {

namespace {

// Adds the refs of a region that refer to memory, each of them once.
void addRefs(const Prepared& prepared, const Agent& agent, const ir::Region& region,
             std::vector<ir::ValueId>& refs)
{
    for (const ir::ValueId id : region.arguments) {
        const ir::Type& type = prepared.program.type(id);
        if (type.space && !ir::isSemaphore(*type.space)
            && agent.refs[prepared.slots.of(id)].buffer >= 0
            && std::find(refs.begin(), refs.end(), id) == refs.end()) {
            refs.push_back(id);
        }
    }
}

// What a barrier counts with the copies that have ended by then. The engine delivers their arrivals
// when all agents have come so far, while what they bring is shown in memory already.
void countArrivals(std::int32_t number, const SyncState& state, Picoseconds until,
                   Replay::SemaphoreCount& counted)
{
    const Semaphore& semaphore = state.semaphores[number];
    Barrier barrier = semaphore.barrier;
    std::int32_t parts = semaphore.parts;
    for (const Signal& signal : state.signals) {
        if (signal.semaphore == number && signal.at <= until && isWholeArrival(signal, parts)) {
            counted.count += barrier.arrive().completes ? 1 - barrier.needed() : 1;
        }
    }
    counted.phases = barrier.phase();
    counted.needed = barrier.needed();
}

// Where a copy writes, in elements of the memory behind `buffer`; nothing if it writes elsewhere.
std::vector<Reach> writtenBy(const Flight& flight, std::int32_t buffer, const Shape& memory)
{
    std::vector<Reach> written;
    for (const auto& [from, to] : flight.rows) {
        if (to.buffer == buffer) {
            written.push_back(reachOf(to, memory));
        }
    }
    if (flight.operand == nullptr) {
        if (flight.rows.empty() && flight.target.buffer == buffer) {
            written.push_back(reachOf(flight.target, memory));
        }
    } else if (!flight.out && flight.slotBuffer == buffer) {
        written.push_back({Extents(memory.rank(), 0), memory.extents(), nullptr});
    } else if (flight.out && flight.array.buffer == buffer) {
        forEachPart(flight.operand->box(flight.block), [&](const Box& part) {
            written.push_back(reachOf(boxOf(flight.array, memory, part), memory));
        });
    }
    return written;
}

// Writes 1 to the elements that a reach without parts covers.
void mark(const Reach& reach, const Shape& memory, std::byte* flags)
{
    Extents size;
    for (std::size_t axis = 0; axis < reach.start.size(); ++axis) {
        size.push_back(std::max<Extent>(reach.stop[axis] - reach.start[axis], 0));
    }
    fillStrided(flags, boxOf({}, memory, {reach.start, size, {}, {}}).view, 1);
}

// For each element of a ref, whether a copy that has not landed writes it; null if none does.
SharedBytes arrivingIn(const State& state, const RefBinding& ref)
{
    const Shape& memory = state.memory[ref.buffer].contents.shape();
    SharedBytes flags;
    const auto add = [&](const Flight& flight) {
        for (const Reach& reach : writtenBy(flight, ref.buffer, memory)) {
            if (!flags) {
                flags = allocateBytes(memory.elements());
                std::memset(flags.get(), 0, static_cast<std::size_t>(memory.elements()));
            }
            const std::vector<Reach> alone{reach};
            for (const Reach& part : reach.parts ? reach.parts->all : alone) {
                mark(part, memory, flags.get());
            }
        }
    };
    for (const Queue<Flight>& link : state.copies.flights) {
        std::for_each(link.begin(), link.end(), add);
    }
    std::for_each(state.copies.held.begin(), state.copies.held.end(), add);
    if (!flags || (ref.whole && ref.recasts.empty())) {
        return flags;
    }
    const std::int64_t count = shapeOf(ref, memory).elements();
    if (!ref.recasts.empty()) { // which of its elements they are, strides cannot say
        SharedBytes all = allocateBytes(count);
        std::memset(all.get(), 1, static_cast<std::size_t>(count));
        return all;
    }
    const RuntimeValue seen =
        Buffer(DType::UInt8, memory, Fill::Zero, std::move(flags)).load(ref.view, ref.view.shape);
    if (!seen.isScalar()) {
        return seen.data;
    }
    SharedBytes one = allocateBytes(1);
    *one.get() = static_cast<std::byte>(seen.scalar);
    return one;
}

// What a ref holds, sharing the memory of the buffer if the ref is all of it.
Replay::Held heldBy(const RefBinding& ref, const Buffer& memory)
{
    Replay::Held held;
    if (ref.whole && ref.recasts.empty()) {
        held.elements = {memory.dtype(), memory.shape(),
                         memory.shadow().none() ? nullptr : memory.data()};
        held.defined = memory.shadow().all() ? nullptr : memory.shadow().mask;
        return held;
    }
    const RuntimeValue value = loadThrough(ref, memory);
    held.elements = {value.dtype, value.shape, value.data};
    if (value.isScalar()) {
        held.elements = makeArray(value.dtype, value.shape);
        writeElement(value.dtype, held.elements.data.get(), 0, value.scalar);
    }
    held.elements.data = value.shadow.none() ? nullptr : held.elements.data;
    held.defined = value.shadow.all() ? nullptr : value.shadow.mask;
    return held;
}

} // namespace

std::int64_t Replay::sequence() const
{
    return m_impl->sequence();
}

Picoseconds Replay::time() const
{
    return m_impl->engine.now();
}

bool Replay::isAtEnd() const
{
    return m_impl->engine.hasEnded();
}

std::vector<Replay::AgentPlace> Replay::places() const
{
    const Prepared& prepared = *m_impl->prepared;
    std::vector<AgentPlace> places;
    for (const Agent& agent : m_impl->engine.state().agents) {
        AgentPlace place;
        place.agent = m_impl->engine.recorder().agentName(agent.id);
        place.time = m_impl->engine.timeOf(agent);
        place.step = agent.step;
        place.isDone = agent.isDone();
        if (!agent.isDone() && agent.mesh != nullptr
            && prepared.description.gridOf(*agent.mesh) >= 0) {
            place.block = agent.block;
        }
        if (!agent.isDone()) {
            place.next = upcomingOf(prepared, agent).operation;
        }
        if (agent.waiting && agent.waiting->semaphore) {
            const Engine& engine = m_impl->engine;
            const auto row = engine.state().sync.semaphores[*agent.waiting->semaphore].row.value();
            place.waits = engine.recorder().builder.info.semaphores[row.index()].name;
        }
        if (agent.kind == 0 && agent.core == 0 && agent.place == 0) {
            addRefs(prepared, agent, prepared.program.body, place.refs);
        }
        for (const Frame& frame : agent.frames) {
            if (const auto* block = std::get_if<BlockFrame>(&frame)) {
                addRefs(prepared, agent, *block->plan->region, place.refs);
            } else if (const auto* pipeline = std::get_if<PipelineFrame>(&frame)) {
                addRefs(prepared, agent, pipeline->item->control->regions[0], place.refs);
            }
        }
        places.push_back(std::move(place));
    }
    return places;
}

Replay::Contents Replay::contents(std::size_t agent, ir::ValueId ref, Picoseconds time)
{
    Contents contents;
    m_impl->engine.look(time, [&](const State& state) {
        const RefBinding& binding = state.agents[agent].refs[m_impl->prepared->slots.of(ref)];
        const RuntimeValue value = loadThrough(binding, state.memory[binding.buffer].contents);
        contents.elements = makeArray(value.dtype, value.shape);
        const std::int64_t count = value.elements();
        for (std::int64_t i = 0; i < count; ++i) {
            writeElement(value.dtype, contents.elements.data.get(), i,
                         value.isScalar() ? value.scalar
                                          : readElement(value.dtype, value.data.get(), i));
        }
        const SharedBytes defined = value.shadow.expanded(count);
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(defined.get());
        contents.defined.assign(bytes, bytes + count);
    });
    return contents;
}

void Replay::look(std::size_t agent, ir::ValueId ref, Picoseconds time,
                  const std::function<void(const Held&)>& see)
{
    m_impl->engine.look(time, [&](const State& state) {
        const RefBinding& binding = state.agents[agent].refs[m_impl->prepared->slots.of(ref)];
        Held held = heldBy(binding, state.memory[binding.buffer].contents);
        held.arriving = arrivingIn(state, binding);
        see(held);
    });
}

Replay::Held Replay::held(std::size_t agent, ir::ValueId ref, Picoseconds time)
{
    Held held;
    look(agent, ref, time, [&](const Held& now) { held = now; });
    return held;
}

bool Replay::computes(ir::ValueId ref) const
{
    return m_impl->prepared->needed.needsContents(ref);
}

std::vector<Replay::InFlight> Replay::inFlight() const
{
    std::vector<InFlight> copies;
    const auto add = [&](const Flight& flight) {
        const OperandPlan* operand = flight.operand;
        copies.push_back({flight.copy,
                          operand == nullptr
                              ? "manual DMA"
                              : operand->blockName(flight.block) + (flight.out ? " out" : " in"),
                          flight.start, flight.end});
    };
    for (const Queue<Flight>& link : m_impl->engine.state().copies.flights) {
        std::for_each(link.begin(), link.end(), add);
    }
    const std::vector<Flight>& held = m_impl->engine.state().copies.held;
    std::for_each(held.begin(), held.end(), add);
    std::erase_if(copies, [&](const InFlight& copy) { return copy.end <= time(); });
    return copies;
}

std::vector<Replay::SemaphoreCount> Replay::semaphores() const
{
    std::vector<SemaphoreCount> counts;
    const Slab<Semaphore>& slab = m_impl->engine.state().sync.semaphores;
    const Recorder& recorder = m_impl->engine.recorder();
    for (std::int32_t i = 0; i < slab.end(); ++i) {
        if (slab[i].row) { // otherwise it has been given back
            const trace::Semaphore& info = recorder.builder.info.semaphores[slab[i].row->index()];
            counts.push_back({info.name, recorder.agentName(info.agent), slab[i].count,
                              info.kind == "dma_semaphore"});
            if (slab[i].barrier.needed() > 0) {
                countArrivals(i, m_impl->engine.state().sync, time(), counts.back());
            }
        }
    }
    return counts;
}

std::vector<Replay::Cache> Replay::caches() const
{
    const std::vector<SectorCache>& caches = m_impl->engine.state().copies.caches;
    const auto& operands = m_impl->engine.recorder().builder.info.operands;
    std::vector<Cache> all;
    for (std::size_t device = 0; device < caches.size(); ++device) {
        const std::string of = caches.size() > 1 ? fmt::format("device {} ", device) : "";
        all.push_back({of + "L2", caches[device].capacity(), caches[device].held(), {}});
        for (const SectorCache::Share& share : caches[device].shares()) {
            const trace::Operand& operand = operands[static_cast<std::size_t>(share.operand)];
            all.back().arrays.push_back({std::string(trace::arrayName(operand)), operand.arrayBytes,
                                         share.held, share.hit, share.missed});
        }
    }
    return all;
}

const ir::Program& Replay::program() const
{
    return *m_impl->program;
}

std::size_t Replay::checkpointCount() const
{
    return m_impl->checkpoints.size();
}

Bytes Replay::checkpointBytes() const
{
    return m_impl->held;
}

std::uint64_t Replay::hash() const
{
    return hashOf(m_impl->engine.state());
}

} // namespace pallascope::machine
