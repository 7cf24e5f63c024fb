// Loads, stores and atomic operations of whose elements a mask may leave some out. In the memory
// that the blocks of a GPU share, elements that are left out are not accessed at all: they may lie
// outside of the array, and another block may store to them.
#include "core/machine/parts/accesses.h"
#include "core/machine/parts/atomics.h"
#include "core/machine/prepare/plan.h"

#include <algorithm>

namespace pallascope::machine {

using ir::OpCode;

namespace {

// The lanes that a mask takes, and the box that they span.
struct Taken
{
    std::int64_t count = 0;
    Extents low, high; // the first and the last along each axis

    [[nodiscard]] bool isBox() const
    {
        std::int64_t all = 1;
        for (std::size_t axis = 0; axis < low.size(); ++axis) {
            all *= high[axis] - low[axis] + 1;
        }
        return all == count;
    }

    void add(const Extents& at, std::int64_t from, std::int64_t to)
    {
        for (std::size_t axis = 0; axis < low.size(); ++axis) {
            const bool last = axis + 1 == low.size();
            low[axis] = std::min(low[axis], last ? from : at[axis]);
            high[axis] = std::max(high[axis], last ? to - 1 : at[axis]);
        }
        count += to - from;
    }
};

// Calls visit(position, from, to) for each run of lanes along the last axis that the mask takes.
template<class F>
void forEachRun(const RuntimeValue& mask, F visit)
{
    const Shape& shape = mask.shape;
    const Extent length = shape[shape.rank() - 1];
    Extents at(shape.rank(), 0);
    for (std::int64_t row = 0; row < shape.elements(); row += length) {
        const std::uint8_t* taken = mask.as<std::uint8_t>() + row;
        for (Extent from = 0; from < length; ++from) {
            Extent to = from;
            while (to < length && taken[to] != 0) {
                ++to;
            }
            if (to > from) {
                visit(at, from, to);
                from = to;
            }
        }
        for (std::size_t axis = shape.rank() - 1; axis-- > 0 && ++at[axis] == shape[axis];) {
            at[axis] = 0;
        }
    }
}

Taken takenBy(const RuntimeValue* mask, const Shape& shape)
{
    Taken taken{0, shape.extents(), Extents(shape.rank(), -1)};
    if (mask == nullptr) {
        taken = {shape.elements(), Extents(shape.rank(), 0), shape.extents()};
        for (Extent& last : taken.high) {
            --last;
        }
    } else if (mask->isScalar()) {
        taken.count = mask->scalar != 0 ? 1 : 0;
    } else {
        forEachRun(*mask, [&](const Extents& at, std::int64_t from, std::int64_t to) {
            taken.add(at, from, to);
        });
    }
    return taken;
}

// A run or a box of lanes, as a part of what exists.
RefBinding partOf(const RefBinding& ref, const Shape& memory, const Extents& low,
                  const Extents& high)
{
    std::vector<Window> windows;
    for (std::size_t axis = 0; axis < low.size(); ++axis) {
        const Extent first = ref.asked ? ref.asked->first[axis] : 0;
        windows.push_back({low[axis] - first, high[axis] - low[axis] + 1, 1, true});
    }
    RefBinding part = narrowed(ref, memory, windows);
    part.asked = nullptr;
    return part;
}

// Cuts the box of lanes to those that exist. Returns whether any is left.
bool cutToInside(const RefBinding& ref, const Shape& memory, Taken& taken)
{
    if (!ref.asked) {
        return true;
    }
    bool some = !ref.asked->isEmpty;
    const Shape& inside = shapeOf(ref, memory);
    for (std::size_t axis = 0; some && axis < taken.low.size(); ++axis) {
        const Extent first = ref.asked->first[axis];
        taken.low[axis] = std::max(taken.low[axis], first);
        taken.high[axis] = std::min(taken.high[axis], first + inside[axis] - 1);
        some = taken.low[axis] <= taken.high[axis];
    }
    return some;
}

// The boxes of the lanes that exist and that the mask takes. Runs in a row with no more than `gap`
// lanes between them are one box, which has these as well.
std::vector<Accesses::Lanes> boxesOf(const RefBinding& ref, const Shape& memory,
                                     const RuntimeValue* mask, const Taken& taken, Extent gap = 0)
{
    std::vector<Accesses::Lanes> boxes;
    const auto add = [&](Taken box) {
        if (cutToInside(ref, memory, box)) {
            boxes.push_back({partOf(ref, memory, box.low, box.high), box.low, box.high});
        }
    };
    if (taken.count == 0) {
        return boxes;
    }
    if (taken.isBox()) {
        add(taken);
        return boxes;
    }
    std::optional<Taken> row;
    const std::size_t along = taken.low.size() - 1;
    forEachRun(*mask, [&](const Extents& at, std::int64_t from, std::int64_t to) {
        Taken run{0, at, at};
        run.low[along] = from;
        run.high[along] = to - 1;
        if (row && from - row->high[along] - 1 <= gap
            && std::equal(at.begin(), at.end() - 1, row->low.begin())) {
            row->high[along] = to - 1;
            return;
        }
        if (row) {
            add(*row);
        }
        row = std::move(run);
    });
    add(*row);
    return boxes;
}

// The lanes that exist, in an array of all lanes that are laid out row by row.
StridedView existingLanes(const RefBinding& ref, const Shape& memory, const Shape& lanes)
{
    StridedView inside{0, shapeOf(ref, memory), rowMajorStrides(lanes)};
    for (std::size_t axis = 0; axis < lanes.rank(); ++axis) {
        inside.offset += ref.asked->first[axis] * inside.strides[axis];
    }
    return inside;
}

const ir::ValueId* maskOf(const ir::Operation& operation)
{
    const std::size_t at = operation.code == OpCode::MaskedLoad ? 1 : 2;
    return operation.code != OpCode::AtomicCas && operation.operands.size() > at
               ? &operation.operands[at]
               : nullptr;
}

// The axis on which the lanes leave the array, and how far they reach there.
struct Leaving
{
    std::size_t axis = 0;
    std::int64_t first = 0, last = 0;
};

std::optional<Leaving> leavingOf(const Asked& asked, const Taken& taken)
{
    std::size_t lane = 0; // the axis of the lanes
    for (std::size_t axis = 0; axis < asked.windows.size(); ++axis) {
        const Window& window = asked.windows[axis];
        Leaving found{axis, window.start, window.start};
        if (window.kept) {
            found.first += taken.low[lane] * window.stride;
            found.last += taken.high[lane] * window.stride;
            ++lane;
        }
        if (found.first < 0 || found.last >= asked.extents[axis]) {
            return found;
        }
    }
    return {};
}

} // namespace

void Accesses::accessMasked(const Evaluation& evaluation)
{
    const ir::Operation& operation = *evaluation.operation;
    if (accessesByLane(m_prepared.program, operation) || ir::isAtomic(operation.code)) {
        accessLanes(evaluation);
    } else if (operation.code == OpCode::MaskedLoad) {
        maskedLoad(operation);
    } else {
        maskedSwap(operation);
    }
}

Watch::Hits Accesses::watchedIn(const RefBinding& ref, const RuntimeValue* mask) const
{
    Watch::Hits hits = m_watch.in(ref);
    if (hits.empty() || mask == nullptr) {
        return hits;
    }
    if (mask->isScalar()) {
        return mask->scalar != 0 ? hits : Watch::Hits();
    }
    const Shape& memory = m_turn.buffer(ref.buffer).shape();
    const StridedView lanes = ref.asked ? existingLanes(ref, memory, mask->shape)
                                        : StridedView{0, mask->shape, rowMajorStrides(mask->shape)};
    std::erase_if(hits, [&](const Watch::Hit& hit) {
        std::int64_t lane = lanes.offset, rest = hit.position;
        for (std::size_t axis = lanes.shape.rank(); axis-- > 0;) {
            lane += rest % lanes.shape[axis] * lanes.strides[axis];
            rest /= lanes.shape[axis];
        }
        return mask->as<std::uint8_t>()[lane] == 0;
    });
    return hits;
}

void Accesses::maskedLoad(const ir::Operation& operation)
{
    const RefBinding& ref = m_turn.binding(operation.operands[0]);
    const bool hasMask = operation.operands.size() > 1;
    m_watch.read(watchedIn(ref, hasMask ? &m_turn.value(operation.operands[1]) : nullptr));
    RuntimeValue loaded = loadThrough(ref, m_turn.buffer(ref.buffer));
    if (operation.operands.size() > 2) {
        loaded = picked(m_turn.value(operation.operands[1]), m_turn.value(operation.operands[2]),
                        loaded);
    }
    m_turn.value(operation.results[0]) = std::move(loaded);
    noteLoad(ref, operation);
}

void Accesses::maskedSwap(const ir::Operation& operation)
{
    const RefBinding& ref = m_turn.binding(operation.operands[0]);
    RuntimeValue& value = m_turn.value(operation.operands[1]);
    RuntimeValue& mask = m_turn.value(operation.operands[2]);
    const Watch::Writing writing(m_watch, watchedIn(ref, &mask));
    RuntimeValue old = loadThrough(ref, m_turn.buffer(ref.buffer));
    m_copies.noteStored(ref, value, operation.location, &mask);
    storeThrough(ref, m_turn.buffer(ref.buffer), picked(mask, old, value));
    m_turn.value(operation.results[0]) = std::move(old);
}

// What the lanes hold; undefined where nothing exists.
RuntimeValue Accesses::loadLanes(const RefBinding& ref, const Shape& shape)
{
    const Buffer& memory = m_turn.buffer(ref.buffer);
    if (!ref.asked) {
        return loadThrough(ref, memory);
    }
    Buffer seen(memory.dtype(), shape, memory.fill());
    if (!ref.asked->isEmpty) {
        seen.store(existingLanes(ref, memory.shape(), shape), loadThrough(ref, memory));
    }
    return seen.loadAll();
}

void Accesses::storeLanes(const RefBinding& ref, RuntimeValue value)
{
    Buffer& memory = m_turn.buffer(ref.buffer);
    if (!ref.asked) {
        storeThrough(ref, memory, std::move(value));
    } else if (!ref.asked->isEmpty) {
        const StridedView part = existingLanes(ref, memory.shape(), value.shape);
        storeThrough(ref, memory, Buffer(std::move(value), memory.fill()).load(part, part.shape));
    }
}

void Accesses::noteLanes(const ir::Operation& operation, const std::vector<Lanes>& boxes)
{
    if (boxes.empty()) {
        noteNothingReached(operation);
    }
    for (const Lanes& lanes : boxes) {
        noteReached(operation, lanes.where);
    }
}

// Looks for lanes outside of the array and for races; whether the access goes on.
bool Accesses::checkLanes(const ir::Operation& operation, const RuntimeValue* mask)
{
    const RefBinding& ref = m_turn.binding(operation.operands[0]);
    const Shape& memory = m_turn.buffer(ref.buffer).shape();
    const ir::Type& type = m_prepared.program.type(operation.operands[0]);
    Taken taken = takenBy(mask, type.shape);
    if (isCached(operation)) {
        // Loads move whole sectors: lanes between two of neighbouring sectors make no difference.
        const bool isLoad = operation.code == OpCode::MaskedLoad;
        const Extent gap = isLoad ? elementsOfSector(dtypeBits(type.dtype)) - 1 : 0;
        noteLanes(operation, boxesOf(ref, memory, mask, taken, gap));
    }
    if (taken.count == 0) {
        return true;
    }
    if (const auto leaving = ref.asked ? leavingOf(*ref.asked, taken) : std::nullopt) {
        if (!leavesRef(operation, leaving->axis, leaving->first, leaving->last,
                       ref.asked->extents[leaving->axis])) {
            return false;
        }
    }
    if (!mayRace(ref)) {
        return true;
    }
    if (ir::isAtomic(operation.code) && taken.count == 1 && cutToInside(ref, memory, taken)) {
        m_races.synchronise(m_turn.agent().id, ref.buffer,
                            offsetOf(partOf(ref, memory, taken.low, taken.high)));
    }
    std::optional<std::vector<RefBinding>> parts;
    if (!taken.isBox()) {
        parts.emplace();
        for (Lanes& lanes : boxesOf(ref, memory, mask, taken)) {
            parts->push_back(std::move(lanes.where));
        }
    }
    if (cutToInside(ref, memory, taken)) {
        checkRace(operation.operands[0], operation, ir::storesInto(operation.code),
                  partOf(ref, memory, taken.low, taken.high), std::move(parts));
    }
    return true;
}

std::optional<std::vector<Accesses::Lanes>> Accesses::copiedLanes(const ir::Operation& operation,
                                                                  const RuntimeValue* mask)
{
    const RefBinding& ref = m_turn.binding(operation.operands[0]);
    const Shape& memory = m_turn.memoryShape(operation.operands[0]);
    const Taken taken = takenBy(mask, m_prepared.program.type(operation.operands[0]).shape);
    if (const auto leaving =
            ref.asked && taken.count > 0 ? leavingOf(*ref.asked, taken) : std::nullopt;
        leaving
        && !leavesRef(operation, leaving->axis, leaving->first, leaving->last,
                      ref.asked->extents[leaving->axis])) {
        return {};
    }
    return boxesOf(ref, memory, mask, taken);
}

void Accesses::accessLanes(const Evaluation& evaluation)
{
    const ir::Operation& operation = *evaluation.operation;
    const RefBinding& ref = m_turn.binding(operation.operands[0]);
    const ir::Type& type = m_prepared.program.type(operation.operands[0]);
    const ir::ValueId* const given = maskOf(operation);
    RuntimeValue* const mask = given == nullptr ? nullptr : &m_turn.value(*given);
    if (mask != nullptr) {
        m_findings.reportUndefinedUse(*mask, trace::FindingKind::UndefinedIndex, "A mask",
                                      operation.location);
    }
    if (!checkLanes(operation, mask) || evaluation.touches) {
        return;
    }
    const bool stores = ir::storesInto(operation.code);
    const bool exists = !ref.asked || !ref.asked->isEmpty;
    const Watch::Hits hits = exists ? watchedIn(ref, mask) : Watch::Hits();
    RuntimeValue old = loadLanes(ref, type.shape);
    RuntimeValue rest = m_turn.undefined(type.dtype, type.shape).loadAll();
    if (!stores) {
        m_watch.read(hits);
        RuntimeValue& others =
            operation.operands.size() > 2 ? m_turn.value(operation.operands[2]) : rest;
        m_turn.value(operation.results[0]) = picked(*mask, others, old);
        return;
    }
    RuntimeValue& value = m_turn.value(operation.operands[1]);
    const Watch::Writing writing(m_watch, hits);
    const auto* atomic = std::get_if<ir::AtomicParams>(&operation.params);
    RuntimeValue changed = operation.code == OpCode::AtomicCas
                               ? swappedIf(old, value, m_turn.value(operation.operands[2]))
                           : atomic != nullptr ? changedBy(atomic->atomicType, old, value)
                                               : value;
    if (exists) {
        m_copies.noteStored(ref, changed, operation.location, mask);
    }
    if (mask != nullptr) {
        changed = picked(*mask, old, changed);
        m_turn.value(operation.results[0]) = picked(*mask, rest, old);
    } else {
        m_turn.value(operation.results[0]) = old;
    }
    storeLanes(ref, std::move(changed));
}

} // namespace pallascope::machine
