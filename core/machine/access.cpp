// Loads and stores through refs, and what happens where they leave them.
#include "core/base/check.h"
#include "core/machine/engine.h"

#include <algorithm>

namespace pallascope::machine {

namespace {

// Of `size` elements from `start` on, `stride` apart, those that lie in [0, extent).
struct Inside
{
    std::int64_t first, count;
};

Inside insideOf(std::int64_t start, const ir::IndexEntry& entry, std::int64_t extent)
{
    const std::int64_t first = start < 0 ? ceilDiv(-start, entry.stride) : 0;
    const std::int64_t end = start < extent ? ceilDiv(extent - start, entry.stride) : 0;
    return {first, std::max<std::int64_t>(0, std::min(end, entry.size) - first)};
}

} // namespace

// Without leave to go on the run stops.
bool Engine::leavesRef(const ir::Operation& operation, std::size_t axis, std::int64_t start,
                       std::int64_t last, std::int64_t extent)
{
    const std::string& ref = m_program.value(operation.operands[0]).name;
    const std::string what = std::string(ir::opName(operation.code)) + " reaches elements "
                             + std::to_string(start) + " to " + std::to_string(last) + " on axis "
                             + std::to_string(axis) + " of " + ref + ", which has "
                             + std::to_string(extent);
    if (m_options.settings.outOfBoundsReads == OutOfBoundsReads::Raise) {
        fail(userError(m_program.where(operation.location) + ": " + what + "."));
        return false;
    }
    m_recorder.addFinding(
        {"out_of_bounds",
         trace::FindingClass::Structural,
         what
             + (operation.code == ir::OpCode::Get ? ": those outside read as undefined."
                                                  : ": those outside are dropped."),
         ref,
         m_agent.step,
         {},
         m_recorder.sourceLine(m_program, operation.location),
         1});
    return true;
}

std::optional<Engine::Reach> Engine::reachOf(const ir::Operation& operation)
{
    const RefBinding& ref = binding(operation.operands[0]);
    const Shape& array = buffer(ref.buffer).shape();
    const std::vector<std::int64_t> arrayStrides = rowMajorStrides(array);
    Reach reach;
    std::vector<std::int64_t> strides;
    std::vector<Extent> sizes;
    for (std::size_t axis = 0; axis < array.rank(); ++axis) {
        const bool whole = ref.box.start.empty();
        reach.view.offset += whole ? 0 : ref.box.start[axis] * arrayStrides[axis];
        if (whole || !ref.box.squeezed[axis]) {
            strides.push_back(arrayStrides[axis]);
            sizes.push_back(whole ? array[axis] : ref.box.size[axis]);
        }
    }
    std::vector<Extent> extents, accessed;
    std::vector<std::int64_t> firsts;
    const auto& entries = std::get<ir::IndexerParams>(operation.params).entries;
    for (std::size_t axis = 0; axis < entries.size(); ++axis) {
        const ir::IndexEntry& entry = entries[axis];
        std::int64_t start = entry.start;
        if (entry.operand >= 0) {
            const RuntimeValue& index =
                value(operation.operands[static_cast<std::size_t>(entry.operand)]);
            reportUndefinedUse(index, "undefined_index", "An index", operation.location);
            start = static_cast<std::int64_t>(index.scalar);
        }
        Inside inside{0, entry.size};
        const std::int64_t last = start + (entry.size - 1) * entry.stride;
        if (start < 0 || last >= sizes[axis]) {
            if (!reach.clipped && !leavesRef(operation, axis, start, last, sizes[axis])) {
                return std::nullopt;
            }
            reach.clipped = true;
            inside = insideOf(start, entry, sizes[axis]);
            reach.empty = reach.empty || inside.count == 0;
        }
        reach.view.offset += (start + inside.first * entry.stride) * strides[axis];
        if (entry.isSlice) {
            accessed.push_back(entry.size);
            firsts.push_back(inside.first);
            extents.push_back(inside.count);
            reach.view.strides.push_back(strides[axis] * entry.stride);
        }
    }
    reach.view.shape = Shape(std::move(extents));
    if (reach.clipped) {
        reach.shape = Shape(std::move(accessed));
        reach.part = {0, reach.view.shape, rowMajorStrides(reach.shape)};
        for (std::size_t axis = 0; axis < firsts.size(); ++axis) {
            reach.part.offset += firsts[axis] * reach.part.strides[axis];
        }
    }
    return reach;
}

RuntimeValue Engine::loadAt(const Reach& reach, const Buffer& memory)
{
    if (!reach.clipped) {
        return memory.load(reach.view, reach.view.shape);
    }
    Buffer seen(memory.dtype(), reach.shape, memory.fill());
    if (!reach.empty) {
        seen.store(reach.part, memory.load(reach.view, reach.view.shape));
    }
    return seen.load(StridedView::whole(reach.shape), reach.shape);
}

void Engine::storeAt(const Reach& reach, Buffer& memory, RuntimeValue value)
{
    if (!reach.clipped) {
        memory.store(reach.view, std::move(value));
    } else if (!reach.empty) {
        Buffer stored(memory.dtype(), reach.shape, memory.fill());
        stored.store(StridedView::whole(reach.shape), std::move(value));
        memory.store(reach.view, stored.load(reach.part, reach.part.shape));
    }
}

void Engine::access(const ir::Operation& operation)
{
    PALLASCOPE_CHECK(binding(operation.operands[0]).buffer >= 0);
    const std::optional<Reach> reach = reachOf(operation);
    if (!reach || !m_needed.needs(operation)) { // then only its bounds count
        return;
    }
    Buffer& memory = buffer(binding(operation.operands[0]).buffer);
    // A plain store drops the old contents; reading them would cost a copy.
    if (operation.code == ir::OpCode::Get
        || m_used[static_cast<std::size_t>(operation.results[0].index)]) {
        value(operation.results[0]) = loadAt(*reach, memory);
    }
    if (operation.code == ir::OpCode::Swap) {
        storeAt(*reach, memory, value(operation.operands[1]));
    }
}

} // namespace pallascope::machine
