#include "core/machine/parts/manual_copies.h"

#include "core/ir/cp_async.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>

namespace pallascope::machine {

namespace {

Bytes bytesOf(const ir::Type& type, const Shape& extents)
{
    return packedBytes(type.dtype, extents.elements());
}

// The elements of a ref that a part of its memory has. The ref may be a block in the memory of its
// array: then `block` is where it lies there, and axes of one element that the ref does not have
// are left out. What is behind the end of the ref is left out as well.
struct RefPart
{
    Extents start, extents;
};

// As below, where the ref is all of its memory.
RefPart partOfWhole(const Reach& part, const Shape& ref)
{
    RefPart found{part.start, part.stop};
    for (std::size_t axis = 0; axis < ref.rank(); ++axis) {
        Extent &start = found.start[axis], &extent = found.extents[axis];
        start = std::clamp<Extent>(start, 0, ref[axis]);
        extent = std::clamp<Extent>(extent, start, ref[axis]) - start;
    }
    return found;
}

RefPart partOfRef(const Reach& part, const Reach& block, const Shape& ref)
{
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis < part.start.size(); ++axis) {
        const std::size_t left = part.start.size() - axis;
        const bool isSqueezed = block.stop[axis] - block.start[axis] == 1
                                && left > ref.rank() - std::min(ref.rank(), axes.size());
        if (!isSqueezed) {
            axes.push_back(axis);
        }
    }
    if (axes.size() != ref.rank()) { // of another form: any of its elements
        return {Extents(ref.rank(), 0), ref.extents()};
    }
    RefPart found;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const Extent base = block.start[axes[i]];
        const Extent start = std::clamp<Extent>(part.start[axes[i]] - base, 0, ref[i]);
        found.start.push_back(start);
        found.extents.push_back(std::clamp<Extent>(part.stop[axes[i]] - base, start, ref[i])
                                - start);
    }
    return found;
}

// A GPU has none of what manual DMA can choose.
ir::DmaParams dmaParams(const ir::Operation& operation)
{
    const auto* params = std::get_if<ir::DmaParams>(&operation.params);
    return params == nullptr ? ir::DmaParams{} : *params;
}

// What becomes of the elements to which the copy writes.
ir::AtomicType reductionOf(const ir::Operation& operation)
{
    if (const auto* store = std::get_if<ir::StoreCopyParams>(&operation.params)) {
        return store->reduction;
    }
    return dmaParams(operation).add ? ir::AtomicType::Add : ir::AtomicType::Xchg;
}

// Whether the last operand says if the copy takes place at all, or for each element if it does.
bool hasPredicate(const ir::Operation& operation)
{
    const auto* load = std::get_if<ir::LoadCopyParams>(&operation.params);
    const auto* store = std::get_if<ir::StoreCopyParams>(&operation.params);
    return (load != nullptr && load->predicate) || (store != nullptr && store->predicate);
}

} // namespace

ManualCopies::ManualCopies(const Context& context, Agents& agents, Copies& copies,
                           Semaphores& semaphores, StoreGroups& groups, Accesses& accesses,
                           Findings& findings)
    : Part(context)
    , m_agents(agents)
    , m_copies(copies)
    , m_semaphores(semaphores)
    , m_groups(groups)
    , m_accesses(accesses)
    , m_findings(findings)
{}

struct ManualCopies::ManualCopy
{
    const ir::Operation& operation;
    ir::DmaParams params = dmaParams(operation);
    Agent* peer = nullptr; // the agent that has the semaphore of the target
    RefBinding source, target;
    std::optional<RefBinding> filled;      // the target, with what a TMA sets to zeros besides
    std::int32_t sender = 0, receiver = 0; // the devices that have them
    Shape shape;                           // the shape of what is copied
    std::optional<std::int64_t> existing;  // set if only so many of its elements move
    bool isOutside = false;                // all of it lies behind its array; nothing moves
    Rows rows;                             // set if it has a list of rows, or of other parts
    Bytes useful;
    std::int32_t link = -1; // row of State::links
    trace::CopyRow row;
    Picoseconds start, end, arrival; // on the link; and when all of it is at its target
    std::array<std::shared_ptr<const Reach>, 2> reaches; // of the source and the target, once known

    // What it reaches at one of its ends, in memory of this shape.
    const std::shared_ptr<const Reach>& reach(bool atTarget, const Shape& memory, KnownReaches& all)
    {
        std::shared_ptr<const Reach>& known = reaches[atTarget ? 1 : 0];
        if (!known) {
            known = all.of(atTarget ? written() : source, memory);
        }
        return known;
    }

    [[nodiscard]] const RefBinding& written() const { return filled ? *filled : target; }

    [[nodiscard]] ir::ValueId from() const { return operation.operands[0]; }

    [[nodiscard]] ir::ValueId to() const { return operation.operands[1]; }

    [[nodiscard]] bool isListed() const { return params.rows != ir::CopyRows::All; }

    [[nodiscard]] bool isRemote() const { return sender != receiver; }

    [[nodiscard]] bool isEmpty() const
    {
        return isOutside || shape.elements() == 0 || (isListed() && rows.empty());
    }
};

void ManualCopies::start(const ir::Operation& operation)
{
    if (hasPredicate(operation)) {
        const RuntimeValue& predicate = m_turn.value(operation.operands.back());
        if (predicate.isScalar() && predicate.scalar == 0) {
            return;
        }
    }
    ManualCopy copy{operation};
    if (!locate(copy) || !serve(copy)) {
        return;
    }
    recordEnds(copy);
    m_memory[copy.target.buffer].holds = Memory::Holds::Current;
    if (m_memory[copy.source.buffer].holds == Memory::Holds::Carried) {
        m_findings.reportCarried(copy.from(), operation);
    }
    if (m_detects && (!copy.isEmpty() || copy.filled)) {
        if (const std::optional<Race> race = m_races.start(
                m_turn.agent().id, copy.row, accessOf(copy, false), accessOf(copy, true))) {
            m_findings.reportRace(
                *race, m_prepared.refName(race->writes ? copy.to() : copy.from()),
                {m_turn.agent().id, copy.row, m_turn.agent().step, operation.location});
        }
        checkEntry(copy);
        share(operation, accessOf(copy, true), copy.row);
    }
    if (operation.code == ir::OpCode::DmaStart) {
        signalEnds(copy);
    } else {
        arriveAtEnd(copy);
    }
    if (m_prepared.needed.needsContents(copy.to()) && !copy.isOutside
        && !(copy.isListed() && copy.rows.empty())) {
        Flight& flight = m_copies.newFlight(copy.link);
        flight.start = copy.start;
        flight.end = copy.end;
        flight.step = m_turn.agent().step;
        flight.copy = copy.row;
        flight.source = std::move(copy.source);
        flight.target = std::move(copy.target);
        flight.rows = std::move(copy.rows);
        flight.reduction = reductionOf(operation);
        flight.location = operation.location;
        m_copies.launch(flight);
    }
}

// Finds both ends of the copy. Returns false if it does not start: the run ends, or other agents go
// first.
bool ManualCopies::locate(ManualCopy& copy)
{
    const ir::Operation& operation = copy.operation;
    const ir::ValueId from = copy.from(), to = copy.to();
    copy.peer = m_agents.peerOf(operation, copy.params.device,
                                operation.operands.size() - (copy.isListed() ? 2 : 1));
    if (copy.peer == nullptr || comesLater(*copy.peer, operation)) {
        return false;
    }
    RefBinding &source = copy.source = m_turn.binding(from),
               &target = copy.target = m_turn.binding(to);
    if (copy.peer->device != m_turn.agent().device) {
        target.buffer = m_agents.rootAt(*copy.peer, to).value();
    }
    copy.sender = m_memory[source.buffer].device;
    copy.receiver = m_memory[target.buffer].device;
    copy.shape = source.asked ? source.asked->shape : shapeOf(source, m_turn.memoryShape(from));
    const Shape& wanted =
        target.asked ? target.asked->shape : shapeOf(target, m_turn.memoryShape(to));
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
        m_ending.fail(userError(m_prepared.program.where(operation.location) + ": dma_start copies "
                                + toString(copy.shape) + " elements of " + m_prepared.refName(from)
                                + " to " + toString(wanted) + " of " + m_prepared.refName(to)
                                + "; expected as many."));
        return false;
    }
    if (takesElements(operation)) {
        std::optional<Rows> parts = takenParts(operation, target);
        if (!parts) {
            return false;
        }
        copy.isOutside = parts->empty();
        copy.existing = 0;
        for (const auto& [part, place] : *parts) {
            *copy.existing += shapeOf(part, m_turn.memoryShape(from)).elements();
        }
        if (parts->size() == 1) {
            std::tie(source, target) = std::move(parts->front());
        } else {
            source.asked = nullptr;
            copy.rows = std::move(*parts);
        }
    } else if (source.asked || target.asked) {
        if (operation.code == ir::OpCode::CopyGmemToSmem && source.asked) {
            copy.filled = target;
        }
        dropPadding(operation, source, target);
        const Shape existing = viewOf(source, m_turn.memoryShape(from)).shape;
        copy.isOutside = existing.elements() == 0;
        if (operation.code != ir::OpCode::DmaStart) { // a TPU takes the padding along
            copy.existing = existing.elements();
        }
    }
    return true;
}

// Whether another agent does not have the copy's target or its semaphore yet. Agents that are not
// ahead of this one in time then go first; if the target is still missing after that, the run ends.
bool ManualCopies::comesLater(const Agent& peer, const ir::Operation& dmaStart)
{
    if (m_turn.isOf(peer)) {
        m_turn.agent().yields = false;
        return false;
    }
    const std::array<ir::ValueId, 2> wanted{dmaStart.operands[1], dmaStart.operands[2]};
    const auto* const missing = std::find_if(
        wanted.begin(), wanted.end(), [&](ir::ValueId ref) { return !m_agents.rootAt(peer, ref); });
    if (missing == wanted.end()) {
        m_turn.agent().yields = false;
        return false;
    }
    if (!m_turn.agent().yields) {
        m_turn.agent().yields = true;
        --std::get<BlockFrame>(m_turn.agent().frames.back()).next; // repeats the operation
        m_turn.endAt(m_turn.agent().time);
        return true;
    }
    m_findings.stop(trace::found(
        trace::FindingKind::PeerNotReady,
        m_recorder.agentName(m_turn.agent().id) + " copies to "
            + m_prepared.refName(dmaStart.operands[1]) + " of device " + std::to_string(peer.device)
            + ", which does not have " + m_prepared.refName(*missing) + " at that time ("
            + m_prepared.program.where(dmaStart.location)
            + "). Put a barrier between the two before it, or wait for it afterwards.",
        m_prepared.refName(*missing), m_turn.agent().step, {},
        m_recorder.description().sourceLine(m_prepared.program, dmaStart.location)));
    return true;
}

// On-chip memory of another device belongs to that device's kernel only after the device has begun
// the kernel. Arrays in HBM exist before and after.
void ManualCopies::checkEntry(const ManualCopy& copy)
{
    const Agent& entered = m_agents.firstOf(copy.receiver);
    if (!copy.isRemote() || m_prepared.program.type(copy.to()).space == ir::MemorySpace::Hbm
        || m_races.knowsEntry(m_turn.agent().id, entered.id)) {
        return;
    }
    const ir::LocationId location = copy.operation.location;
    const std::string name = m_prepared.refName(copy.to());
    m_recorder.addFinding(trace::found(
        trace::FindingKind::PeerNotReady,
        m_recorder.agentName(m_turn.agent().id) + " copies to " + name + " of device "
            + std::to_string(copy.receiver) + " (" + m_prepared.program.where(location)
            + m_prepared.program.callersOf(location) + "), and nothing says that device "
            + std::to_string(copy.receiver)
            + " has begun the kernel by then: what lies there may be another's still. Wait for a "
              "signal from there first, such as that of a barrier at the start.",
        name, m_turn.agent().step, {},
        m_recorder.description().sourceLine(m_prepared.program, location)));
}

// Sets the copy's times and its link. Returns false if the run ends.
bool ManualCopies::serve(ManualCopy& copy)
{
    const Description& description = m_recorder.description();
    const Description::CopySite& site = description.copySite(copy.operation);
    const ir::Type& type = m_prepared.program.type(copy.from());
    copy.useful = bytesOf(type, copy.shape);
    const std::int64_t passes = copy.isRemote() ? 1 : site.passes;
    const Bytes moving = copy.existing ? packedBytes(type.dtype, *copy.existing) : copy.useful;
    const Bytes moved(std::llround(static_cast<double>(moving.value()) * site.withPadding));
    const Bytes bytes = copy.isOutside ? Bytes(0) : moved * passes;
    Description::Route route{site.link, Picoseconds(0)};
    if (copy.isRemote()) {
        route = description.route(m_prepared.program, copy.sender, copy.receiver);
    }
    std::optional<Copies::Served> served = serveOn(copy, route, bytes, site.out);
    if (!served) {
        return false;
    }
    if (std::holds_alternative<ir::LoadCopyParams>(copy.operation.params)) {
        m_copies.arriveAtPort(*served, bytes);
        m_copies.writeShared(*served, bytes);
    }
    copy.link = served->link;
    copy.start = served->service.start;
    copy.end = served->service.end;
    copy.arrival = served->arrival;
    const std::int64_t offset = offsetOf(site.out ? copy.target : copy.source);
    copy.row = m_recorder.addCopy(trace::OperandRow{site.operand}, m_recorder.blockOf(site, offset),
                                  0, site.out, trace::LinkRow{copy.link}, m_turn.agent().step,
                                  bytes, m_turn.agent().time, copy.start, copy.end);
    return true;
}

std::optional<Copies::Served>
ManualCopies::serveOn(ManualCopy& copy, const Description::Route& route, Bytes bytes, bool out)
{
    const Picoseconds issue = m_turn.agent().time + route.detour;
    const auto* load = std::get_if<ir::LoadCopyParams>(&copy.operation.params);
    const std::int32_t blocks = load != nullptr ? load->blocks : 1;
    if (!copy.isRemote() && bytes > Bytes(0) && !copy.isListed() && m_copies.hasL2(route.link)) {
        const ir::ValueId ref = out ? copy.to() : copy.from();
        const RefBinding& where = out ? copy.target : copy.source;
        const Shape& array = m_turn.memoryShape(ref);
        const Reach& reach = *copy.reach(out, array, m_reaches);
        const std::int64_t bits = dtypeBits(m_prepared.program.type(ref).dtype);
        const Copies::Piece piece{{where.buffer, array, reach.start, reach.stop, bits,
                                   m_prepared.description.copySite(copy.operation).operand},
                                  bytes};
        const auto served = m_copies.serveThroughL2(route.link, issue, {&piece, 1}, out, blocks);
        return !served ? std::nullopt : served->held ? served->held : served->fetched;
    }
    bytes = Bytes(ceilDiv(bytes.value(), blocks)); // other blocks fetch the rest
    return m_copies.servedOn(m_copies.linkOf(copy.sender, route.link), issue, bytes);
}

// What agents of a block share counts as the memory of the first one, whichever copies.
std::int32_t ManualCopies::holderOf(ir::ValueId root, const Agent& agent) const
{
    const bool isShared = m_prepared.uses.ofBlocks[static_cast<std::size_t>(root.index)];
    return isShared ? m_agents.agentAt(agent.device, agent.kind, agent.place, 0).id : agent.id;
}

// Records which part of which memory the copy reads and writes, and what it signals.
void ManualCopies::recordEnds(ManualCopy& copy)
{
    if (!m_recorder.keepsRows()) {
        return;
    }
    const auto endOf = [&](ir::ValueId ref, bool isTarget, const Agent& agent) {
        const ir::ValueId root = m_prepared.rootOf(ref);
        const Shape& shape = m_prepared.program.type(root).shape;
        const Shape& memory = m_turn.memoryShape(ref);
        const RefBinding& whole = m_turn.binding(root);
        const Reach& part = *copy.reach(isTarget, memory, m_reaches);
        const RefPart found = whole.whole && shape == memory
                                  ? partOfWhole(part, shape)
                                  : partOfRef(part, reachOf(whole, memory), shape);
        Recorder::CopyEnd end;
        end.agent = holderOf(root, agent);
        end.buffer = m_recorder.description().bufferOf(root).value_or(trace::kNone);
        end.shape = Shape(found.extents);
        if (end.shape.elements() > 0) {
            const Extents strides = rowMajorStrides(shape);
            for (std::size_t axis = 0; axis < strides.size(); ++axis) {
                end.first += found.start[axis] * strides[axis];
            }
        }
        return end;
    };
    const auto semaphoreOf = [&](const Agent& agent, std::size_t operand) {
        return m_semaphores.rowOf(
            m_semaphores.semaphoreAt(agent, copy.operation.operands[operand]).value());
    };
    Recorder::CopyEnd source = endOf(copy.from(), false, m_agents.hereOn(copy.sender));
    Recorder::CopyEnd target = endOf(copy.to(), true, m_agents.hereOn(copy.receiver));
    if (copy.operation.code != ir::OpCode::CopySmemToGmem && !ir::isCpAsync(copy.operation)) {
        target.semaphore = semaphoreOf(*copy.peer, 2);
    }
    if (copy.params.sourceSemaphore) {
        source.semaphore = semaphoreOf(m_turn.agent(), 3);
    }
    m_recorder.addEnds(copy.row, source, target);
}

// The access that the copy makes at one of its two ends.
Access ManualCopies::accessOf(ManualCopy& copy, bool writes)
{
    const RefBinding& where = writes ? copy.written() : copy.source;
    const Memory& memory = m_memory[where.buffer];
    const bool isNowhere = memory.isConstant || (copy.isOutside && !writes);
    Access access{isNowhere ? -1 : where.buffer, memory.isUncontested,    writes,
                  m_turn.agent().step,           copy.operation.location, {}};
    access.adds = writes && reductionOf(copy.operation) != ir::AtomicType::Xchg;
    access.proxy = !memory.hasProxies              ? Proxy::None
                   : ir::isCpAsync(copy.operation) ? Proxy::Generic
                                                   : Proxy::Async;
    if (m_prepared.layout.isAlone() && where.whole && !memory.hasProxies
        && !copy.isListed()) { // all of the buffer, which is what a default place means
        return access;
    }
    const Shape& shape = m_turn.memoryShape(writes ? copy.to() : copy.from());
    Place::Located located{where, shape, {}};
    if (copy.params.rows == (writes ? ir::CopyRows::Target : ir::CopyRows::Source)) {
        located.rows.emplace();
        for (const auto& [here, there] : copy.rows) {
            located.rows->push_back(writes ? there : here);
        }
    } else {
        access.place.reach = copy.reach(writes, shape, m_reaches);
    }
    access.place.located = std::make_shared<Place::Located>(std::move(located));
    return access;
}

// Queues the signals to the semaphores at the copy's end.
void ManualCopies::signalEnds(const ManualCopy& copy)
{
    const bool isRemote = copy.isRemote();
    VectorClock clock;
    VectorClock started =
        m_semaphores.mayBeDoubted() ? m_races.clockOf(m_turn.agent().id) : VectorClock();
    if (isRemote) {
        m_races.signal(m_turn.agent().id, clock);
    }
    const std::int32_t source = copy.source.buffer, target = copy.target.buffer;
    for (std::size_t i = 2; i < (copy.params.sourceSemaphore ? 4U : 3U); ++i) {
        // The two ends of a copy to another device are waited for separately.
        const bool atTarget = i == 2;
        const AwaitedCopy both{copy.row, source, target};
        const AwaitedCopy end =
            atTarget ? AwaitedCopy{copy.row, -1, target} : AwaitedCopy{copy.row, source, -1};
        Signal signal{
            copy.end,
            m_semaphores
                .semaphoreAt(atTarget ? *copy.peer : m_turn.agent(), copy.operation.operands[i])
                .value(),
            copy.useful.value(),
            isRemote   ? end
            : atTarget ? both
                       : AwaitedCopy{},
            copy.operation.location,
            clock};
        m_semaphores.expect(std::move(signal), {copy.row, signal.copy, signal.amount, !atTarget,
                                                &copy.operation, false, started});
    }
}

// A copy of the TMA into SMEM arrives on its barrier when it has landed. One of cp.async, or one
// out of SMEM, belongs to the agent's group; the latter has read SMEM when its last byte is on the
// link.
void ManualCopies::arriveAtEnd(const ManualCopy& copy)
{
    const AwaitedCopy both{copy.row, copy.source.buffer, copy.target.buffer};
    if (copy.operation.code == ir::OpCode::CopySmemToGmem || ir::isCpAsync(copy.operation)) {
        m_groups.add(both, copy.arrival, copy.arrival);
        return;
    }
    m_semaphores.queue({copy.arrival,
                        m_turn.semaphoreOf(copy.operation.operands[2]),
                        1,
                        both,
                        copy.operation.location,
                        {},
                        std::get<ir::LoadCopyParams>(copy.operation.params).parts});
}

void ManualCopies::waitFor(const ir::Operation& operation)
{
    const ir::ValueId ref = operation.operands[0];
    const Shape& extents = shapeOf(m_turn.binding(ref), m_turn.memoryShape(ref));
    m_semaphores.wait(operation, m_turn.semaphoreOf(operation.operands[1]),
                      bytesOf(m_prepared.program.type(ref), extents).value(), true);
}

} // namespace pallascope::machine
