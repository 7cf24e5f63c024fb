// Loads and stores of listed elements: each lane has one index for each axis of the ref.
#include "core/machine/parts/accesses.h"

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
        if (!list.shadow.defines(lane)) {
            m_findings.reportUndefinedUse(list, trace::FindingKind::UndefinedIndex, "An index",
                                          operation.location);
        }
        const std::int64_t index = list.as<std::int32_t>()[lane];
        if (index < 0 || index >= extents[axis]) {
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
    const bool adds = operation.code == ir::OpCode::AddupdateScatter;
    const DType dtype = m_prepared.program.type(operation.operands[0]).dtype;
    Buffer moved = stores && !evaluation.touches
                       ? Buffer(m_turn.value(operation.operands[1]), memory.fill())
                       : m_turn.undefined(dtype, lanes);
    for (std::int64_t lane = 0; lane < lanes.elements() && !m_ending.hasStopped(); ++lane) {
        if (mask != nullptr && mask->as<std::uint8_t>()[lane] == 0) {
            continue;
        }
        const std::optional<RefBinding> where = listedElement(operation, first, lane);
        if (!where || evaluation.touches) { // it matters only which elements it accesses
            continue;
        }
        if (stores) {
            const Watch::Writing writing(m_watch, m_watch.in(*where));
            m_copies.put(*where, moved.load(laneView(lane), Shape()), adds);
        } else {
            m_watch.read(m_watch.in(*where));
            moved.store(laneView(lane), loadThrough(*where, memory));
        }
    }
    if (!stores && !evaluation.touches) {
        m_turn.value(operation.results[0]) = moved.loadAll();
    }
}

} // namespace pallascope::machine
