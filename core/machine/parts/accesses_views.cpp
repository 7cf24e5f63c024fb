// Makes views of refs.
#include "core/machine/parts/accesses.h"

namespace pallascope::machine {

using ir::OpCode;

// An array that is a block in the memory of another array ends where that array ends. What lies
// beyond cannot be seen in another shape.
bool Accesses::isCut(const ir::Operation& view, const RefBinding& ref, const Shape& memory)
{
    const Shape& there = shapeOf(ref, memory);
    const Shape& wanted = m_prepared.program.type(view.operands[0]).shape;
    if (there == wanted || view.code == OpCode::RefTranspose) {
        return false;
    }
    m_findings.stop(trace::found(
        trace::FindingKind::OutOfBounds,
        "A view in another form reaches all " + toString(wanted) + " elements of "
            + m_prepared.refName(view.operands[0]) + ", of which its array has " + toString(there)
            + ": the run stops there." + m_findings.calledFrom(view.location),
        m_prepared.refName(view.operands[0]), m_turn.agent().step, {},
        m_recorder.description().sourceLine(m_prepared.program, view.location)));
    return true;
}

void Accesses::bindView(const ir::Operation& operation)
{
    const RefBinding& ref = m_turn.binding(operation.operands[0]);
    const ir::Type& result = m_prepared.program.type(operation.results[0]);
    const Shape& memory = m_turn.memoryShape(operation.operands[0]);
    if (operation.code == OpCode::RefAt) {
        const std::optional<bool> isInside = findWindows(operation, shapeOf(ref, memory));
        if (isInside && *isInside) { // the usual case, which is made in place
            m_turn.binding(operation.results[0]) = narrowed(ref, memory, m_windows);
        } else if (isInside) {
            if (std::optional<Reached> reached = reachInside(operation, ref, memory)) {
                m_turn.binding(operation.results[0]) = std::move(reached->where);
            }
        }
        return;
    }
    if (isCut(operation, ref, memory)) {
        return;
    }
    switch (operation.code) {
    case OpCode::RefReshape:
        m_turn.binding(operation.results[0]) = reshaped(ref, memory, result.dtype, result.shape);
        return;
    case OpCode::RefBitcast:
        m_turn.binding(operation.results[0]) = bitcasted(ref, memory, result.dtype, result.shape);
        return;
    default:
        m_turn.binding(operation.results[0]) =
            transposed(ref, memory, std::get<ir::PermutationParams>(operation.params).permutation);
    }
}

} // namespace pallascope::machine
