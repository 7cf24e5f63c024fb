#include "core/machine/parts/accesses.h"

#include "core/base/check.h"
#include "core/cost/budget.h"
#include "core/cost/tiling.h"
#include "core/ir/infer.h"
#include "core/machine/ops/evaluate.h"

#include <algorithm>

namespace pallascope::machine {

using ir::OpCode;

namespace {

// The type of the elements that a ref shows.
DType dtypeOf(const RefBinding& ref, const Buffer& memory)
{
    return ref.recasts.empty() ? memory.dtype() : ref.recasts.back().dtype;
}

// Which of `size` elements, starting at `start` and `stride` apart, lie in [0, extent).
struct Inside
{
    std::int64_t first, count;
};

Inside insideOf(std::int64_t start, std::int64_t size, std::int64_t stride, std::int64_t extent)
{
    if (stride == 0) { // the same element again and again
        return {0, start >= 0 && start < extent ? size : 0};
    }
    const std::int64_t first = start < 0 ? ceilDiv(-start, stride) : 0;
    const std::int64_t end = start < extent ? ceilDiv(extent - start, stride) : 0;
    return {first, std::max<std::int64_t>(0, std::min(end, size) - first)};
}

} // namespace

Accesses::Accesses(const Context& context, Copies& copies, Findings& findings)
    : Part(context)
    , m_copies(copies)
    , m_findings(findings)
    , m_hasL2(copies.hasL2())
{}

bool Accesses::stopsOutside(const ir::Operation& operation) const
{
    return m_settings.outOfBoundsReads != OutOfBoundsReads::Uninitialized
           || operation.code == OpCode::RefAt;
}

// Stops the run, unless the settings let it go on. A view cannot go on: it has no elements that
// could read as undefined.
bool Accesses::leavesRef(const ir::Operation& operation, std::size_t axis, std::int64_t start,
                         std::int64_t last, std::int64_t extent)
{
    const std::string ref = m_prepared.refName(operation.operands[0]);
    const std::string what =
        (operation.code == OpCode::RefAt  ? "A slice"
         : ir::isAtomic(operation.code)   ? "An atomic operation"
         : ir::storesInto(operation.code) ? "A store"
                                          : "A load")
        + std::string(" reaches ")
        + (start == last ? "element " + std::to_string(start)
                         : "elements " + std::to_string(start) + " to " + std::to_string(last))
        + " on axis " + std::to_string(axis) + " of " + ref + ", which has "
        + std::to_string(extent);
    const bool goesOn = !stopsOutside(operation);
    const char* const then = operation.code == OpCode::RefAt ? ": the run stops there."
                             : !goesOn                       ? kStopsUnlessSet
                             : !ir::storesInto(operation.code)
                                 ? ": those outside read as undefined."
                                 : ": those outside are dropped.";
    trace::Finding finding = trace::found(
        trace::FindingKind::OutOfBounds, what + then + m_findings.calledFrom(operation.location),
        ref, m_turn.agent().step, {},
        m_recorder.description().sourceLine(m_prepared.program, operation.location));
    if (goesOn) {
        m_recorder.addFinding(std::move(finding));
    } else {
        m_findings.stop(std::move(finding));
    }
    return goesOn;
}

// An array in memory of a TPU occupies whole tiles, and copies may include the padding behind it.
// Those of JAX's emit_pipeline do (jax/_src/pallas/mosaic/pipeline.py,
// BufferedRefBase.get_dma_slice). A GPU's TMA takes any block, even one that lies beside its array
// as a whole: it fills with zeros what is outside when it loads, and drops it when it stores (PTX
// ISA, tensors: out-of-bound accesses). JAX makes a plain copy of some stores, which would write
// nothing of a block that begins before its array (launch_context.py, is_simple_contiguous_copy).
bool Accesses::isPadding(const ir::Operation& operation, const Shape& extents, std::size_t axis,
                         std::int64_t start, std::int64_t last) const
{
    if (operation.code != OpCode::RefAt
        || m_prepared.uses.beside[static_cast<std::size_t>(operation.results[0].index)]) {
        return false;
    }
    if (m_prepared.chip.multiprocessor) {
        const auto view = static_cast<std::size_t>(operation.results[0].index);
        return (start >= 0 || !m_prepared.uses.besideLoads[view]) && !m_prepared.uses.promised[view]
               && ir::isFar(*m_prepared.program.type(operation.operands[0]).space);
    }
    if (start < 0 || start >= extents[axis]) {
        return false;
    }
    const Shape& root = m_prepared.program.type(m_prepared.rootOf(operation.operands[0])).shape;
    const std::size_t behind = extents.rank() - axis;
    if (behind > root.rank() || root[root.rank() - behind] != extents[axis]) {
        return false;
    }
    const auto near = cost::memoryOf(ir::MemorySpace::Vmem, m_prepared.chip);
    if (!near) {
        return false;
    }
    const auto& native = m_prepared.chip.memories[static_cast<std::size_t>(*near)].tile;
    const DType dtype = m_prepared.program.type(operation.operands[0]).dtype;
    return last < alignTo(extents[axis], cost::tiling(dtype, extents, native)[axis]);
}

// A wait only counts the bytes of its ref, wherever they would lie.
bool Accesses::mustLieInside(const ir::Operation& operation) const
{
    return operation.code != OpCode::RefAt
           || m_prepared.uses.reaches[static_cast<std::size_t>(operation.results[0].index)];
}

std::optional<bool> Accesses::findWindows(const ir::Operation& operation, const Shape& extents)
{
    const RuntimeValue* undefined = nullptr;
    const auto dynamic = [&](std::int32_t operand, std::int64_t otherwise) {
        if (operand < 0) {
            return otherwise;
        }
        const ir::ValueId id = operation.operands[static_cast<std::size_t>(operand)];
        undefined = m_turn.value(id).shadow.all() ? undefined : &m_turn.value(id);
        return m_turn.number(id);
    };
    const bool reaches = mustLieInside(operation);
    m_windows.clear();
    bool isInside = true;
    for (const ir::IndexEntry& entry : std::get<ir::IndexerParams>(operation.params).entries) {
        const Extent extent = extents[m_windows.size()];
        Window window{dynamic(entry.operand, entry.start), dynamic(entry.sizeOperand, entry.size),
                      entry.stride, entry.isSlice};
        if (window.size == 0) { // an empty window may lie anywhere
            window.start = 0;
        }
        isInside = isInside && window.size >= 0
                   && (!reaches || (window.start >= 0 && window.last() < extent));
        m_windows.push_back(window);
    }
    if (undefined != nullptr) {
        const bool ends = !isInside && stopsOutside(operation);
        m_findings.reportUndefinedUse(*undefined, trace::FindingKind::UndefinedIndex,
                                      ends ? kIndexThatStops : "An index", operation.location);
        if (ends) { // one cause makes one finding
            m_ending.stop(trace::findingEntry(trace::FindingKind::UndefinedIndex).name);
            return std::nullopt;
        }
    }
    return isInside;
}

std::optional<Accesses::Reached> Accesses::reach(const ir::Operation& operation)
{
    const RefBinding& ref = m_turn.binding(operation.operands[0]);
    const Shape& memory = m_turn.memoryShape(operation.operands[0]);
    const std::optional<bool> isInside = findWindows(operation, shapeOf(ref, memory));
    if (!isInside) {
        return std::nullopt;
    }
    return *isInside ? Reached{narrowed(ref, memory, m_windows), nullptr}
                     : reachInside(operation, ref, memory);
}

// The buffer element that a get of one element loads, if the access needs no further check.
// Otherwise empty, and the caller uses reach().
std::optional<std::int64_t> Accesses::elementOf(const ir::Operation& get)
{
    const RefBinding& ref = m_turn.binding(get.operands[0]);
    if (m_prepared.program.type(get.results[0]).shape.rank() > 0 || !ref.recasts.empty()) {
        return {};
    }
    const Shape& extents = ref.whole ? m_turn.buffer(ref.buffer).shape() : ref.view.shape;
    std::int64_t element = ref.whole ? 0 : ref.view.offset;
    std::size_t axis = 0;
    for (const ir::IndexEntry& entry : std::get<ir::IndexerParams>(get.params).entries) {
        std::int64_t index = entry.start;
        if (entry.operand >= 0) {
            const RuntimeValue& given =
                m_turn.value(get.operands[static_cast<std::size_t>(entry.operand)]);
            if (!given.shadow.all()) {
                return {};
            }
            index = static_cast<std::int64_t>(given.scalar);
        }
        if (index < 0 || index >= extents[axis]) {
            return {};
        }
        element =
            ref.whole ? element * extents[axis] + index : element + index * ref.view.strides[axis];
        ++axis;
    }
    return element;
}

// Handles m_windows of which some leave the ref.
std::optional<Accesses::Reached> Accesses::reachInside(const ir::Operation& operation,
                                                       const RefBinding& ref, const Shape& memory)
{
    const Shape& extents = shapeOf(ref, memory);
    const bool reaches = mustLieInside(operation);
    Reached reached;
    Extents accessed, firsts;
    const bool isMasked =
        operation.code == OpCode::RefAt
        && m_prepared.uses.masked[static_cast<std::size_t>(operation.results[0].index)]
        && ir::isFar(*m_prepared.program.type(operation.operands[0]).space);
    const std::vector<Window> windows = isMasked ? m_windows : std::vector<Window>();
    bool pads = isMasked, empty = false;
    for (std::size_t axis = 0; axis < m_windows.size(); ++axis) {
        Window& window = m_windows[axis];
        const auto [start, size, stride, isSlice] = window;
        const std::int64_t last = window.last();
        Inside inside{0, size};
        const bool leaves = reaches && (start < 0 || last >= extents[axis]);
        if (leaves && isMasked) {
            inside = insideOf(start, size, stride, extents[axis]);
            empty = empty || inside.count == 0;
        } else if (leaves && isPadding(operation, extents, axis, start, last)) {
            pads = true;
            inside = insideOf(start, size, stride, extents[axis]);
            empty = empty || inside.count == 0;
        } else if (size < 0 || leaves) {
            if (!reached.clipped && !leavesRef(operation, axis, start, last, extents[axis])) {
                return std::nullopt;
            }
            if (!reached.clipped) {
                reached.clipped = std::make_unique<Reached::Clipped>();
            }
            inside = insideOf(start, size, stride, extents[axis]);
            empty = empty || inside.count == 0;
        }
        window = {inside.count > 0 || isMasked ? start + inside.first * stride : 0, inside.count,
                  stride, isSlice};
        if (isSlice) {
            accessed.push_back(size);
            firsts.push_back(inside.first);
        }
    }
    reached.where = narrowed(ref, memory, m_windows);
    if (pads) {
        reached.where.asked = std::make_shared<const Asked>(
            Asked{Shape(accessed), windows, extents.extents(), firsts, empty});
    }
    if (reached.clipped) {
        const Shape shape(std::move(accessed));
        StridedView part{0, shapeOf(reached.where, memory), rowMajorStrides(shape)};
        for (std::size_t axis = 0; axis < firsts.size(); ++axis) {
            part.offset += firsts[axis] * part.strides[axis];
        }
        *reached.clipped = {shape, std::move(part), empty};
    }
    return reached;
}

RuntimeValue Accesses::loadAt(const Reached& reached, const Buffer& memory)
{
    if (!reached.clipped) {
        return loadThrough(reached.where, memory);
    }
    const auto& [shape, part, empty] = *reached.clipped;
    Buffer seen(dtypeOf(reached.where, memory), shape, memory.fill());
    if (!empty) {
        seen.store(part, loadThrough(reached.where, memory));
    }
    return seen.loadAll();
}

void Accesses::storeAt(const Reached& reached, Buffer& memory, RuntimeValue value)
{
    if (!reached.clipped) {
        storeThrough(reached.where, memory, std::move(value));
    } else if (const auto& [shape, part, empty] = *reached.clipped; !empty) {
        Buffer stored(dtypeOf(reached.where, memory), shape, memory.fill());
        stored.storeAll(std::move(value));
        storeThrough(reached.where, memory, stored.load(part, part.shape));
    }
}

void Accesses::access(const Evaluation& evaluation, bool asRows)
{
    const ir::Operation& operation = *evaluation.operation;
    const RefBinding& ref = m_turn.binding(operation.operands[0]);
    PALLASCOPE_CHECK(ref.buffer >= 0);
    Buffer& memory = m_turn.buffer(ref.buffer);
    // A plain store drops the old contents; reading them would cost a copy.
    const bool stores = operation.code == OpCode::Swap;
    const bool loads =
        !stores || m_prepared.plan.uses[static_cast<std::size_t>(operation.results[0].index)] > 0;
    if (!evaluation.partial && ref.whole && memory.shape().rank() > 0) { // the usual case
        if (loads) {
            m_watch.read(m_watch.in(ref));
            m_turn.value(operation.results[0]) = asRows ? memory.loadRows() : memory.loadAll();
            noteLoad(ref, operation);
        }
        if (stores) {
            const Watch::Writing writing(m_watch, m_watch.in(ref));
            m_copies.noteStored(ref, m_turn.value(operation.operands[1]), operation.location);
            memory.storeAll(m_turn.value(operation.operands[1]));
        }
        return; // races are checked with the segment's accesses
    }
    const bool isChecked = evaluation.partial && mayRace(ref);
    if (!isChecked && !stores) {
        if (const std::optional<std::int64_t> element = elementOf(operation)) {
            if (isCached(operation)) {
                noteReached(operation, {ref.buffer, false, {*element, Shape(), {}}, {}, nullptr});
            }
            if (!evaluation.touches) {
                m_watch.read(m_watch.in(ref.buffer, *element));
                m_turn.value(operation.results[0]) = memory.loadElement(*element);
                noteLoad({ref.buffer, false, {*element, Shape(), {}}, {}, nullptr}, operation);
            }
            return;
        }
    }
    const std::optional<Reached> reached = reach(operation);
    if (!reached) {
        return;
    }
    const bool isAllOutside = reached->clipped && reached->clipped->empty;
    if (evaluation.partial && isCached(operation)) {
        noteReached(operation, isAllOutside ? RefBinding() : reached->where);
    }
    if (isChecked && !isAllOutside) {
        checkRace(operation.operands[0], operation, stores, reached->where);
    }
    if (evaluation.touches) { // it matters only which elements it accesses
        return;
    }
    const Watch::Hits hits = isAllOutside ? Watch::Hits() : m_watch.in(reached->where);
    if (loads) {
        m_watch.read(hits);
        m_turn.value(operation.results[0]) = loadAt(*reached, memory);
        if (!reached->clipped) {
            noteLoad(reached->where, operation);
        }
    }
    if (stores) {
        const Watch::Writing writing(m_watch, hits);
        m_copies.noteStored(ref, m_turn.value(operation.operands[1]), operation.location);
        storeAt(*reached, memory, m_turn.value(operation.operands[1]));
    }
}

// Loads for an index map from memory as it is now. The map of a later step may see what bodies
// have stored by then.
RuntimeValue Accesses::loadIndex(const ir::Operation& get, std::span<const std::int64_t> indices)
{
    for (std::size_t i = 1; i < indices.size(); ++i) {
        m_turn.value(get.operands[i]).becomeScalar(DType::Int32, static_cast<double>(indices[i]));
    }
    m_copies.land(m_turn.agent().time); // a manual DMA that has ended may have written the element
    if (m_watch.isOn()) {
        m_watch.byOperation(get);
    }
    if (const std::optional<std::int64_t> element = elementOf(get)) {
        m_watch.read(m_watch.in(m_turn.binding(get.operands[0]).buffer, *element));
        RuntimeValue loaded =
            m_turn.buffer(m_turn.binding(get.operands[0]).buffer).loadElement(*element);
        m_findings.reportUndefinedUse(loaded, trace::FindingKind::UndefinedIndex, "An index map",
                                      get.location);
        return loaded;
    }
    const std::optional<Reached> reached = reach(get);
    if (!reached) {
        const ir::Type& type = m_prepared.program.type(get.results[0]);
        return RuntimeValue::zeros(type.dtype, type.shape);
    }
    m_watch.read(m_watch.in(reached->where));
    RuntimeValue loaded = loadAt(*reached, m_turn.buffer(reached->where.buffer));
    m_findings.reportUndefinedUse(loaded, trace::FindingKind::UndefinedIndex, "An index map",
                                  get.location);
    return loaded;
}

} // namespace pallascope::machine
