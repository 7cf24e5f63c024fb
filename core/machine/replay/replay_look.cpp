// Reads what can be seen at one moment of a replay.
#include "core/machine/replay/replay_impl.h"
#include "core/machine/state/state_hash.h"

#include <algorithm>

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

std::int32_t nextOperation(const Plan& plan, const Frame& frame)
{
    const auto* block = std::get_if<BlockFrame>(&frame);
    if (block == nullptr || block->next >= block->plan->items.size()) {
        return -1;
    }
    const PlanItem& item = block->plan->items[block->next];
    if (item.control != nullptr) {
        return item.control->id;
    }
    const auto& operations = plan.templates[static_cast<std::size_t>(item.templateId)].operations;
    return operations.empty() ? -1 : operations[static_cast<std::size_t>(block->done)];
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
        place.time = agent.time;
        place.step = agent.step;
        place.isDone = agent.isDone();
        place.next = agent.isDone() ? -1 : nextOperation(prepared.plan, agent.frames.back());
        if (agent.waiting && agent.waiting->semaphore) {
            place.waits = m_impl->engine.recorder().semaphoreName(
                m_impl->engine.state().sync.semaphores[*agent.waiting->semaphore].row);
        }
        if (agent.kind == 0 && agent.core == 0 && agent.slot == 0) {
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

Replay::Contents Replay::contents(std::size_t agent, ir::ValueId ref)
{
    return m_impl->engine.look([&](const State& state) {
        const RefBinding& binding = state.agents[agent].refs[m_impl->prepared->slots.of(ref)];
        const RuntimeValue value = loadThrough(binding, state.memory[binding.buffer].contents);
        Contents contents{makeArray(value.dtype, value.shape), {}};
        const std::int64_t count = value.elements();
        for (std::int64_t i = 0; i < count; ++i) {
            writeElement(value.dtype, contents.elements.data.get(), i,
                         value.isScalar() ? value.scalar
                                          : readElement(value.dtype, value.data.get(), i));
        }
        const SharedBytes defined = value.shadow.expanded(count);
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(defined.get());
        contents.defined.assign(bytes, bytes + count);
        return contents;
    });
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
        if (slab[i].row >= 0) { // otherwise it has been given back
            const trace::Semaphore& info =
                recorder.builder.info.semaphores[static_cast<std::size_t>(slab[i].row)];
            counts.push_back({info.name, recorder.agentName(info.agent), slab[i].count});
        }
    }
    return counts;
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
