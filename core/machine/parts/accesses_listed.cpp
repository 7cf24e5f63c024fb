// Loads and stores of listed elements: each lane has one index for each axis of the ref.
#include "core/machine/parts/accesses.h"
#include "core/machine/parts/atomics.h"
#include "core/machine/prepare/plan.h"
#include "core/machine/state/sector_cache.h"

#include <algorithm>

namespace pallascope::machine {

namespace {

StridedView laneView(std::int64_t lane)
{
    return {lane, Shape(), {}};
}

} // namespace

// The element that a lane names; empty if it does not exist.
std::optional<RefBinding> Accesses::listedElement(const ir::Operation& operation, std::size_t first,
                                                  std::int64_t lane)
{
    const RefBinding& ref = m_turn.binding(operation.operands[0]);
    const Shape& memory = m_turn.memoryShape(operation.operands[0]);
    const Shape& extents = shapeOf(ref, memory);
    m_windows.clear();
    for (std::size_t axis = 0; axis < extents.rank(); ++axis) {
        const RuntimeValue& list = m_turn.value(operation.operands[first + axis]);
        const std::int64_t index = list.as<std::int32_t>()[lane];
        const bool isOutside = index < 0 || index >= extents[axis];
        if (!list.shadow.defines(lane)) {
            const bool ends = isOutside && stopsOutside(operation);
            m_findings.reportUndefinedUse(list, trace::FindingKind::UndefinedIndex,
                                          ends ? kIndexThatStops : "An index", operation.location);
            if (ends) {
                m_ending.stop(trace::findingEntry(trace::FindingKind::UndefinedIndex).name);
            }
            if (isOutside) { // one cause makes one finding
                return std::nullopt;
            }
        }
        if (isOutside) {
            (void)leavesRef(operation, axis, index, index, extents[axis]);
            return std::nullopt;
        }
        m_windows.push_back({index, 1, 1, false});
    }
    return narrowed(ref, memory, m_windows);
}

// Goes through the lanes in order: if two store to the same element the last one counts, and
// additions add up.
void Accesses::accessListed(const Evaluation& evaluation)
{
    const ir::Operation& operation = *evaluation.operation;
    const bool stores = ir::storesInto(operation.code);
    const std::size_t first = stores ? 2 : 1;
    const Buffer& memory = m_turn.buffer(m_turn.binding(operation.operands[0]).buffer);
    const std::size_t rank = shapeOf(m_turn.binding(operation.operands[0]), memory.shape()).rank();
    const RuntimeValue* mask = operation.operands.size() > first + rank
                                   ? &m_turn.value(operation.operands.back())
                                   : nullptr;
    if (mask != nullptr) {
        m_findings.reportUndefinedUse(*mask, trace::FindingKind::UndefinedIndex,
                                      "A mask of listed elements", operation.location);
    }
    const Shape lanes = m_turn.value(operation.operands[first]).shape;
    const DType dtype = m_prepared.program.type(operation.operands[0]).dtype;
    Buffer moved = stores && !evaluation.touches
                       ? Buffer(m_turn.value(operation.operands[1]), memory.fill())
                       : m_turn.undefined(dtype, lanes);
    const auto* atomic = std::get_if<ir::AtomicParams>(&operation.params);
    const bool isAtomic = atomic != nullptr;
    const auto change = isAtomic                                         ? atomic->atomicType
                        : operation.code == ir::OpCode::AddupdateScatter ? ir::AtomicType::Add
                                                                         : ir::AtomicType::Xchg;
    Buffer old = m_turn.undefined(dtype, isAtomic ? lanes : Shape());
    const bool isChecked = accessesByLane(m_prepared.program, operation)
                           && mayRace(m_turn.binding(operation.operands[0]));
    std::vector<RefBinding> reached;
    const bool isNoted = isCached(operation);
    std::vector<std::int64_t> elements;
    bool reachesAny = false;
    for (std::int64_t lane = 0; lane < lanes.elements() && !m_ending.hasStopped(); ++lane) {
        if (mask != nullptr && mask->as<std::uint8_t>()[lane] == 0) {
            continue;
        }
        const std::optional<RefBinding> where = listedElement(operation, first, lane);
        reachesAny = reachesAny || where;
        if (where && isNoted && where->recasts.empty()) {
            elements.push_back(offsetOf(*where));
        } else if (where && isNoted) {
            noteReached(operation, *where);
        }
        if (where && isChecked) {
            reached.push_back(*where);
        }
        if (!where || evaluation.touches) { // it matters only which elements it accesses
            continue;
        }
        if (isAtomic) {
            const Watch::Writing writing(m_watch, m_watch.in(*where));
            old.store(laneView(lane), loadThrough(*where, memory));
            m_copies.put(*where, moved.load(laneView(lane), Shape()), change);
        } else if (stores) {
            const Watch::Writing writing(m_watch, m_watch.in(*where));
            m_copies.put(*where, moved.load(laneView(lane), Shape()), change);
        } else {
            m_watch.read(m_watch.in(*where));
            moved.store(laneView(lane), loadThrough(*where, memory));
        }
    }
    if (!operation.results.empty() && !evaluation.touches) {
        m_turn.value(operation.results[0]) = (isAtomic ? old : moved).loadAll();
    }
    if (isNoted && reachesAny) {
        noteListed(operation, std::move(elements));
    } else if (isNoted) {
        noteNothingReached(operation);
    }
    checkListed(operation, std::move(reached));
}

void Accesses::noteListed(const ir::Operation& operation, std::vector<std::int64_t> elements)
{
    if (!std::is_sorted(elements.begin(), elements.end())) {
        std::sort(elements.begin(), elements.end());
    }
    const ir::ValueId ref = operation.operands[0];
    const std::int32_t buffer = m_turn.binding(ref).buffer;
    const Shape& memory = m_turn.memoryShape(ref);
    const Extent row = memory.rank() == 0 ? 1 : memory[memory.rank() - 1];
    const Extent apart = elementsOfSector(dtypeBits(m_prepared.program.type(ref).dtype));
    // Runs in a row of the array. What lies between elements of neighbouring sectors makes no
    // difference, as whole sectors move.
    for (auto next = elements.begin(); next != elements.end();) {
        const std::int64_t first = *next, behind = (first / row + 1) * row;
        std::int64_t last = first, changes = 0;
        while (next != elements.end() && *next < behind && *next - last <= apart) {
            const auto same = std::find_if(next, elements.end(),
                                           [&](std::int64_t element) { return element != *next; });
            changes = std::max<std::int64_t>(changes, same - next);
            last = *next;
            next = same;
        }
        noteReached(operation,
                    {buffer, false, {first, Shape({last - first + 1}), {1}}, {}, nullptr}, changes);
    }
}

// Checks the lanes for races, neighbours together.
void Accesses::checkListed(const ir::Operation& operation, std::vector<RefBinding> lanes)
{
    if (lanes.empty()) {
        return;
    }
    std::vector<RefBinding> runs;
    for (RefBinding& lane : lanes) {
        const bool plain = !lane.whole && lane.recasts.empty();
        if (plain && !runs.empty() && runs.back().recasts.empty()
            && runs.back().view.offset + runs.back().view.shape.elements() == lane.view.offset) {
            StridedView& run = runs.back().view;
            run.shape = Shape({run.shape.elements() + 1});
            run.strides = {1};
        } else {
            runs.push_back(std::move(lane));
        }
    }
    const RefBinding first = runs.front();
    checkRace(operation.operands[0], operation, ir::storesInto(operation.code), first,
              std::move(runs));
}

} // namespace pallascope::machine
