#include "core/cost/left_out.h"

#include <optional>
#include <utility>
#include <vector>

namespace pallascope::cost {

using ir::OpCode;
using ir::OpKind;

LeftOut::LeftOut(const ir::Program& program, const chip::Chip& chip)
    : m_sources(program, chip)
{
    std::vector<const ir::Operation*> operations;
    ir::forEachOperation(program.body, [&](const ir::Operation& operation) {
        operations.push_back(&operation);
        note(operation);
    });
    for (auto one = operations.rbegin(); one != operations.rend(); ++one) {
        noteFactors(**one);
    }
}

void LeftOut::note(const ir::Operation& operation)
{
    for (const ir::ValueId operand : operation.operands) {
        ++m_uses[operand];
    }
    for (const ir::Region& region : operation.regions) {
        for (const ir::ValueId result : region.results) {
            ++m_uses[result];
        }
    }
    if (operation.code == OpCode::DotGeneral) {
        m_products.insert(operation.results[0]);
    } else if (operation.code == OpCode::Add) {
        const ir::ValueId first = operation.operands[0], second = operation.operands[1];
        for (const auto& [one, other] : {std::pair(first, second), std::pair(second, first)}) {
            if (m_products.contains(one)) {
                m_added.insert(one);
                if (m_sources.isZero(other)) {
                    m_products.insert(operation.results[0]);
                }
            }
        }
    }
}

bool LeftOut::has(const ir::Operation& operation) const
{
    switch (operation.code) {
    case OpCode::Add:
        return isLoneProduct(operation.operands[0]) || isLoneProduct(operation.operands[1]);
    case OpCode::Mul:
        return m_sources.isByOne(operation);
    case OpCode::SelectN:
        return m_sources.isMaskedLoad(operation) && isFactor(operation.results[0]);
    case OpCode::Transpose:
        return isFactor(operation.results[0])
               && !m_sources.isComputed(m_sources.moved(operation.results[0]));
    case OpCode::Get:
        return m_sources.isLoad(operation.results[0]) && isFactor(operation.results[0]);
    default:
        return false;
    }
}

bool LeftOut::isNotHeld(const ir::Operation& operation) const
{
    if (operation.results.size() != 1) {
        return false;
    }
    const ir::ValueId result = operation.results[0];
    const bool isAccumulated =
        operation.code == OpCode::DotGeneral && isLoneProduct(result) && m_added.contains(result);
    const bool isInShared =
        isFactor(result)
        && !(m_sources.isComputed(m_sources.moved(result)) && m_left.contains(result));
    return isAccumulated || isInShared || (has(operation) && operation.code != OpCode::Add);
}

bool LeftOut::isFactor(ir::ValueId value) const
{
    const auto factors = m_factors.find(value);
    return factors != m_factors.end() && factors->second == m_uses.at(value);
}

bool LeftOut::isLoneProduct(ir::ValueId value) const
{
    const auto uses = m_uses.find(value);
    return m_products.contains(value) && uses != m_uses.end() && uses->second == 1;
}

// Operations must come in the reverse of their order.
void LeftOut::noteFactors(const ir::Operation& operation)
{
    const bool isUsedSo = !operation.results.empty() && isFactor(operation.results[0])
                          && (ir::opEntry(operation.code).kind == OpKind::Layout
                              || m_sources.movedFrom(operation.results[0]));
    if (m_sources.readsRegisters(operation)) {
        std::optional<ir::ValueId> value = operation.operands[0];
        for (; value; value = m_sources.movedFrom(*value)) {
            m_left.insert(*value);
        }
    }
    if (m_sources.readsShared(operation) || isUsedSo) {
        for (const ir::ValueId operand : operation.operands) {
            ++m_factors[operand];
        }
    }
}

} // namespace pallascope::cost
