// Copies and semaphores by hand. A wait that cannot go on leaves the agent waiting; a signal wakes
// it. Semantics: JAX jax/_src/pallas/mosaic/primitives.py; a copy adds its bytes to its semaphore
// when it has landed, a wait takes them off.
#include "core/base/check.h"
#include "core/base/format.h"
#include "core/machine/engine.h"

#include <algorithm>

namespace pallascope::machine {

using ir::OpCode;

namespace {

Bytes bytesOf(const ir::Type& type, const Shape& extents)
{
    return packedBytes(type.dtype, extents.elements());
}

} // namespace

void Engine::runSync(const PlanItem& item)
{
    const ir::Operation& operation = *item.control;
    m_recorder.countEvents(1);
    switch (operation.code) {
    case OpCode::MatmulPushRhs:
        pushRhs(operation);
        return;
    case OpCode::MatmulAccLhs:
    case OpCode::MatmulLhsFifo:
        accumulate(item);
        return;
    case OpCode::MatmulPop:
        pop(operation);
        return;
    case OpCode::MatmulPopFifo:
        popFirst(operation);
        return;
    case OpCode::DmaStart:
        startDma(operation);
        return;
    case OpCode::DmaWait:
        waitForDma(operation);
        return;
    case OpCode::SemaphoreSignal:
        signalByHand(operation);
        return;
    case OpCode::SemaphoreWait:
        wait(operation, semaphoreOf(*m_agent, operation.operands[0]), number(operation.operands[1]),
             std::get<ir::SemaphoreWaitParams>(operation.params).decrement);
        return;
    case OpCode::SemaphoreRead: {
        const std::int32_t semaphore = semaphoreOf(*m_agent, operation.operands[0]);
        value(operation.results[0]) = RuntimeValue::scalarOf(
            DType::Int32, static_cast<double>(m_state.semaphores[semaphore].count));
        return;
    }
    case OpCode::Delay:
        delay(operation);
        return;
    default:
        PALLASCOPE_CHECK(false && "exhaustive");
    }
}

void Engine::startDma(const ir::Operation& operation)
{
    const ir::ValueId from = operation.operands[0], to = operation.operands[1];
    const auto& params = std::get<ir::DmaParams>(operation.params);
    const bool listed = params.rows != ir::CopyRows::All;
    Agent* const peer =
        peerOf(operation, params.device, operation.operands.size() - (listed ? 2 : 1));
    if (peer == nullptr || comesLater(*peer, operation)) {
        return;
    }
    const bool isRemote = peer->device != m_agent->device;
    RefBinding source = binding(from), target = binding(to);
    if (isRemote) {
        target.buffer = rootAt(*peer, to);
    }
    const Shape extents = source.asked ? *source.asked : shapeOf(source, memoryShape(from));
    const Shape wanted = target.asked ? *target.asked : shapeOf(target, memoryShape(to));
    Rows rows;
    if (listed) {
        std::optional<Rows> found = listedRows(operation, source, target);
        if (!found) {
            return;
        }
        rows = std::move(*found);
    } else if (extents != wanted) {
        fail(userError(m_program.where(operation.location) + ": dma_start copies "
                       + toString(extents) + " elements of " + refName(from) + " to "
                       + toString(wanted) + " of " + refName(to) + "; as many are right."));
        return;
    }
    if (source.asked || target.asked) {
        dropPadding(from, to, source, target);
    }
    const Description::CopySite& site = m_recorder.description().copySite(operation);
    const Bytes useful =
        bytesOf(m_program.type(from), params.rows == ir::CopyRows::Source ? wanted : extents);
    const Bytes bytes = isRemote ? useful : useful * site.passes;
    Description::Route route{site.link, Picoseconds(0)};
    if (isRemote) {
        route = m_recorder.description().route(m_program, m_agent->device, peer->device);
    }
    const std::int32_t link = linkHere(route.link);
    const auto service =
        m_state.links[static_cast<std::size_t>(link)].serve(m_agent->time + route.detour, bytes);
    if (!service) {
        fail(limitError("The run takes longer than 53 days on this chip; more bandwidth or less "
                        "work is right."));
        return;
    }
    const std::int64_t offset = offsetOf(site.out ? target : source);
    const std::int32_t copy =
        m_recorder.addCopy(site.operand, m_recorder.blockOf(site, offset), 0, site.out, link,
                           m_agent->step, bytes, m_agent->time, service->start, service->end);
    Memory& memory = m_state.memory[target.buffer];
    memory.written = true;
    const auto access = [&](ir::ValueId ref, const RefBinding& where, bool writes) {
        const Memory& at = m_state.memory[where.buffer];
        Access one{at.isConstant ? -1 : where.buffer,
                   at.isUncontested,
                   writes,
                   m_agent->step,
                   operation.location,
                   {}};
        one.adds = params.add && writes;
        if (m_isAlone && where.whole && !listed) { // all of it, as a place is
            return one;
        }
        Place::Located located{where, memoryShape(ref), {}};
        if (params.rows == (writes ? ir::CopyRows::Target : ir::CopyRows::Source)) {
            located.rows.emplace();
            for (const auto& [here, there] : rows) {
                located.rows->push_back(writes ? there : here);
            }
        }
        one.place.located = std::make_shared<Place::Located>(std::move(located));
        return one;
    };
    if (extents.elements() > 0 && m_detects && !(listed && rows.empty())) {
        if (const std::optional<Race> race = m_state.races.start(
                m_agent->id, copy, access(from, source, false), access(to, target, true))) {
            reportRace(*race, refName(race->writes ? to : from), copy, m_agent->step,
                       operation.location);
        }
    }
    VectorClock clock;
    if (isRemote) {
        m_state.races.signal(m_agent->id, clock);
    }
    for (std::size_t i = 2; i < (params.sourceSemaphore ? 4U : 3U); ++i) {
        // Either end of a copy to another device is waited for alone.
        const bool atTarget = i == 2;
        const AwaitedCopy both{copy, source.buffer, target.buffer};
        const AwaitedCopy end =
            atTarget ? AwaitedCopy{copy, -1, target.buffer} : AwaitedCopy{copy, source.buffer, -1};
        Signal signal{
            service->end,       semaphoreAt(atTarget ? *peer : *m_agent, operation.operands[i]),
            useful.value(),     isRemote ? end : atTarget ? both : AwaitedCopy{},
            operation.location, clock};
        if (holdsCopies()) {
            m_state.semaphores[signal.semaphore].held.push_back(
                {copy, signal.copy, signal.amount, !atTarget});
        }
        const auto sooner = [](const Signal& a, const Signal& b) { return a.at < b.at; };
        auto& signals = m_state.signals;
        m_horizon = std::min(m_horizon, signal.at);
        signals.insert(std::upper_bound(signals.begin(), signals.end(), signal, sooner),
                       std::move(signal));
    }
    if (m_needed.needsContents(to) && !(listed && rows.empty())) {
        Flight& flight = newFlight(link);
        flight.start = service->start;
        flight.end = service->end;
        flight.step = m_agent->step;
        flight.copy = copy;
        flight.source = std::move(source);
        flight.target = std::move(target);
        flight.rows = std::move(rows);
        flight.adds = params.add;
        flight.location = operation.location;
        launch(flight);
    }
}

// Copies what is there at both ends; what comes out of padding is undefined.
void Engine::dropPadding(ir::ValueId from, ir::ValueId to, RefBinding& source, RefBinding& target)
{
    const Shape there = viewOf(source, memoryShape(from)).shape;
    const Shape room = viewOf(target, memoryShape(to)).shape;
    if (source.asked && m_needed.needsContents(to)) {
        Buffer& memory = buffer(target.buffer);
        const Buffer nothing(m_program.type(to).dtype, room, memory.fill());
        storeThrough(target, memory, nothing.load(StridedView::whole(room), room));
    }
    std::vector<Window> windows(there.rank());
    for (std::size_t axis = 0; axis < windows.size(); ++axis) {
        windows[axis].size = std::min(there[axis], room[axis]);
    }
    source = narrowed(source, memoryShape(from), windows);
    target = narrowed(target, memoryShape(to), windows);
}

void Engine::waitForDma(const ir::Operation& operation)
{
    const ir::ValueId ref = operation.operands[0];
    const Shape& extents = shapeOf(binding(ref), memoryShape(ref));
    wait(operation, semaphoreOf(*m_agent, operation.operands[1]),
         bytesOf(m_program.type(ref), extents).value(), true);
}

std::int32_t Engine::semaphoreOf(const Agent& agent, ir::ValueId ref) const
{
    const RefBinding& where = agent.refs[m_slots.of(ref)];
    return where.buffer + static_cast<std::int32_t>(where.whole ? 0 : where.view.offset);
}

void Engine::signalByHand(const ir::Operation& operation)
{
    const auto& params = std::get<ir::SignalParams>(operation.params);
    const ir::ValueId ref = operation.operands[0];
    const std::int64_t amount = number(operation.operands[1]);
    Agent* peer = peerOf(operation, params.device, 2);
    if (peer == nullptr) {
        return;
    }
    if (params.core) {
        const std::int64_t asked = number(operation.operands.back());
        if (asked < 0 || asked >= m_agent->cores) {
            fail(userError(m_program.where(operation.location) + ": semaphore_signal names core "
                           + std::to_string(asked) + " of " + std::to_string(m_agent->cores)
                           + ", numbered from 0."));
            return;
        }
        peer = &agentAt(peer->device, peer->kind, peer->slot, static_cast<std::int32_t>(asked));
    }
    const std::int32_t semaphore = semaphoreAt(*peer, ref);
    if (semaphore < 0) { // it has not come to its scope yet
        const ir::ValueId root = rootOf(ref);
        const std::int64_t element = semaphoreOf(*m_agent, ref) - binding(root).buffer;
        EarlySignal& early = m_state.early[{peer->id, root, element}];
        early.amount += amount;
        m_state.races.signal(m_agent->id, early.clock);
        return;
    }
    Semaphore& target = m_state.semaphores[semaphore];
    target.location = operation.location;
    m_state.races.signal(m_agent->id, target.clock);
    add(semaphore, amount, m_agent->time);
}

void Engine::add(std::int32_t semaphore, std::int64_t amount, Picoseconds at)
{
    Semaphore& target = m_state.semaphores[semaphore];
    target.count += amount;
    m_recorder.addSignal(target.row, m_agent->id, at, amount);
    for (Agent& agent : m_state.agents) {
        if (!agent.waiting || agent.waiting->semaphore != semaphore) {
            continue;
        }
        const Waiting waiting = *agent.waiting;
        agent.time = std::max(agent.time, at);
        if (take(agent, waiting)) {
            agent.waiting.reset();
            m_horizon = std::min(m_horizon, agent.time);
        }
    }
}

void Engine::deliver(const Signal& signal)
{
    Semaphore& target = m_state.semaphores[signal.semaphore];
    target.location = signal.location;
    learn(target.clock, signal.clock);
    if (signal.copy.copy >= 0) {
        target.lastCopy = signal.copy.copy;
        target.landed.push_back(signal.copy);
    }
    add(signal.semaphore, signal.amount, signal.at);
}

void Engine::wait(const ir::Operation& operation, std::int32_t semaphore, std::int64_t amount,
                  bool decrement)
{
    const Waiting waiting{semaphore, amount, decrement, m_agent->time, &operation};
    if (!take(*m_agent, waiting)) {
        m_agent->waiting = waiting;
    }
}

// Whether the semaphore has enough; then the agent goes on.
bool Engine::take(Agent& agent, const Waiting& waiting)
{
    Semaphore& semaphore = m_state.semaphores[waiting.semaphore];
    if (semaphore.count < waiting.amount) {
        return false;
    }
    m_recorder.addWait({semaphore.lastCopy, semaphore.row, waiting.operation->id}, agent.id,
                       agent.step, waiting.since, agent.time);
    if (waiting.decrement && waiting.amount != 0) {
        semaphore.count -= waiting.amount;
        m_recorder.addSignal(semaphore.row, agent.id, agent.time, -waiting.amount);
    }
    m_state.races.wait(agent.id, semaphore.clock);
    if (holdsCopies()) {
        if (semaphore.space == ir::MemorySpace::DmaSemaphore) {
            const bool lands = m_options.settings.dmaExecutionMode == DmaMode::OnWait;
            lands ? landHeld(semaphore, waiting.amount, agent.id)
                  : awaitCertain(semaphore, waiting.amount, agent.id);
        }
    } else {
        for (const AwaitedCopy& copy : semaphore.landed) {
            m_state.races.await(agent.id, copy);
        }
    }
    semaphore.landed.clear();
    return true;
}

void Engine::delay(const ir::Operation& operation)
{
    const std::int64_t nanoseconds = std::max<std::int64_t>(0, number(operation.operands[0]));
    const Picoseconds end = m_agent->time + Picoseconds(nanoseconds * 1000);
    m_recorder.addWait({.operation = operation.id}, m_agent->id, m_agent->step, m_agent->time, end);
    m_agent->time = end;
    if (end > kLongestRun) {
        fail(limitError("The run takes longer than 53 days on this chip; a shorter delay is "
                        "right."));
    }
}

void Engine::allocateSemaphores(ir::ValueId ref, Owned& owned)
{
    const ir::Type& type = m_program.type(ref);
    const auto count = static_cast<std::int32_t>(type.shape.elements());
    owned.semaphores.emplace_back(ref, m_state.semaphores.allocate(count));
    const std::int32_t first = owned.semaphores.back().second.first;
    binding(ref) = {};
    binding(ref).buffer = first;
    for (std::int32_t i = 0; i < count; ++i) {
        Semaphore& semaphore = m_state.semaphores[first + i];
        semaphore.space = *type.space;
        semaphore.row =
            m_recorder.semaphoreRow(refName(ref), *type.space, i, type.shape, m_agent->id);
        if (const auto early = m_state.early.find({m_agent->id, ref, i});
            early != m_state.early.end()) {
            learn(semaphore.clock, early->second.clock);
            add(first + i, early->second.amount, m_agent->time);
            m_state.early.erase(early);
        }
    }
}

std::int32_t Engine::barrier(std::int32_t collectiveId, std::int32_t agent)
{
    const auto [place, isNew] = m_state.barriers.try_emplace({collectiveId, agent});
    if (isNew) {
        place->second = m_state.semaphores.allocate(1).first;
        Semaphore& semaphore = m_state.semaphores[place->second];
        semaphore.space = ir::MemorySpace::BarrierSemaphore;
        semaphore.row = m_recorder.semaphoreRow("barrier " + std::to_string(collectiveId),
                                                ir::MemorySpace::BarrierSemaphore, 0, {}, agent);
    }
    return place->second;
}

void Engine::bindBarrier(const ir::Operation& operation)
{
    const std::int32_t id = std::get<ir::BarrierParams>(operation.params).collectiveId;
    binding(operation.results[0]) = {};
    binding(operation.results[0]).buffer = barrier(id, m_agent->id);
}

// All copies that it counts are those of findings.
bool Engine::isExplained(const Semaphore& semaphore) const
{
    const auto& landed = semaphore.landed;
    const bool isCounted = semaphore.space == ir::MemorySpace::DmaSemaphore && !landed.empty();
    return isCounted && std::all_of(landed.begin(), landed.end(), [this](const AwaitedCopy& copy) {
               return m_unordered.contains(copy.copy);
           });
}

// Semaphores must be 0 when they go; a copy that nobody waited for leaves its bytes.
void Engine::closeSemaphores(SlabRange semaphores)
{
    const auto in = [&](std::int32_t semaphore) {
        return semaphores.first <= semaphore && semaphore < semaphores.first + semaphores.count;
    };
    for (const Signal& signal : m_state.signals) {
        if (in(signal.semaphore)) {
            m_state.semaphores[signal.semaphore].count += signal.amount;
            m_state.semaphores[signal.semaphore].location = signal.location;
            m_state.semaphores[signal.semaphore].landed.push_back(signal.copy);
        }
    }
    m_state.signals.removeIf([&](const Signal& signal) { return in(signal.semaphore); });
    for (std::int32_t i = semaphores.first; i < semaphores.first + semaphores.count; ++i) {
        const Semaphore& semaphore = m_state.semaphores[i];
        if (semaphore.count == 0 || isExplained(semaphore)) {
            continue;
        }
        const std::string name = m_recorder.semaphoreName(semaphore.row);
        const bool dma = semaphore.space == ir::MemorySpace::DmaSemaphore;
        m_leavesCopies = m_leavesCopies || dma;
        m_recorder.addFinding(
            {dma ? "copy_never_awaited" : "semaphore_left_over",
             trace::FindingClass::Structural,
             dma ? "The semaphore " + name + " is left with " + countText(semaphore.count)
                       + " bytes of copies that nobody waited for; this one was the last."
                       + calledFrom(semaphore.location)
                 : "The semaphore " + name + " is left at " + countText(semaphore.count)
                       + "; its signals and waits must add up to 0."
                       + calledFrom(semaphore.location),
             name,
             m_agent->step,
             {},
             m_recorder.sourceLine(m_program, semaphore.location),
             1});
    }
}

} // namespace pallascope::machine
