#include "core/machine/parts/core_maps.h"

#include "core/ir/mesh.h"
#include "core/machine/ops/evaluate.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pallascope::machine {

CoreMaps::CoreMaps(const Context& context, std::vector<std::int32_t>& dispatched,
                   const std::int64_t& turns, Agents& agents, Semaphores& semaphores,
                   Accesses& accesses)
    : m_prepared(context.prepared)
    , m_recorder(context.recorder)
    , m_turn(context.turn)
    , m_ending(context.ending)
    , m_races(context.races)
    , m_dispatched(dispatched)
    , m_agents(agents)
    , m_semaphores(semaphores)
    , m_accesses(accesses)
    , m_longGrids(context, turns)
{
    const chip::Chip& chip = m_prepared.chip;
    const auto l2 = chip.memoryIndex("L2"), sm = chip.memoryIndex("SMEM");
    const auto link = l2 && sm ? chip.linkBetween(*l2, *sm) : std::nullopt;
    if (link) {
        m_claimTime = chip.links[static_cast<std::size_t>(*link)].latency;
    }
}

void CoreMaps::enter(const PlanItem& item)
{
    const auto& mesh = std::get<ir::CoreMapParams>(item.control->params);
    const AgentGroup& group = m_prepared.layout.groupOf(*m_prepared.chip.agentNamed(mesh.agents));
    const chip::AgentKind& kind = m_prepared.chip.agents[static_cast<std::size_t>(group.kind)];
    if (mesh.cores > kind.count) {
        m_ending.fail(userError(
            m_prepared.program.where(item.control->location) + ": core_map asks for "
            + std::to_string(mesh.cores) + " cores; the chip " + m_prepared.chip.title + " has "
            + std::to_string(kind.count) + (mesh.agents.empty() ? "." : " of " + kind.name + ".")));
        return;
    }
    Agent& caller = m_turn.agent();
    const Agent& first = m_agents.agentAt(caller.device, group.kind, 0, 0);
    if (const std::int32_t count = forked(group, mesh, first); count > 1 || first.id != caller.id) {
        m_races.fork(caller.id, first.id, count);
    }
    m_dispatched[static_cast<std::size_t>(caller.device)] = 0;
    m_longGrids.begin(*item.control, group.clustersOf(mesh));
    for (std::int32_t cluster = 0; cluster < group.clustersOf(mesh); ++cluster) {
        const std::int32_t place = group.placeOf(mesh, cluster);
        m_turn.give(m_agents.agentAt(caller.device, group.kind, place, 0));
        m_turn.agent().place = place;
        m_turn.agent().core = 0;
        m_turn.agent().cores = coresOf(mesh);
        m_turn.agent().mesh = &mesh;
        if (m_turn.agent().id != caller.id) {
            m_turn.agent().time = caller.time;
            m_turn.agent().values = caller.values;
            m_turn.agent().refs = caller.refs;
        }
        m_turn.agent().frames.emplace_back(CoresFrame{&item});
        dispatch(item);
    }
    m_turn.give(caller);
    if (first.id != caller.id) {
        caller.frames.emplace_back(AwayFrame{&item});
    }
}

// How many agents race tracking tells apart meanwhile, from the first one of the map on.
std::int32_t CoreMaps::forked(const AgentGroup& group, const ir::CoreMapParams& mesh,
                              const Agent& first) const
{
    const std::int32_t all = m_prepared.layout.perDevice();
    return group.usesTensorMemory ? all - first.id % all : group.running(mesh);
}

namespace {

// A block does not wait for what the block before it left under way.
void forgetUnderway(Agent& agent)
{
    agent.groups.clear();
    agent.readGroups = 0;
    agent.openGroup = {};
    agent.products.clear();
    agent.tensorLoads.clear();
    agent.tensorStores.clear();
}

} // namespace

// Begins the next block in the place of this agent.
void CoreMaps::dispatch(const PlanItem& item)
{
    const auto& mesh = std::get<ir::CoreMapParams>(item.control->params);
    forgetUnderway(m_turn.agent());
    std::int32_t& begun = m_dispatched[static_cast<std::size_t>(m_turn.agent().device)];
    begun = m_longGrids.pass(begun, m_turn.agent().time);
    m_turn.agent().block = begun++;
    record(m_turn.agent().block, false);
    m_turn.agent().frames.emplace_back(BlockFrame{item.regions[0]});
    m_agents.changed(m_turn.agent());
    for (std::int32_t core = 1; core < coresOf(mesh); ++core) {
        Agent& other = m_agents.coreOf(m_turn.agent(), core);
        other.place = m_turn.agent().place;
        other.core = core;
        other.cores = coresOf(mesh);
        other.block = m_turn.agent().block;
        other.mesh = &mesh;
        other.time = m_turn.agent().time;
        other.values = m_turn.agent().values;
        other.refs = m_turn.agent().refs;
        forgetUnderway(other);
        other.frames.emplace_back(BlockFrame{item.regions[0]});
        m_agents.changed(other);
    }
    m_turn.endBy(m_turn.agent().time); // the other cores begin now too
}

void CoreMaps::record(std::int32_t point, bool isClaimed)
{
    const ir::CoreMapParams& mesh = *m_turn.agent().mesh;
    const std::int32_t grid = m_recorder.description().gridOf(mesh);
    if (grid < 0) {
        return;
    }
    std::vector<std::int32_t> agents;
    for (std::int32_t core = 0; core < coresOf(mesh); core += mesh.cores) {
        agents.push_back(m_agents.coreOf(m_turn.agent(), core).id);
    }
    m_recorder.beginBlocks({grid, point, std::move(agents), isClaimed}, m_turn.agent().time);
}

// The current agent is done: agents that wait to join check again.
void CoreMaps::wakeJoining()
{
    if (m_turn.agent().kind < 0) {
        return;
    }
    const std::int32_t parent = m_turn.agent().parent;
    for (Agent* waiting : {&m_agents.at(parent < 0 ? m_turn.agent().id : parent),
                           &m_agents.coreOf(m_turn.agent(), 0),
                           &m_agents.agentAt(m_turn.agent().device, m_turn.agent().kind, 0, 0),
                           &m_agents.firstOf(m_turn.agent().device)}) {
        if (waiting->waiting && !waiting->waiting->semaphore) {
            waiting->waiting.reset();
            m_agents.changed(*waiting);
        }
    }
}

void CoreMaps::claim(const ir::Operation& operation)
{
    std::int32_t& begun = m_dispatched[static_cast<std::size_t>(m_turn.agent().device)];
    const bool isLeft = begun < ir::sizeOf(m_turn.agent().mesh->grid);
    if (isLeft) {
        record(begun, true);
    }
    const double answer = isLeft ? begun++ : -1;
    for (std::size_t i = 0; i < operation.operands.size(); i += 2) {
        const RefBinding& where = m_turn.binding(operation.operands[i]);
        Buffer& memory = m_turn.buffer(where.buffer);
        RuntimeValue number = RuntimeValue::scalarOf(DType::Int32, answer);
        ir::Operation everywhere{.code = ir::OpCode::BroadcastInDim};
        everywhere.params =
            ir::BroadcastParams{m_prepared.program.type(operation.operands[i]).shape, {}};
        const std::array<RuntimeValue*, 1> operands{&number};
        storeThrough(where, memory, evaluate(everywhere, operands, 0));
        Signal signal{m_turn.agent().time + m_claimTime,
                      m_turn.semaphoreOf(operation.operands[i + 1]),
                      1,
                      {},
                      operation.location,
                      {}};
        m_races.signal(m_turn.agent().id, signal.clock);
        m_semaphores.queue(std::move(signal));
    }
}

void CoreMaps::joinCores(const CoresFrame& frame)
{
    const PlanItem& item = *frame.item;
    const auto& mesh = std::get<ir::CoreMapParams>(item.control->params);
    const Picoseconds before = m_turn.agent().time;
    Picoseconds end = before;
    for (std::int32_t core = 1; core < coresOf(mesh); ++core) {
        const Agent& other = m_agents.coreOf(m_turn.agent(), core);
        if (!other.isDone()) {
            m_turn.agent().waiting = Waiting{.since = m_turn.agent().time};
            return;
        }
        end = std::max(end, other.time);
    }
    m_agents.awaitEnd(m_turn.agent(), end);
    if (m_prepared.chip.multiprocessor) { // the block holds its warpgroups until its end
        for (std::int32_t core = 1; core < coresOf(mesh); ++core) {
            m_agents.awaitEnd(m_agents.coreOf(m_turn.agent(), core), end);
        }
    }
    if (end > m_turn.horizon() || (end > before && end == m_turn.horizon())) {
        return; // another place may be free before this one
    }
    if (m_recorder.description().gridOf(mesh) >= 0) {
        m_recorder.endBlocks(m_turn.agent().id, end);
    }
    if (m_dispatched[static_cast<std::size_t>(m_turn.agent().device)] < ir::sizeOf(mesh.grid)) {
        // The launch covers that of a place's first block.
        m_turn.agent().time +=
            m_prepared.layout.groupOf(m_turn.agent().kind).blockStartOfMaps.at(&mesh);
        dispatch(item);
        return;
    }
    for (std::int32_t core = 1; core < coresOf(mesh); ++core) {
        m_agents.coreOf(m_turn.agent(), core).values = {};
        m_agents.coreOf(m_turn.agent(), core).refs = {};
    }
    if (m_turn.agent().place == 0) {
        joinPlaces(*item.control);
        return;
    }
    m_turn.agent().values = {};
    m_turn.agent().refs = {};
    m_turn.agent().frames.pop_back();
}

// The first place has no block left: the program goes on when the others have none left either.
void CoreMaps::joinPlaces(const ir::Operation& coreMap)
{
    Picoseconds end = m_turn.agent().time;
    const AgentGroup& group = m_prepared.layout.groupOf(m_turn.agent().kind);
    for (std::int32_t place = 1; place < group.places; ++place) {
        const Agent& other = m_agents.agentAt(m_turn.agent().device, m_turn.agent().kind, place, 0);
        if (!other.isDone()) {
            m_turn.agent().waiting = Waiting{.since = m_turn.agent().time};
            return;
        }
        end = std::max(end, other.time);
    }
    const std::int32_t count = forked(group, *m_turn.agent().mesh, m_turn.agent());
    // On a GPU, a place without blocks is idle, the first one like the others.
    if (m_prepared.chip.multiprocessor) {
        m_turn.agent().time = end;
    } else {
        m_agents.awaitEnd(m_turn.agent(), end);
    }
    m_turn.agent().time += m_longGrids.end();
    m_turn.agent().cores = 1;
    m_turn.agent().mesh = nullptr;
    m_turn.agent().frames.pop_back();
    const std::int32_t caller = m_agents.firstOf(m_turn.agent().device).id;
    if (m_prepared.chip.multiprocessor) {
        m_races.completeAll(m_turn.agent().id, count);
    }
    if (count > 1 || caller != m_turn.agent().id) {
        m_races.join(caller, m_turn.agent().id, count);
        m_semaphores.reportEarly(m_turn.agent().id, count);
    }
    m_accesses.endKernel(coreMap, caller);
    if (caller != m_turn.agent().id) {
        m_turn.agent().values = {};
        m_turn.agent().refs = {};
    }
}

void CoreMaps::joinOthers(const AwayFrame& frame)
{
    const PlanItem& item = *frame.item;
    const auto& mesh = std::get<ir::CoreMapParams>(item.control->params);
    const Agent& first =
        m_agents.agentAt(m_turn.agent().device, *m_prepared.chip.agentNamed(mesh.agents), 0, 0);
    if (!first.isDone()) {
        m_turn.agent().waiting = Waiting{.since = m_turn.agent().time};
        return;
    }
    m_agents.awaitEnd(m_turn.agent(), first.time);
    m_turn.agent().frames.pop_back();
}

} // namespace pallascope::machine
