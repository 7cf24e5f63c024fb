// Programs that several devices run at once: who they are, which part of an array each has, and
// what one of them names of another.
#include "core/base/check.h"
#include "core/ir/mesh.h"
#include "core/machine/engine/engine.h"

#include <algorithm>
#include <array>

namespace pallascope::machine {

using ir::OpCode;

// The first core of every device can run the program; the others have nothing until a core_map.
void Engine::addAgents()
{
    const std::int32_t each = m_layout.perDevice();
    m_state.dispatched.resize(static_cast<std::size_t>(m_layout.devices), 0);
    for (std::int32_t id = 0; id < m_layout.devices * each; ++id) {
        Agent& agent = m_state.agents.emplace_back();
        agent.id = id;
        agent.device = id / each;
        const std::int32_t number = id % each;
        const auto group =
            std::find_if(m_layout.groups.begin(), m_layout.groups.end(),
                         [&](const auto& one) { return number < one.first + one.count(); });
        const bool isUnit = group == m_layout.groups.end();
        agent.kind = isUnit ? -1 : group->kind;
        agent.slot = isUnit ? 0 : (number - group->first) / group->cores;
        agent.core = isUnit ? 0 : (number - group->first) % group->cores;
        if (number == 0) {
            agent.values = m_constants.values();
            agent.refs.resize(m_slots.refs().size());
        }
    }
    m_agent = &m_state.agents.front();
}

void Engine::addLinks()
{
    std::vector<FifoLink> one;
    for (const chip::Link& link : m_recorder.description().deviceLinks()) {
        one.emplace_back(link);
    }
    for (std::int32_t device = 0; device < m_layout.devices; ++device) {
        m_state.links.insert(m_state.links.end(), one.begin(), one.end());
    }
    m_state.flights.resize(m_state.links.size());
}

void Engine::begin()
{
    if (m_layout.devices > 1) {
        m_state.races.fork(0, 0, m_layout.devices * m_layout.perDevice());
    }
    for (Agent& agent : m_state.agents) {
        if (agent.id % m_layout.perDevice() == 0) {
            agent.frames.emplace_back(BlockFrame{m_plan.body});
            m_state.races.enter(agent.id);
        }
    }
    m_agent = &m_state.agents.front();
}

Agent& Engine::firstOf(std::int32_t device)
{
    return m_state.agents[static_cast<std::size_t>(device * m_layout.perDevice())];
}

Agent& Engine::agentAt(std::int32_t device, std::int32_t kind, std::int32_t slot, std::int32_t core)
{
    const AgentGroup& group = m_layout.groupOf(kind);
    return m_state.agents[static_cast<std::size_t>(device * m_layout.perDevice() + group.first
                                                   + slot * group.cores + core)];
}

namespace {

// The part of an array of all devices that one of them has.
StridedView partView(const ir::Program& program, const ir::Argument& argument, const Shape& all,
                     std::int32_t device)
{
    StridedView view = StridedView::whole(all);
    view.shape = program.type(argument.ref).shape;
    const std::vector<std::int64_t> start = ir::partStart(program, argument, device);
    for (std::size_t axis = 0; axis < start.size(); ++axis) {
        view.offset += start[axis] * view.strides[axis];
    }
    return view;
}

} // namespace

// Of this device.
Buffer Engine::partOf(const ir::Argument& argument, const Array& array) const
{
    const Buffer all(array.dtype, array.shape, m_options.settings.uninitializedMemory, array.data);
    const Shape& part = m_program.type(argument.ref).shape;
    if (part == array.shape) {
        return all;
    }
    const StridedView view = partView(m_program, argument, array.shape, m_agent->device);
    return {all.load(view, part), m_options.settings.uninitializedMemory};
}

// The parts of all devices in one array; of equal ones the first device's.
Buffer Engine::whole(const ir::Argument& argument)
{
    const ir::Type all = ir::wholeType(m_program, argument);
    const Shape& part = m_program.type(argument.ref).shape;
    m_agent = &firstOf(0);
    if (part == all.shape) {
        return buffer(binding(argument.ref).buffer);
    }
    Buffer result = undefined(all.dtype, all.shape);
    for (std::int32_t device = m_layout.devices; device-- > 0;) {
        m_agent = &firstOf(device);
        const Buffer& mine = buffer(binding(argument.ref).buffer);
        result.store(partView(m_program, argument, all.shape, device), mine.loadAll());
    }
    return result;
}

std::int64_t Engine::axisIndex(const ir::Operation& operation) const
{
    const std::string& name = std::get<ir::TextParams>(operation.params).text;
    if (const auto axis = ir::axisNamed(m_program.mesh, name)) {
        return ir::coordinate(m_program.mesh, m_agent->device, *axis);
    }
    if (const auto axis = ir::axisNamed(m_agent->mesh->grid, name)) {
        return ir::coordinate(m_agent->mesh->grid, m_agent->block, *axis);
    }
    return m_agent->core;
}

// The agent with this one's core number on the device that an operation names by its number; this
// one where it names none. Null when there is no such device, and the run ends.
Agent* Engine::peerOf(const ir::Operation& operation, bool named, std::size_t operand)
{
    const std::int64_t asked = named ? number(operation.operands[operand]) : m_agent->device;
    const auto who = [&] {
        return m_program.where(operation.location) + ": " + std::string(ir::opName(operation.code));
    };
    if (asked < 0 || asked >= m_layout.devices) {
        if (m_layout.devices == 1) {
            fail(userError(who() + " names device " + std::to_string(asked)
                           + "; the program runs on device 0 alone, as it has no mesh of "
                             "devices."));
            return nullptr;
        }
        stop({"no_such_device",
              trace::FindingClass::Structural,
              m_recorder.agentName(m_agent->id) + " names device " + std::to_string(asked)
                  + ", but the mesh of " + m_program.name + " has "
                  + std::to_string(m_layout.devices) + ", numbered from 0: the run stops there."
                  + calledFrom(operation.location),
              "",
              m_agent->step,
              {},
              m_recorder.sourceLine(m_program, operation.location),
              1});
        return nullptr;
    }
    if (asked != m_agent->device && operation.code == OpCode::DmaStart && !m_chip.interconnect) {
        fail(userError(who() + " copies to device " + std::to_string(asked) + ", but the chip "
                       + m_chip.title + " has no interconnect; a chip file with one is right."));
        return nullptr;
    }
    return asked == m_agent->device ? m_agent
                                    : &agentAt(static_cast<std::int32_t>(asked), m_agent->kind,
                                               m_agent->slot, m_agent->core);
}

// The buffer, or first semaphore, that an agent has for the ref that `ref` is a view of; -1: none
// now.
std::int32_t Engine::rootAt(const Agent& agent, ir::ValueId ref) const
{
    const std::size_t root = m_slots.of(rootOf(ref));
    return root < agent.refs.size() ? agent.refs[root].buffer : -1;
}

// The semaphore that is to `agent` what `ref` is to this one; -1: it has none now.
std::int32_t Engine::semaphoreAt(const Agent& agent, ir::ValueId ref)
{
    const std::int32_t mine = semaphoreOf(*m_agent, ref);
    if (&agent == m_agent) {
        return mine;
    }
    if (m_program.type(ref).space == ir::MemorySpace::BarrierSemaphore) {
        const auto known = std::find_if(m_state.barriers.begin(), m_state.barriers.end(),
                                        [&](const auto& one) { return one.second == mine; });
        PALLASCOPE_CHECK(known != m_state.barriers.end());
        return barrier(known->first.first, agent.id);
    }
    const std::int32_t first = rootAt(agent, ref);
    return first < 0 ? -1 : first + mine - rootAt(*m_agent, ref);
}

// Another agent does not have the target of a copy yet, or its semaphore. Those that have come as
// far go first; then the run ends.
bool Engine::comesLater(const Agent& peer, const ir::Operation& dmaStart)
{
    const std::array<ir::ValueId, 2> wanted{dmaStart.operands[1], dmaStart.operands[2]};
    const auto* const missing = std::find_if(wanted.begin(), wanted.end(), [&](ir::ValueId ref) {
        return &peer != m_agent && rootAt(peer, ref) < 0;
    });
    if (missing == wanted.end()) {
        m_agent->yields = false;
        return false;
    }
    if (!m_agent->yields) {
        m_agent->yields = true;
        --std::get<BlockFrame>(m_agent->frames.back()).next; // the operation, once more
        m_horizon = m_agent->time;
        return true;
    }
    stop({"peer_not_ready",
          trace::FindingClass::Structural,
          m_recorder.agentName(m_agent->id) + " copies to " + refName(dmaStart.operands[1])
              + " of device " + std::to_string(peer.device) + ", which does not have "
              + refName(*missing) + " at that time (" + m_program.where(dmaStart.location)
              + "). A barrier between the two before, or a wait after, is right.",
          refName(*missing),
          m_agent->step,
          {},
          m_recorder.sourceLine(m_program, dmaStart.location),
          1});
    return true;
}

// What a device has given back no other one may name.
void Engine::forgetBindings(SlabRange buffers)
{
    for (std::size_t i = 0; m_layout.devices > 1 && i < m_agent->refs.size(); ++i) {
        RefBinding& ref = m_agent->refs[i];
        if (!ir::isSemaphore(*m_program.type(m_slots.refs()[i]).space)
            && buffers.first <= ref.buffer && ref.buffer < buffers.first + buffers.count) {
            ref = {};
        }
    }
}

} // namespace pallascope::machine
