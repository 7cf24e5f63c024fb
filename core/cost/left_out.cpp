#include "core/cost/left_out.h"

namespace pallascope::cost {

using ir::OpCode;

LeftOut::LeftOut(const ir::Program& program, std::span<const ir::Operation* const> operations,
                 const chip::Chip& chip)
    : m_program(program)
    , m_readsShared(chip.multiprocessor && chip.multiprocessor->computeMajor >= 9)
{
    for (const ir::Operation* operation : operations) {
        for (const ir::ValueId operand : operation->operands) {
            ++m_uses[operand];
        }
        if (operation->code == OpCode::DotGeneral) {
            m_products.insert(operation->results[0]);
        }
        const bool repeats = operation->code == OpCode::BroadcastInDim;
        if (const auto& number =
                repeats ? program.value(operation->operands[0]).literal : std::nullopt;
            number && *number == 1) {
            m_ones.insert(operation->results[0]);
        }
    }
    for (auto one = operations.rbegin(); one != operations.rend(); ++one) {
        noteFactors(**one);
    }
}

bool LeftOut::has(const ir::Operation& operation) const
{
    switch (operation.code) {
    case OpCode::Add:
        return isLoneProduct(operation.operands[0]) || isLoneProduct(operation.operands[1]);
    case OpCode::Mul:
        return isByOne(operation);
    case OpCode::Get:
        return m_readsShared
               && *m_program.type(operation.operands[0]).space == ir::MemorySpace::Smem
               && isFactor(operation.results[0]);
    default:
        return false;
    }
}

bool LeftOut::isFactor(ir::ValueId value) const
{
    const auto factors = m_factors.find(value);
    return factors != m_factors.end() && factors->second == m_uses.at(value);
}

bool LeftOut::isLoneProduct(ir::ValueId value) const
{
    return m_products.contains(value) && m_uses.at(value) == 1;
}

bool LeftOut::isByOne(const ir::Operation& operation) const
{
    return m_ones.contains(operation.operands[0]) || m_ones.contains(operation.operands[1]);
}

// Operations must come in the reverse of their order.
void LeftOut::noteFactors(const ir::Operation& operation)
{
    const bool moves = ir::opEntry(operation.code).kind == ir::OpKind::Layout
                       || operation.code == OpCode::Transpose
                       || (operation.code == OpCode::Mul && isByOne(operation));
    const bool isUsedSo = moves && isFactor(operation.results[0]);
    if (operation.code == OpCode::DotGeneral || isUsedSo) {
        for (const ir::ValueId operand : operation.operands) {
            ++m_factors[operand];
        }
    }
}

} // namespace pallascope::cost
