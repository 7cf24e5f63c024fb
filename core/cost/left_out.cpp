#include "core/cost/left_out.h"

namespace pallascope::cost {

using ir::OpCode;
using ir::OpKind;

LeftOut::LeftOut(const ir::Program& program, const chip::Chip& chip)
    : m_program(program)
    , m_chip(chip)
{
    std::vector<const ir::Operation*> operations;
    note(program.body, operations);
    for (auto one = operations.rbegin(); one != operations.rend(); ++one) {
        noteFactors(**one);
    }
}

void LeftOut::note(const ir::Region& region, std::vector<const ir::Operation*>& all)
{
    for (const ir::Operation& operation : region.operations) {
        all.push_back(&operation);
        for (const ir::ValueId result : operation.results) {
            m_regions[result] = &region;
        }
        note(operation);
        for (const ir::Region& inner : operation.regions) {
            note(inner, all);
        }
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
    if (operation.results.empty()) {
        return;
    }
    const ir::ValueId result = operation.results[0];
    const auto fromShared = [&] {
        return *m_program.type(operation.operands[0]).space == ir::MemorySpace::Smem;
    };
    const auto isOfNumber = [&] {
        const ir::ValueId operand = operation.operands[0];
        return m_numbers.contains(operand) || m_program.value(operand).literal.has_value();
    };
    if (operation.code == OpCode::Mul && isByOne(operation)) {
        m_moved.emplace(result, operation.operands[m_ones.contains(operation.operands[0]) ? 1 : 0]);
    } else if (operation.code == OpCode::Transpose) {
        m_moved.emplace(result, operation.operands[0]);
    } else if (isMaskedLoad(operation)) {
        m_moved.emplace(result,
                        operation.operands[m_loads.contains(operation.operands[1]) ? 1 : 2]);
    }
    const OpKind kind = ir::opEntry(operation.code).kind;
    if (operation.code == OpCode::DotGeneral) {
        m_products.insert(result);
    } else if (operation.code == OpCode::Add) {
        for (const ir::ValueId operand : operation.operands) {
            if (m_products.contains(operand)) {
                m_accumulated.insert(operand);
            }
        }
        noteSumWithZero(operation);
        m_computed.insert(result);
    } else if (operation.code == OpCode::Get && fromShared()) {
        m_loads.insert(result);
    } else if (operation.code == OpCode::BroadcastInDim && isOfNumber()) {
        m_numbers.insert(result);
        const std::optional<double> number = m_program.value(operation.operands[0]).literal;
        if (number == 1) {
            m_ones.insert(result);
        }
        if (number == 0) {
            m_zeros.insert(result);
        }
    } else if (kind == OpKind::Convert && isOfNumber()) {
        m_numbers.insert(result);
    } else if (kind != OpKind::Memory && kind != OpKind::Layout && kind != OpKind::Generate
               && operation.regions.empty() && !m_moved.contains(result)) {
        m_computed.insert(result);
    }
}

// A product that zeros are added to is still one that the next addition can be part of.
void LeftOut::noteSumWithZero(const ir::Operation& sum)
{
    const ir::ValueId first = sum.operands[0], second = sum.operands[1];
    if ((m_products.contains(first) && m_zeros.contains(second))
        || (m_zeros.contains(first) && m_products.contains(second))) {
        m_products.insert(sum.results[0]);
    }
}

bool LeftOut::has(const ir::Operation& operation) const
{
    switch (operation.code) {
    case OpCode::Add:
        return isLoneProduct(operation.operands[0]) || isLoneProduct(operation.operands[1]);
    case OpCode::Mul:
        return isByOne(operation);
    case OpCode::SelectN:
        return isMaskedLoad(operation) && isFactor(operation.results[0]);
    case OpCode::Transpose:
        return isFactor(operation.results[0]) && !m_computed.contains(moved(operation.results[0]));
    case OpCode::Get:
        return m_loads.contains(operation.results[0]) && isFactor(operation.results[0]);
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
    const bool isAccumulated = operation.code == OpCode::DotGeneral && isLoneProduct(result)
                               && m_accumulated.contains(result);
    const bool isInShared =
        isFactor(result)
        && !(m_computed.contains(moved(result)) && m_leftOperands.contains(result));
    return isAccumulated || isInShared || (has(operation) && operation.code != OpCode::Add);
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

bool LeftOut::isMaskedLoad(const ir::Operation& operation) const
{
    if (operation.code != OpCode::SelectN || operation.operands.size() != 3) {
        return false;
    }
    const ir::ValueId first = operation.operands[1], second = operation.operands[2];
    return (m_loads.contains(first) && m_numbers.contains(second))
           || (m_numbers.contains(first) && m_loads.contains(second));
}

bool LeftOut::readsRegisters(const ir::Operation& product) const
{
    const ir::ValueId left = moved(product.operands[0]);
    const auto made = m_regions.find(left);
    return m_computed.contains(left) && made != m_regions.end()
           && made->second == m_regions.at(product.results[0]);
}

ir::ValueId LeftOut::moved(ir::ValueId value) const
{
    const auto from = m_moved.find(value);
    return from == m_moved.end() ? value : moved(from->second);
}

// The tensor core does so from compute capability 9 on, where an instruction's rows are there.
bool LeftOut::readsShared(const ir::Operation& product) const
{
    if (product.code != OpCode::DotGeneral || !m_chip.multiprocessor
        || m_chip.multiprocessor->computeMajor < 9) {
        return false;
    }
    const chip::Unit* unit = m_chip.unitOf(UnitKind::Matrix, 0);
    const Shape& shape = m_program.type(product.results[0]).shape;
    return unit != nullptr && shape.rank() == 2 && shape[0] >= unit->rowGranule;
}

// Operations must come in the reverse of their order.
void LeftOut::noteFactors(const ir::Operation& operation)
{
    const bool moves = ir::opEntry(operation.code).kind == OpKind::Layout
                       || operation.code == OpCode::Transpose || isMaskedLoad(operation)
                       || (operation.code == OpCode::Mul && isByOne(operation));
    const bool isUsedSo = moves && isFactor(operation.results[0]);
    if ((readsShared(operation) && readsRegisters(operation))
        || (isUsedSo && m_leftOperands.contains(operation.results[0]))) {
        m_leftOperands.insert(operation.operands[0]);
    }
    if (readsShared(operation) || isUsedSo) {
        for (const ir::ValueId operand : operation.operands) {
            ++m_factors[operand];
        }
    }
}

} // namespace pallascope::cost
