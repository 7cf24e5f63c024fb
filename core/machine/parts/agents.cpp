#include "core/machine/parts/agents.h"

#include "core/ir/mesh.h"

#include <algorithm>

namespace pallascope::machine {

using ir::OpCode;

Agents::Agents(const Context& context, std::deque<Agent>& agents, Findings& findings)
    : m_prepared(context.prepared)
    , m_recorder(context.recorder)
    , m_turn(context.turn)
    , m_ending(context.ending)
    , m_agents(agents)
    , m_findings(findings)
{}

void Agents::add()
{
    const std::int32_t each = m_prepared.layout.perDevice();
    for (std::int32_t id = 0; id < m_prepared.layout.devices * each; ++id) {
        Agent& agent = m_agents.emplace_back();
        agent.id = id;
        agent.device = id / each;
        const std::int32_t number = id % each;
        const auto group =
            std::find_if(m_prepared.layout.groups.begin(), m_prepared.layout.groups.end(),
                         [&](const auto& one) { return number < one.first + one.count(); });
        const bool isUnit = group == m_prepared.layout.groups.end();
        agent.kind = isUnit ? -1 : group->kind;
        agent.order = id;
        if (!isUnit) {
            agent.core = agent.seat = (number - group->first) % group->cores;
            agent.place = agent.home = group->placeAt((number - group->first) / group->cores);
            agent.slot = group->slotOf(agent.home);
            if (agent.seat >= group->blockCores) {
                agent.parent = id - agent.seat + agent.seat % group->blockCores;
            }
            agent.order = id - number + group->first + agent.home * group->cores + agent.seat;
        }
        if (number == 0) {
            agent.values = m_prepared.constants.values();
            agent.refs.resize(m_prepared.slots.refs().size());
        }
    }
    m_turn.give(m_agents.front());
}

Agent& Agents::firstOf(std::int32_t device)
{
    return m_agents[static_cast<std::size_t>(device * m_prepared.layout.perDevice())];
}

Agent& Agents::agentAt(std::int32_t device, std::int32_t kind, std::int32_t place,
                       std::int32_t seat)
{
    const AgentGroup& group = m_prepared.layout.groupOf(kind);
    return m_agents[static_cast<std::size_t>(device * m_prepared.layout.perDevice() + group.first
                                             + group.before(place) * group.cores + seat)];
}

Agent& Agents::coreOf(const Agent& agent, std::int32_t core)
{
    const ir::CoreMapParams* mesh = m_turn.agent().mesh;
    const std::int32_t each = mesh == nullptr ? 1 : mesh->cores;
    return agentAt(agent.device, agent.kind, agent.place + core / each, core % each);
}

Agent& Agents::unitOf(std::int32_t owner, std::int32_t mxu)
{
    return m_agents[static_cast<std::size_t>(m_turn.agent().device * m_prepared.layout.perDevice()
                                             + m_prepared.layout.firstUnit()
                                             + owner * m_prepared.layout.asked + mxu)];
}

Agent& Agents::unitAt(std::int32_t mxu)
{
    return unitOf(m_prepared.layout.ownerOf(m_turn.agent().home, m_turn.agent().seat), mxu);
}

Agent& Agents::unitOfNext(std::int32_t mxu)
{
    const std::int32_t owner = m_prepared.layout.ownerOf(m_turn.agent().home, m_turn.agent().seat);
    return unitOf(std::min(owner + 1, m_prepared.layout.owners() - 1), mxu);
}

std::int64_t Agents::axisIndex(const ir::Operation& operation) const
{
    const std::string& name = std::get<ir::TextParams>(operation.params).text;
    if (const auto axis = ir::axisNamed(m_prepared.program.mesh, name)) {
        return ir::coordinate(m_prepared.program.mesh, m_turn.agent().device, *axis);
    }
    if (const auto axis = ir::axisNamed(m_turn.agent().mesh->grid, name)) {
        return ir::coordinate(m_turn.agent().mesh->grid, m_turn.agent().block, *axis);
    }
    const std::int32_t core =
        m_turn.agent().parent < 0 ? m_turn.agent().core : at(m_turn.agent().parent).core;
    const ir::CoreMapParams& mesh = *m_turn.agent().mesh;
    if (const auto axis = ir::axisNamed(mesh.cluster, name)) {
        return ir::coordinate(mesh.cluster, core / mesh.cores, *axis);
    }
    return core % mesh.cores;
}

Agent* Agents::peerOf(const ir::Operation& operation, bool named, std::size_t operand)
{
    const std::int64_t asked =
        named ? m_turn.number(operation.operands[operand]) : m_turn.agent().device;
    const auto who = [&] {
        return m_prepared.program.where(operation.location) + ": "
               + std::string(ir::opName(operation.code));
    };
    if (asked < 0 || asked >= m_prepared.layout.devices) {
        if (m_prepared.layout.devices == 1) {
            m_ending.fail(userError(who() + " names device " + std::to_string(asked)
                                    + "; the program runs on device 0 alone, as it has no mesh of "
                                      "devices."));
            return nullptr;
        }
        m_findings.stop(trace::found(
            trace::FindingKind::NoSuchDevice,
            m_recorder.agentName(m_turn.agent().id) + " names device " + std::to_string(asked)
                + ", but the mesh of " + m_prepared.program.name + " has "
                + std::to_string(m_prepared.layout.devices)
                + ", numbered from 0: the run stops there."
                + m_findings.calledFrom(operation.location),
            "", m_turn.agent().step, {},
            m_recorder.description().sourceLine(m_prepared.program, operation.location)));
        return nullptr;
    }
    if (asked != m_turn.agent().device && ir::reachesDevices(operation)
        && !m_prepared.chip.interconnect) {
        m_ending.fail(userError(who() + " reaches device " + std::to_string(asked)
                                + ", but the chip " + m_prepared.chip.title
                                + " has no interconnect; use a chip file with one."));
        return nullptr;
    }
    const auto device = static_cast<std::int32_t>(asked);
    // The blocks of another GPU need not run at the same places.
    const bool isAny = m_prepared.chip.multiprocessor && device != m_turn.agent().device;
    return isAny ? &firstOf(device) : &hereOn(device);
}

Agent& Agents::hereOn(std::int32_t device)
{
    const Agent& here = m_turn.agent();
    return device == here.device ? m_turn.agent()
                                 : agentAt(device, here.kind, here.home, here.seat);
}

// An array in GMEM of another device, at the same place as this device's.
void Agents::bindRemote(const ir::Operation& operation)
{
    const ir::ValueId ref = operation.operands[0];
    const Agent* peer = peerOf(operation, true, 1);
    if (peer == nullptr) {
        return;
    }
    const std::optional<std::int32_t> array = rootAt(*peer, ref);
    if (!array) {
        m_findings.stop(trace::found(
            trace::FindingKind::PeerNotReady,
            m_recorder.agentName(m_turn.agent().id) + " names " + m_prepared.refName(ref)
                + " of device " + std::to_string(peer->device)
                + ", which does not have it at that time. Put a barrier between the two before it."
                + m_findings.calledFrom(operation.location),
            m_prepared.refName(ref), m_turn.agent().step, {},
            m_recorder.description().sourceLine(m_prepared.program, operation.location)));
        return;
    }
    RefBinding& there = m_turn.binding(operation.results[0]);
    there = m_turn.binding(ref);
    there.buffer = *array;
}

std::optional<std::int32_t> Agents::rootAt(const Agent& agent, ir::ValueId ref) const
{
    const std::size_t root = m_prepared.slots.of(m_prepared.rootOf(ref));
    if (root >= agent.refs.size() || agent.refs[root].buffer < 0) {
        return std::nullopt;
    }
    return agent.refs[root].buffer;
}

void Agents::awaitEnd(Agent& agent, Picoseconds end)
{
    if (end > agent.time) {
        m_recorder.addWait({}, trace::AgentRow{agent.id}, agent.step, agent.time, end);
        agent.time = end;
    }
}

} // namespace pallascope::machine
