// Copies by hand, from their start to what they will signal.
#include "core/machine/engine/engine.h"

#include <algorithm>
#include <utility>

namespace pallascope::machine {

namespace {

Bytes bytesOf(const ir::Type& type, const Shape& extents)
{
    return packedBytes(type.dtype, extents.elements());
}

} // namespace

struct Engine::HandCopy
{
    const ir::Operation& operation;
    const ir::DmaParams& params = std::get<ir::DmaParams>(operation.params);
    Agent* peer = nullptr; // who has the target
    RefBinding source, target;
    Shape shape; // of what is copied
    Rows rows;   // where it is listed
    Bytes useful;
    std::int32_t link = -1; // row of State::links
    std::int32_t row = -1;  // of trace::Copies
    Picoseconds start, end;

    [[nodiscard]] ir::ValueId from() const { return operation.operands[0]; }

    [[nodiscard]] ir::ValueId to() const { return operation.operands[1]; }

    [[nodiscard]] bool isListed() const { return params.rows != ir::CopyRows::All; }

    [[nodiscard]] bool isEmpty() const
    {
        return shape.elements() == 0 || (isListed() && rows.empty());
    }
};

void Engine::startDma(const ir::Operation& operation)
{
    HandCopy copy{operation};
    if (!locate(copy) || !serve(copy)) {
        return;
    }
    m_state.memory[copy.target.buffer].written = true;
    if (m_detects && !copy.isEmpty()) {
        if (const std::optional<Race> race = m_state.races.start(
                m_agent->id, copy.row, accessOf(copy, false), accessOf(copy, true))) {
            reportRace(*race, refName(race->writes ? copy.to() : copy.from()), copy.row,
                       m_agent->step, operation.location);
        }
        checkEntry(copy);
    }
    signalEnds(copy);
    if (m_needed.needsContents(copy.to()) && !(copy.isListed() && copy.rows.empty())) {
        Flight& flight = newFlight(copy.link);
        flight.start = copy.start;
        flight.end = copy.end;
        flight.step = m_agent->step;
        flight.copy = copy.row;
        flight.source = std::move(copy.source);
        flight.target = std::move(copy.target);
        flight.rows = std::move(copy.rows);
        flight.adds = copy.params.add;
        flight.location = operation.location;
        launch(flight);
    }
}

// Between whom and what; false where it does not start: the run ends, or others go first.
bool Engine::locate(HandCopy& copy)
{
    const ir::Operation& operation = copy.operation;
    const ir::ValueId from = copy.from(), to = copy.to();
    copy.peer = peerOf(operation, copy.params.device,
                       operation.operands.size() - (copy.isListed() ? 2 : 1));
    if (copy.peer == nullptr || comesLater(*copy.peer, operation)) {
        return false;
    }
    RefBinding &source = copy.source = binding(from), &target = copy.target = binding(to);
    if (copy.peer->device != m_agent->device) {
        target.buffer = rootAt(*copy.peer, to);
    }
    copy.shape = source.asked ? *source.asked : shapeOf(source, memoryShape(from));
    const Shape& wanted = target.asked ? *target.asked : shapeOf(target, memoryShape(to));
    if (copy.isListed()) {
        std::optional<Rows> found = listedRows(operation, source, target);
        if (!found) {
            return false;
        }
        copy.rows = std::move(*found);
        if (copy.params.rows == ir::CopyRows::Source) {
            copy.shape = wanted;
        }
    } else if (copy.shape != wanted) {
        fail(userError(m_program.where(operation.location) + ": dma_start copies "
                       + toString(copy.shape) + " elements of " + refName(from) + " to "
                       + toString(wanted) + " of " + refName(to) + "; as many are right."));
        return false;
    }
    if (source.asked || target.asked) {
        dropPadding(from, to, source, target);
    }
    return true;
}

// Memory on the chip of another device is its kernel's once the device has begun the kernel. Arrays
// in HBM are there before, and afterwards.
void Engine::checkEntry(const HandCopy& copy)
{
    const Agent& entered = firstOf(copy.peer->device);
    if (copy.peer->device == m_agent->device
        || m_program.type(copy.to()).space == ir::MemorySpace::Hbm
        || m_state.races.knowsEntry(m_agent->id, entered.id)) {
        return;
    }
    const ir::LocationId location = copy.operation.location;
    const std::string name = refName(copy.to());
    m_recorder.addFinding(
        {"peer_not_ready",
         trace::FindingClass::Structural,
         m_recorder.agentName(m_agent->id) + " copies to " + name + " of device "
             + std::to_string(copy.peer->device) + " (" + m_program.where(location)
             + m_program.callersOf(location) + "), and nothing says that device "
             + std::to_string(copy.peer->device)
             + " has begun the kernel by then: what lies there may be another's still. A signal "
               "from there before, as of a barrier at the start, is right.",
         name,
         m_agent->step,
         {},
         m_recorder.sourceLine(m_program, location),
         1});
}

// When, on which link; false where the run ends.
bool Engine::serve(HandCopy& copy)
{
    const Description& description = m_recorder.description();
    const Description::CopySite& site = description.copySite(copy.operation);
    copy.useful = bytesOf(m_program.type(copy.from()), copy.shape);
    Bytes bytes = copy.useful * site.passes;
    Description::Route route{site.link, Picoseconds(0)};
    if (copy.peer->device != m_agent->device) {
        bytes = copy.useful;
        route = description.route(m_program, m_agent->device, copy.peer->device);
    }
    copy.link = linkHere(route.link);
    const auto service = m_state.links[static_cast<std::size_t>(copy.link)].serve(
        m_agent->time + route.detour, bytes);
    if (!service) {
        fail(tooLong());
        return false;
    }
    copy.start = service->start;
    copy.end = service->end;
    const std::int64_t offset = offsetOf(site.out ? copy.target : copy.source);
    copy.row =
        m_recorder.addCopy(site.operand, m_recorder.blockOf(site, offset), 0, site.out, copy.link,
                           m_agent->step, bytes, m_agent->time, copy.start, copy.end);
    return true;
}

// What the copy does at one of its ends.
Access Engine::accessOf(const HandCopy& copy, bool writes)
{
    const RefBinding& where = writes ? copy.target : copy.source;
    const Memory& memory = m_state.memory[where.buffer];
    Access access{memory.isConstant ? -1 : where.buffer,
                  memory.isUncontested,
                  writes,
                  m_agent->step,
                  copy.operation.location,
                  {}};
    access.adds = copy.params.add && writes;
    if (m_layout.isAlone() && where.whole && !copy.isListed()) { // all of it, as a place is
        return access;
    }
    Place::Located located{where, memoryShape(writes ? copy.to() : copy.from()), {}};
    if (copy.params.rows == (writes ? ir::CopyRows::Target : ir::CopyRows::Source)) {
        located.rows.emplace();
        for (const auto& [here, there] : copy.rows) {
            located.rows->push_back(writes ? there : here);
        }
    }
    access.place.located = std::make_shared<Place::Located>(std::move(located));
    return access;
}

// The semaphores that it will signal at its end.
void Engine::signalEnds(const HandCopy& copy)
{
    const bool isRemote = copy.peer->device != m_agent->device;
    VectorClock clock;
    if (isRemote) {
        m_state.races.signal(m_agent->id, clock);
    }
    const std::int32_t source = copy.source.buffer, target = copy.target.buffer;
    for (std::size_t i = 2; i < (copy.params.sourceSemaphore ? 4U : 3U); ++i) {
        // Either end of a copy to another device is waited for alone.
        const bool atTarget = i == 2;
        const AwaitedCopy both{copy.row, source, target};
        const AwaitedCopy end =
            atTarget ? AwaitedCopy{copy.row, -1, target} : AwaitedCopy{copy.row, source, -1};
        Signal signal{copy.end,
                      semaphoreAt(atTarget ? *copy.peer : *m_agent, copy.operation.operands[i]),
                      copy.useful.value(),
                      isRemote   ? end
                      : atTarget ? both
                                 : AwaitedCopy{},
                      copy.operation.location,
                      clock};
        if (holdsCopies()) {
            m_state.semaphores[signal.semaphore].held.push_back(
                {copy.row, signal.copy, signal.amount, !atTarget});
        }
        const auto sooner = [](const Signal& a, const Signal& b) { return a.at < b.at; };
        auto& signals = m_state.signals;
        m_horizon = std::min(m_horizon, signal.at);
        signals.insert(std::upper_bound(signals.begin(), signals.end(), signal, sooner),
                       std::move(signal));
    }
}

// Copies what is there at both ends; what comes out of padding is undefined.
void Engine::dropPadding(ir::ValueId from, ir::ValueId to, RefBinding& source, RefBinding& target)
{
    const Shape there = viewOf(source, memoryShape(from)).shape;
    const Shape room = viewOf(target, memoryShape(to)).shape;
    if (source.asked && m_needed.needsContents(to)) {
        land(m_agent->time); // what has ended by now is behind this one
        Buffer& memory = buffer(target.buffer);
        const Buffer nothing(m_program.type(to).dtype, room, memory.fill());
        storeThrough(target, memory, nothing.loadAll());
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

} // namespace pallascope::machine
