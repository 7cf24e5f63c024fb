#include "core/machine/parts/watch.h"

#include "core/ir/infer.h"
#include "core/machine/memory/positions.h"
#include "core/machine/parts/turn.h"

#include <algorithm>
#include <cmath>

namespace pallascope::machine {

namespace {

constexpr std::size_t kMostNans = 1'000'000; // births, and loaded NaNs, that are kept

bool isIn(std::int32_t memory, SlabRange range)
{
    return range.first <= memory && memory < range.first + range.count;
}

ir::ValueId refIn(const Owned& owned, std::int32_t memory)
{
    for (const auto& [ref, range] : owned.buffers) {
        if (isIn(memory, range)) {
            return ref;
        }
    }
    return {};
}

} // namespace

void Watch::begin(Watched watched)
{
    m_watched = std::move(watched);
    m_isOn = true;
    m_found = {};
    m_nansLeft = kMostNans;
    m_by = {};
    m_isCopy = false;
    m_cells.clear();
    m_created.clear();
    for (const Cell& cell : m_watched.cells) {
        m_cells.push_back({cell, -1, -1, true});
    }
    for (const Agent& agent : m_agents) {
        for (const ir::Argument& argument : m_prepared.program.arguments) {
            const auto position = positionOf(argument.ref);
            if (const std::int32_t memory = memoryOf(agent, argument.ref);
                position && memory >= 0) {
                add({memory, *position}, agent.id);
            }
        }
    }
    for (const Entry& one : m_cells) {
        if (one.cell.memory < m_memory.end()
            && one.cell.element < shapeOfMemory(one.cell.memory).elements()) {
            m_found.all.push_back(touch(Touch::Kind::Given, {one.cell, {}}));
        }
    }
}

Touches Watch::end()
{
    m_isOn = m_watched.nans = false;
    return std::exchange(m_found, {});
}

std::optional<std::int64_t> Watch::positionOf(ir::ValueId ref) const
{
    for (const Watched::Element& element : m_watched.elements) {
        if (element.ref == ref) {
            return element.position;
        }
    }
    return std::nullopt;
}

// Instances of the matrix unit, and cores that have not begun, have no refs: -1.
std::int32_t Watch::memoryOf(const Agent& agent, ir::ValueId ref) const
{
    const std::size_t slot = m_prepared.slots.of(ref);
    return slot < agent.refs.size() ? agent.refs[slot].buffer : -1;
}

void Watch::add(const Cell& cell, std::int32_t owner, std::int32_t slot)
{
    const auto same = [&](const Entry& one) { return one.cell == cell; };
    if (std::none_of(m_cells.begin(), m_cells.end(), same)) {
        m_cells.push_back({cell, owner, slot, false});
    }
}

// ---- who touches memory -------------------------------------------------------------------------

void Watch::byOperation(const ir::Operation& operation, std::int64_t event, Picoseconds time)
{
    byAgent();
    m_by.event = event;
    m_by.time = time;
    m_by.operation = operation.id;
}

void Watch::byOperation(const ir::Operation& operation)
{
    byOperation(operation, m_recorder.position().events, m_turn.agent().time);
}

void Watch::byPipeline(const ir::Operation& pipeline)
{
    byOperation(pipeline, m_recorder.position().events + 1, m_turn.agent().time);
}

void Watch::byAgent()
{
    const Agent& agent = m_turn.agent();
    m_by = {};
    m_by.event = m_recorder.position().events;
    m_by.time = agent.time;
    m_by.agent = agent.id;
    m_by.step = agent.step;
    m_isCopy = false;
}

void Watch::byCopy(const Flight& flight, Picoseconds time)
{
    m_by = {};
    m_by.event = m_recorder.position().events;
    m_by.time = time;
    m_by.agent = flight.agent;
    m_by.step = flight.step;
    m_by.copy = flight.copy;
    m_isCopy = true;
}

void Watch::created(ir::ValueId ref, SlabRange memories)
{
    if (!m_isOn) {
        return;
    }
    byAgent();
    const std::optional<std::int64_t> position = positionOf(ref);
    for (std::int32_t i = 0; i < memories.count; ++i) {
        m_created.insert_or_assign(memories.first + i, Home{ref, m_turn.agent().id});
    }
    for (std::int32_t i = 0; i < memories.count && position; ++i) {
        add({memories.first + i, *position}, m_turn.agent().id, memories.count > 1 ? i : -1);
    }
    for (const Hit& hit : in(memories)) {
        m_found.all.push_back(touch(Touch::Kind::Created, hit));
        m_found.all.back().spot.ref = ref; // no frame has it yet
    }
}

void Watch::released(ir::ValueId ref, SlabRange memories)
{
    if (!m_isOn) {
        return;
    }
    byAgent();
    ++m_by.event; // at the moment after the last event the memory is there still
    for (const Hit& hit : in(memories)) {
        m_found.all.push_back(touch(Touch::Kind::Released, hit));
        m_found.all.back().spot.ref = ref; // no frame has it any more
    }
    std::erase_if(
        m_cells, [&](const Entry& one) { return !one.isAsked && isIn(one.cell.memory, memories); });
    for (std::int32_t i = 0; i < memories.count; ++i) {
        m_created.erase(memories.first + i);
    }
}

void Watch::bound(ir::ValueId ref, const RefBinding& where)
{
    const auto position = m_isOn ? positionOf(ref) : std::nullopt;
    if (!position) {
        return;
    }
    const Cell cell{where.buffer, elementAt(where, shapeOfMemory(where.buffer), *position)};
    const std::size_t before = m_cells.size();
    add(cell, m_turn.agent().id);
    if (m_cells.size() > before) {
        byAgent();
        m_found.all.push_back(touch(Touch::Kind::Shown, {cell, {}}));
    }
}

// ---- which cells are touched --------------------------------------------------------------------

Watch::Hits Watch::hitsIn(const RefBinding& ref) const
{
    Hits hits;
    for (const Entry& one : m_cells) {
        const Cell& cell = one.cell;
        if (cell.memory != ref.buffer) {
            continue;
        }
        const Shape& memory = shapeOfMemory(ref.buffer);
        if (const auto position = positionIn(ref, memory, cell.element)) {
            hits.push_back({cell, {}, *position, shapeOf(ref, memory).elements()});
        }
    }
    return hits;
}

Watch::Hits Watch::hitsIn(std::int32_t memory, std::int64_t element) const
{
    Hits hits;
    for (const Entry& one : m_cells) {
        if (one.cell == Cell{memory, element}) {
            hits.push_back({one.cell, {}, 0, 1});
        }
    }
    return hits;
}

Watch::Hits Watch::hitsIn(SlabRange memories) const
{
    Hits hits;
    for (const Entry& one : m_cells) {
        const Cell& cell = one.cell;
        if (isIn(cell.memory, memories) && cell.element < shapeOfMemory(cell.memory).elements()) {
            hits.push_back({cell, {}});
        }
    }
    return hits;
}

Watch::Hits Watch::hitsIn(const Flight& flight, bool target) const
{
    if (flight.operand != nullptr) {
        return hitsInBlock(*flight.operand, flight.array, flight.block, flight.slotBuffer,
                           target != flight.out);
    }
    Hits hits;
    const auto add = [&](const RefBinding& from, const RefBinding& to) {
        const RefBinding &here = target ? to : from, &there = target ? from : to;
        for (const Entry& one : m_cells) {
            if (one.cell.memory != here.buffer) {
                continue;
            }
            const Shape& memory = shapeOfMemory(here.buffer);
            if (const auto at = positionIn(here, memory, one.cell.element)) {
                const bool exists = there.buffer >= 0; // the source of a copy may have ended
                hits.push_back({one.cell, exists ? std::optional(Cell{
                                              there.buffer,
                                              elementAt(there, shapeOfMemory(there.buffer), *at)})
                                                 : std::nullopt});
            }
        }
    };
    for (const auto& [from, to] : flight.rows) {
        add(from, to);
    }
    if (flight.rows.empty()) {
        add(flight.source, flight.target);
    }
    return hits;
}

Watch::Hits Watch::hitsInBlock(const OperandPlan& operand, const RefBinding& array,
                               std::int64_t block, std::int32_t slot, bool inSlot) const
{
    Hits hits;
    for (const Entry& one : m_cells) {
        const Cell& cell = one.cell;
        if (cell.memory != (inSlot ? slot : array.buffer)) {
            continue;
        }
        const Shape& memory = shapeOfMemory(array.buffer);
        std::optional<Cell> other;
        forEachPart(operand.box(block), [&](const Box& part) {
            const RefBinding far = boxOf(array, memory, part);
            const StridedView near = cornerView(part, operand.blockShape);
            const auto at =
                inSlot ? positionIn(near, cell.element) : positionIn(far, memory, cell.element);
            if (at && inSlot) {
                other = {array.buffer, elementAt(far, memory, *at)};
            } else if (at) {
                other = {slot, elementAt(near, *at)};
            }
        });
        if (inSlot || other) { // a copy to a slot replaces all of it
            hits.push_back({cell, other});
        }
    }
    return hits;
}

// ---- what is noted ------------------------------------------------------------------------------

// Bindings of scopes that have ended still name their memory, so what frames own decides. While a
// scope ends, or agents share it, no frame owns its memory.
Watch::Home Watch::homeOf(std::int32_t memory) const
{
    if (const auto created = m_created.find(memory); created != m_created.end()) {
        return created->second;
    }
    for (const Agent& agent : m_agents) {
        for (const Frame& frame : agent.frames) {
            ir::ValueId found;
            if (const auto* pipeline = std::get_if<PipelineFrame>(&frame)) {
                found = refIn(pipeline->owned, memory);
            } else if (const auto* scope = std::get_if<ScopeFrame>(&frame)) {
                found = refIn(scope->owned, memory);
            }
            if (found.index >= 0) {
                return {found, agent.id};
            }
        }
        for (const ir::Argument& argument : m_prepared.program.arguments) {
            if (memoryOf(agent, argument.ref) == memory) {
                return {argument.ref, agent.id};
            }
        }
    }
    return {};
}

Spot Watch::spotOf(const Cell& cell) const
{
    Spot spot{homeOf(cell.memory).ref, {}};
    std::int64_t rest = cell.element;
    for (const std::int64_t stride : rowMajorStrides(shapeOfMemory(cell.memory))) {
        spot.index.push_back(rest / stride);
        rest %= stride;
    }
    return spot;
}

Held Watch::held(const Cell& cell) const
{
    const RuntimeValue value = m_memory[cell.memory].contents.loadElement(cell.element);
    return {value.scalar, value.shadow.all()};
}

Touch Watch::touch(Touch::Kind kind, const Hit& hit) const
{
    Touch touch = m_by;
    touch.kind = kind;
    touch.cell = hit.cell;
    touch.spot = spotOf(hit.cell);
    touch.position = hit.position;
    touch.of = hit.of;
    touch.other = hit.other;
    touch.otherSpot = hit.other ? spotOf(*hit.other) : Spot();
    touch.before = touch.after = held(hit.cell);
    const auto watched = std::find_if(m_cells.begin(), m_cells.end(),
                                      [&](const Entry& one) { return one.cell == hit.cell; });
    const Home home = homeOf(hit.cell.memory);
    const bool isOfRef = watched != m_cells.end() && !watched->isAsked;
    touch.owner = isOfRef ? watched->owner : home.agent;
    touch.slot = isOfRef ? watched->slot : -1;
    touch.on = isSharedWith(m_by.agent, {home.ref, touch.owner}) ? m_by.agent : touch.owner;
    return touch;
}

// Whether the agent has this memory, too: all agents of a device share its HBM.
bool Watch::isSharedWith(std::int32_t agent, const Home& home) const
{
    if (agent < 0 || home.agent < 0 || home.ref.index < 0) {
        return false;
    }
    const ir::MemorySpace space = *m_prepared.program.type(home.ref).space;
    const auto deviceOf = [&](std::int32_t id) {
        return m_agents[static_cast<std::size_t>(id)].device;
    };
    return (ir::isFar(space) || space == ir::MemorySpace::Spmem)
           && deviceOf(agent) == deviceOf(home.agent);
}

void Watch::noteRead(const Hits& hits)
{
    for (const Hit& hit : hits) {
        m_found.all.push_back(touch(m_isCopy ? Touch::Kind::CopyRead : Touch::Kind::Read, hit));
    }
}

void Watch::Writing::begin()
{
    if (m_kind == Touch::Kind::Written && m_watch.m_isCopy) {
        m_kind = Touch::Kind::CopyWritten;
    }
    for (const Hit& hit : m_hits) {
        m_before.push_back(m_watch.held(hit.cell));
    }
}

void Watch::Writing::end()
{
    for (std::size_t i = 0; i < m_hits.size(); ++i) {
        Touch touch = m_watch.touch(m_kind, m_hits[i]);
        touch.before = m_before[i];
        m_watch.m_found.all.push_back(touch);
    }
}

void Watch::noteBirth(const ir::Operation& operation, bool isOfInf)
{
    if (m_found.births.size() < kMostNans) {
        m_found.births.push_back(
            {m_by.event, m_by.time, m_by.agent, m_by.step, operation.id, isOfInf});
    }
}

void Watch::noteLoad(const RefBinding& ref, const RuntimeValue& loaded)
{
    NanLoad found{.event = m_by.event,
                  .time = m_by.time,
                  .agent = m_by.agent,
                  .step = m_by.step,
                  .operation = m_by.operation,
                  .of = loaded.elements()};
    const Shape& memory = shapeOfMemory(ref.buffer);
    for (std::int64_t i = 0; i < found.of && m_nansLeft > 0; ++i) {
        const double value =
            loaded.isScalar() ? loaded.scalar : readElement(loaded.dtype, loaded.data.get(), i);
        const bool isDefined = loaded.shadow.defines(i);
        if (std::isnan(value) || !isDefined) {
            found.nans.push_back({i, {ref.buffer, elementAt(ref, memory, i)}, isDefined});
            --m_nansLeft;
        }
    }
    if (!found.nans.empty()) {
        found.ref = homeOf(ref.buffer).ref;
        m_found.loads.push_back(std::move(found));
    }
}

} // namespace pallascope::machine
