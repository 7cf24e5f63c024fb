// Copies of listed rows, of slices that reach beyond their arrays, and of elements that a mask
// takes. Listed rows are a gather if the list chooses rows of the source, and a scatter if it
// chooses rows of the target.
#include "core/ir/cp_async.h"
#include "core/machine/parts/manual_copies.h"

#include <algorithm>

namespace pallascope::machine {

namespace {

RefBinding rowOf(const RefBinding& ref, const Shape& memory, std::int64_t row)
{
    std::vector<Window> windows;
    const Shape& shape = shapeOf(ref, memory);
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        const Extent extent = shape[axis];
        windows.push_back(windows.empty() ? Window{row, 1, 1, false} : Window{0, extent, 1, true});
    }
    return narrowed(ref, memory, windows);
}

} // namespace

std::optional<ManualCopies::Rows> ManualCopies::listedRows(const ir::Operation& operation,
                                                           const RefBinding& source,
                                                           const RefBinding& target)
{
    const auto& params = std::get<ir::DmaParams>(operation.params);
    if (source.asked || target.asked) {
        m_ending.fail(userError(m_prepared.program.where(operation.location)
                                + ": dma_start takes listed rows of a slice that reaches into the "
                                  "padding of its array; use a slice inside of it."));
        return std::nullopt;
    }
    const ir::ValueId list = operation.operands.back();
    RuntimeValue read;
    if (m_prepared.program.type(list).isRef()) {
        m_copies.land(m_turn.agent().time);
        if (m_watch.isOn()) {
            m_watch.byOperation(operation);
        }
        m_watch.read(m_watch.in(m_turn.binding(list)));
        read = loadThrough(m_turn.binding(list), m_turn.buffer(m_turn.binding(list).buffer));
    }
    const RuntimeValue& numbers = m_prepared.program.type(list).isRef() ? read : m_turn.value(list);
    m_findings.reportUndefinedUse(numbers, trace::FindingKind::UndefinedIndex, "A list of rows",
                                  operation.location);
    const bool gathers = params.rows == ir::CopyRows::Source;
    const ir::ValueId from = operation.operands[0], to = operation.operands[1];
    const Extent rows =
        shapeOf(gathers ? source : target, m_turn.memoryShape(gathers ? from : to))[0];
    Rows found;
    for (std::int64_t i = 0; i < numbers.elements(); ++i) {
        const std::int64_t row = numbers.as<std::int32_t>()[i];
        if (params.ignored >= 0 && row == params.ignored) {
            continue;
        }
        if (row < 0 || row >= rows) {
            m_findings.stop(trace::found(
                trace::FindingKind::OutOfBounds,
                "dma_start lists row " + std::to_string(row) + " of "
                    + m_prepared.refName(gathers ? from : to) + " at place " + std::to_string(i)
                    + " of its list; it has " + std::to_string(rows) + " rows.",
                m_prepared.refName(gathers ? from : to), m_turn.agent().step, {},
                m_recorder.description().sourceLine(m_prepared.program, operation.location)));
            return std::nullopt;
        }
        found.emplace_back(rowOf(source, m_turn.memoryShape(from), gathers ? row : i),
                           rowOf(target, m_turn.memoryShape(to), gathers ? i : row));
    }
    return found;
}

// Sets all of the target before a copy that does not write to all of it, to zeros or to undefined
// elements.
void ManualCopies::fill(const ir::Operation& copy, const RefBinding& target, bool withZeros)
{
    const ir::ValueId to = copy.operands[1];
    if (!m_prepared.needed.needsContents(to)) {
        return;
    }
    m_copies.land(m_turn.agent().time); // copies that have ended come before this one
    Buffer& memory = m_turn.buffer(target.buffer);
    const DType dtype = m_prepared.program.type(to).dtype;
    const Shape room = shapeOf(target, m_turn.memoryShape(to));
    RuntimeValue rest =
        withZeros ? RuntimeValue::zeros(dtype, room) : Buffer(dtype, room, memory.fill()).loadAll();
    if (m_watch.isOn()) {
        m_watch.byOperation(copy);
    }
    const Watch::Writing writing(m_watch, m_watch.in(target), Touch::Kind::Cleared);
    storeThrough(target, memory, std::move(rest));
}

// Whether threads make the copy, element by element, as loads of a mask: those in the loops that
// Triton pipelines, and others with a mask.
bool ManualCopies::takesElements(const ir::Operation& operation) const
{
    const ir::ValueId source = operation.operands[0];
    return ir::isMaskedCopy(m_prepared.program, operation)
           || (operation.code == ir::OpCode::CopyGmemToSmem && m_turn.binding(source).asked
               && m_prepared.uses.masked[static_cast<std::size_t>(source.index)]);
}

// What is left out becomes undefined, as what a masked load leaves out.
std::optional<ManualCopies::Rows> ManualCopies::takenParts(const ir::Operation& operation,
                                                           const RefBinding& target)
{
    const RuntimeValue* const mask = ir::isMaskedCopy(m_prepared.program, operation)
                                         ? &m_turn.value(operation.operands.back())
                                         : nullptr;
    if (mask != nullptr) {
        m_findings.reportUndefinedUse(*mask, trace::FindingKind::UndefinedIndex, "A mask",
                                      operation.location);
    }
    const auto taken = m_accesses.copiedLanes(operation, mask);
    if (!taken) {
        return std::nullopt;
    }
    const Shape& memory = m_turn.memoryShape(operation.operands[1]);
    Rows parts;
    std::int64_t count = 0;
    for (const Accesses::Lanes& lanes : *taken) {
        std::vector<Window> windows;
        std::int64_t elements = 1;
        for (std::size_t axis = 0; axis < lanes.low.size(); ++axis) {
            windows.push_back({lanes.low[axis], lanes.high[axis] - lanes.low[axis] + 1, 1, true});
            elements *= windows.back().size;
        }
        count += elements;
        parts.emplace_back(lanes.where, narrowed(target, memory, windows));
    }
    if (count < shapeOf(target, memory).elements()) {
        fill(operation, target, false);
    }
    return parts;
}

// Copies only what exists at both ends. What is beyond the source reads as undefined, or as zeros
// by a GPU's TMA.
void ManualCopies::dropPadding(const ir::Operation& dmaStart, RefBinding& source,
                               RefBinding& target)
{
    const ir::ValueId from = dmaStart.operands[0], to = dmaStart.operands[1];
    const Shape there = viewOf(source, m_turn.memoryShape(from)).shape;
    const Shape room = viewOf(target, m_turn.memoryShape(to)).shape;
    if (source.asked) {
        const auto* load = std::get_if<ir::LoadCopyParams>(&dmaStart.params);
        fill(dmaStart, target, load != nullptr && load->outside == ir::OutsideMode::Zeros);
    }
    std::vector<Window> windows(there.rank());
    for (std::size_t axis = 0; axis < windows.size(); ++axis) {
        windows[axis].size = std::min(there[axis], room[axis]);
    }
    std::vector<Window> filled = windows; // behind what lies before the array
    for (std::size_t axis = 0; axis < windows.size() && source.asked && !source.asked->isEmpty;
         ++axis) {
        filled[axis].start = source.asked->first[axis];
    }
    source = narrowed(source, m_turn.memoryShape(from), windows);
    target = narrowed(target, m_turn.memoryShape(to), filled);
}

} // namespace pallascope::machine
