#include "core/machine/parts/copies.h"

#include "core/machine/parts/atomics.h"
#include "core/machine/parts/slot_units.h"
#include "core/machine/parts/sync_times.h"

#include <algorithm>
#include <utility>

namespace pallascope::machine {

namespace {

// Something in an SM of this chip that moves so many bytes in a cycle.
FifoLink linkIn(const chip::Chip& chip, double bytesPerCycle)
{
    chip::Link link;
    link.datasheet =
        BytesPerSecond(bytesPerCycle * static_cast<double>(chip.agents.front().clock.value()));
    return FifoLink(link);
}

// Whether an element is undefined that the mask takes.
bool takesUndefined(const RuntimeValue& value, const RuntimeValue* mask)
{
    if (value.shadow.all() || mask == nullptr) {
        return !value.shadow.all();
    }
    if (mask->isScalar()) {
        return mask->scalar != 0;
    }
    const std::int64_t count = mask->elements();
    const SharedBytes defined = value.shadow.expanded(count);
    const auto* const taken = mask->as<std::uint8_t>();
    for (std::int64_t i = 0; i < count; ++i) {
        if (taken[i] != 0 && defined.get()[i] == std::byte{0}) {
            return true;
        }
    }
    return false;
}

} // namespace

Copies::Copies(const Context& context, CopyState& state, SlotUses& uses, Findings& findings)
    : m_prepared(context.prepared)
    , m_mode(context.settings.dmaExecutionMode)
    , m_recorder(context.recorder)
    , m_turn(context.turn)
    , m_ending(context.ending)
    , m_memory(context.memory)
    , m_races(context.races)
    , m_state(state)
    , m_uses(uses)
    , m_findings(findings)
    , m_watch(context.watch)
{
    const chip::Chip& chip = m_prepared.chip;
    const auto gmem = chip.memoryIndex("HBM"), l2 = chip.memoryIndex("L2");
    const auto sm = chip.memoryIndex("SMEM");
    if (chip.multiprocessor && gmem && l2 && sm) {
        m_gmem = *gmem;
        m_l2Link = chip.linkBetween(*l2, *sm);
        m_change = syncTimes(chip).change;
        if (chip.multiprocessor->portBytesPerCycle) {
            m_port = linkIn(chip, *chip.multiprocessor->portBytesPerCycle);
        }
        if (chip.multiprocessor->writtenPerLostCycle) {
            m_products = linkIn(chip, *chip.multiprocessor->writtenPerLostCycle);
        }
    }
}

void Copies::addLinks()
{
    std::vector<FifoLink> one;
    for (const chip::Link& link : m_prepared.description.deviceLinks()) {
        one.emplace_back(link);
    }
    for (std::int32_t device = 0; device < m_prepared.layout.devices; ++device) {
        m_state.links.insert(m_state.links.end(), one.begin(), one.end());
        if (m_l2Link) {
            m_state.caches.emplace_back(m_prepared.chip.multiprocessor->l2Usable);
        }
    }
    m_state.flights.resize(m_state.links.size());
}

void Copies::arriveAtPort(Served& served, Bytes bytes)
{
    if (!m_port) {
        return;
    }
    std::vector<Picoseconds>& units = slotUse().free;
    units.resize(slotUnits(m_prepared.chip));
    Picoseconds& free = units.back();
    free = std::max(free, served.begin);
    free += std::min(m_port->lengthFor(bytes), kLongestRun - free);
    served.arrival = std::max(served.arrival, free);
}

void Copies::writeShared(const Served& served, Bytes bytes)
{
    if (m_products) {
        slotUse().ofProducts.add({served.begin, served.arrival, m_products->lengthFor(bytes)},
                                 m_turn.agent().time);
    }
}

SlotUse& Copies::slotUse()
{
    const Agent& agent = m_turn.agent();
    return m_uses[{agent.device, agent.slot}];
}

std::optional<Copies::ThroughL2> Copies::serveThroughL2(std::int32_t link, Picoseconds issue,
                                                        std::span<const Piece> pieces, bool out,
                                                        std::int32_t blocks)
{
    const auto device = static_cast<std::size_t>(m_turn.agent().device);
    SectorCache& cache = m_state.caches[device];
    ThroughL2 served;
    std::optional<Picoseconds> ready; // when the last of what is held has come to L2
    m_missed.clear();
    for (const Piece& piece : pieces) {
        const std::optional<SectorCache::Held> held = out ? std::nullopt : cache.use(piece.part);
        if (held) {
            served.hit += piece.bytes;
            ready = std::max(ready.value_or(Picoseconds(0)), held->ready);
        } else {
            served.missed += piece.bytes;
            m_missed.push_back(&piece.part);
        }
        if (!out) {
            cache.countRead(piece.part, piece.bytes, held.has_value());
        }
    }
    if (ready) {
        served.held =
            servedOn(linkHere(*m_l2Link), issue, Bytes(ceilDiv(served.hit.value(), blocks)));
        if (!served.held) {
            return std::nullopt;
        }
        if (*ready > served.held->arrival) { // what has yet to come keeps nothing from the link
            served.held->begin += *ready - served.held->arrival;
            served.held->arrival = *ready;
        }
    }
    if (!m_missed.empty()) {
        served.fetched = servedOn(linkHere(link), issue, served.missed);
        if (!served.fetched) {
            return std::nullopt;
        }
        for (const SectorCache::Part* part : m_missed) {
            cache.hold(*part, {served.fetched->service.end});
        }
        recordHeld(device);
    }
    return served;
}

Picoseconds Copies::changeInL2(const SectorCache::Part& part, std::int64_t changes,
                               Picoseconds from)
{
    SectorCache& cache = m_state.caches[static_cast<std::size_t>(m_turn.agent().device)];
    return cache.occupy(part, from, m_change * changes);
}

void Copies::recordHeld(std::size_t device)
{
    if (!m_recorder.keepsRows()) {
        return;
    }
    for (const SectorCache::Share& share : m_state.caches[device].shares()) {
        m_recorder.addHeld(static_cast<std::int32_t>(device), trace::OperandRow{share.operand},
                           share.held, m_turn.agent().time);
    }
}

// Every link serves its copies in order, so the next event of a link is that of its first flight.
// If two events have the same time, an end comes before a start, because the copy that starts may
// have been issued when the other one landed.
void Copies::land(Picoseconds until)
{
    while (true) {
        Queue<Flight>* first = nullptr;
        std::pair<Picoseconds, bool> when; // second: whether it is a read
        for (Queue<Flight>& link : m_state.flights) {
            if (link.empty()) {
                continue;
            }
            const Flight& next = link.front();
            const std::pair at(next.started ? next.end : next.start, !next.started);
            if (at.first <= until && (first == nullptr || at < when)) {
                first = &link;
                when = at;
            }
        }
        if (first == nullptr) {
            return;
        }
        if (!first->front().started) {
            read(first->front());
        } else {
            write(first->front());
            first->pop_front();
        }
    }
}

bool Copies::endBy(Picoseconds until) const
{
    return std::any_of(
        m_state.flights.begin(), m_state.flights.end(), [&](const Queue<Flight>& link) {
            return std::any_of(link.begin(), link.end(),
                               [&](const Flight& flight) { return flight.end <= until; });
        });
}

void Copies::read(Flight& flight)
{
    flight.started = true;
    if (m_watch.isOn()) {
        m_watch.byCopy(flight, flight.start);
        m_watch.read(m_watch.in(flight, false));
    }
    for (const auto& [from, to] : flight.rows) {
        flight.ofRows.push_back(loadThrough(from, buffer(from.buffer)));
    }
    if (!flight.rows.empty()) {
        return;
    }
    if (flight.operand == nullptr) {
        flight.elements = loadThrough(flight.source, buffer(flight.source.buffer));
    } else if (flight.out) {
        flight.payload = buffer(flight.slotBuffer);
    } else {
        flight.payload = cutBlock(*flight.operand, flight.array, flight.block);
        flight.payload.prefetch();
    }
}

void Copies::write(Flight& flight)
{
    if (m_watch.isOn()) {
        m_watch.byCopy(flight, flight.end);
    }
    const Watch::Writing writing(m_watch, m_watch.in(flight, true));
    if (!flight.rows.empty()) {
        writeRows(flight);
    } else if (flight.operand == nullptr) {
        m_memory[flight.target.buffer].broughtBy = flight.location;
        noteStored(flight.target, flight.elements, flight.location);
        put(flight.target, std::move(flight.elements), flight.reduction);
        if (flight.reduction != ir::AtomicType::Xchg) { // to what was undefined, it stays so
            noteStored(flight.target, loadThrough(flight.target, buffer(flight.target.buffer)),
                       flight.location);
        }
    } else if (!flight.out) {
        buffer(flight.slotBuffer) = std::move(flight.payload);
    } else {
        if (const std::int64_t undefined = pasteBlock(flight); undefined > 0) {
            m_findings.reportUndefinedWrite(flight, undefined);
        }
    }
}

// Writes the rows one by one. If a row is listed twice, the last one stays, or both are added.
void Copies::writeRows(Flight& flight)
{
    for (std::size_t i = 0; i < flight.rows.size(); ++i) {
        const RefBinding& to = flight.rows[i].second;
        put(to, std::move(flight.ofRows[i]), flight.reduction);
    }
}

void Copies::put(const RefBinding& to, RuntimeValue elements, ir::AtomicType reduction)
{
    if (reduction != ir::AtomicType::Xchg) {
        RuntimeValue there = loadThrough(to, buffer(to.buffer));
        elements = changedBy(reduction, there, elements);
    }
    storeThrough(to, buffer(to.buffer), std::move(elements));
}

void Copies::noteStored(const RefBinding& ref, const RuntimeValue& value, ir::LocationId location,
                        const RuntimeValue* mask)
{
    if (takesUndefined(value, mask)) {
        m_memory[ref.buffer].undefinedBy = location;
    }
}

Flight& Copies::newFlight(std::int32_t link)
{
    Flight& flight = m_mode == DmaMode::Timed
                         ? m_state.flights[static_cast<std::size_t>(link)].emplace_back()
                         : (m_flight = {});
    flight.agent = m_turn.agent().id;
    return flight;
}

// What the copy does to memory happens later, now, or when somebody waits, as dma_execution_mode
// says. Its times are the same in all modes.
void Copies::launch(Flight& flight)
{
    switch (m_mode) {
    case DmaMode::Timed:
        if (flight.operand != nullptr && !flight.out && m_memory[flight.array.buffer].isConstant) {
            read(flight); // the source will be the same when the copy starts
        }
        return;
    case DmaMode::Eager:
        read(flight);
        write(flight);
        return;
    case DmaMode::OnWait:
        m_state.held.push_back(std::move(flight));
    }
}

// Called when a pipeline waits for one copy.
void Copies::landCopy(trace::CopyRow copy)
{
    const auto held = std::find_if(m_state.held.begin(), m_state.held.end(),
                                   [&](const Flight& flight) { return flight.copy == copy; });
    if (held != m_state.held.end()) {
        Flight flight = std::move(*held);
        m_state.held.erase(held);
        read(flight);
        write(flight);
    }
}

// A wait of the program makes the copies on its semaphore, those started last first, up to the
// bytes for which it waits. Only these copies are ordered before what the agent does next.
void Copies::landHeld(Semaphore& semaphore, std::int64_t bytes, std::int32_t agent)
{
    while (!semaphore.held.empty() && semaphore.executed < bytes) {
        const HeldCopy copy = semaphore.held.back();
        semaphore.held.pop_back();
        semaphore.heldBytes -= copy.bytes;
        semaphore.executed += copy.bytes;
        if (copy.awaited.copy) {
            m_races.await(agent, copy.awaited);
        }
        const auto flight = std::find_if(m_state.held.begin(), m_state.held.end(),
                                         [&](const Flight& one) { return one.copy == copy.copy; });
        if (flight == m_state.held.end()) {
            continue;
        }
        if (!flight->started) {
            read(*flight);
        }
        if (!copy.onlyReads) {
            Flight done = std::move(*flight);
            m_state.held.erase(flight);
            write(done);
        }
    }
    semaphore.executed -= bytes;
}

bool Copies::isOnItsWay(std::int32_t buffer) const
{
    const auto writes = [&](const Flight& flight) {
        const bool isManual = flight.operand == nullptr;
        return (isManual     ? flight.target.buffer
                : flight.out ? flight.array.buffer
                             : flight.slotBuffer)
               == buffer;
    };
    const std::vector<Flight>& held = m_state.held;
    return std::any_of(held.begin(), held.end(), writes)
           || std::any_of(m_state.flights.begin(), m_state.flights.end(),
                          [&](const Queue<Flight>& link) {
                              return std::any_of(link.begin(), link.end(), writes);
                          });
}

void Copies::finishReads(SlabRange buffers)
{
    const auto finish = [&](Flight& flight) {
        const std::int32_t from = flight.source.buffer - buffers.first;
        if (flight.operand != nullptr || from < 0 || from >= buffers.count) {
            return;
        }
        if (!flight.started) {
            read(flight);
        }
        flight.source.buffer = -1;
    };
    for (Queue<Flight>& link : m_state.flights) {
        std::for_each(link.begin(), link.end(), finish);
    }
    std::for_each(m_state.held.begin(), m_state.held.end(), finish);
}

void Copies::dropFlights(SlabRange buffers)
{
    for (Queue<Flight>& link : m_state.flights) {
        link.removeIf([&](const Flight& flight) { return flight.touches(buffers); });
    }
    std::erase_if(m_state.held, [&](const Flight& flight) { return flight.touches(buffers); });
    for (std::size_t device = 0; device < m_state.caches.size(); ++device) {
        if (!m_state.caches[device].knows(buffers)) { // most buffers are in SMEM
            continue;
        }
        if (m_state.caches[device].drop(buffers)) {
            recordHeld(device);
        }
        for (auto& [slot, use] : m_uses) {
            if (use.l1) {
                use.l1->drop(buffers);
            }
        }
    }
}

Buffer Copies::cutBlock(const OperandPlan& operand, const RefBinding& array,
                        std::int64_t block) const
{
    const Buffer& all = buffer(array.buffer);
    const Box box = operand.box(block);
    if (array.recasts.empty()) {
        return all.cut(viewOf(array, all.shape()), box, operand.blockShape);
    }
    Buffer found = m_turn.undefined(operand.dtype, operand.blockShape);
    forEachPart(box, [&](const Box& part) {
        found.store(cornerView(part, operand.blockShape),
                    loadThrough(boxOf(array, all.shape(), part), all));
    });
    return found;
}

// Returns how many of the elements written by the block's copy are undefined.
std::int64_t Copies::pasteBlock(const Flight& flight)
{
    Buffer& all = buffer(flight.array.buffer);
    const Box box = flight.operand->box(flight.block);
    if (flight.array.recasts.empty()) {
        return all.paste(viewOf(flight.array, all.shape()), box, flight.payload);
    }
    std::int64_t undefined = 0;
    forEachPart(box, [&](const Box& part) {
        const StridedView from = cornerView(part, flight.payload.shape());
        RuntimeValue elements = flight.payload.load(from, from.shape);
        undefined += Buffer(elements, all.fill()).undefinedCount();
        storeThrough(boxOf(flight.array, all.shape(), part), all, std::move(elements));
    });
    return undefined;
}

} // namespace pallascope::machine
