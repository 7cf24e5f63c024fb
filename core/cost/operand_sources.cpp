#include "core/cost/operand_sources.h"

#include "core/chip/multiprocessor.h"
#include "core/cost/matrix_run.h"
#include "core/ir/infer.h"

namespace pallascope::cost {

using ir::OpCode;
using ir::OpKind;

OperandSources::OperandSources(const ir::Program& program, const chip::Chip& chip)
    : m_program(program)
    , m_chip(chip)
{
    note(program.body, 0);
}

void OperandSources::note(const ir::Region& region, std::int64_t tritonWarps)
{
    for (const ir::Operation& operation : region.operations) {
        if (tritonWarps > 0 && tritonWarps % 4 == 0 && mayReadShared(operation)) {
            m_fromShared.insert(operation.results[0]);
        }
        const auto* mesh = std::get_if<ir::CoreMapParams>(&operation.params);
        const std::int64_t warps = mesh == nullptr ? tritonWarps
                                   : mesh->compiler == ir::kTriton
                                       ? mesh->threads / chip::kWarpThreads
                                       : 0;
        if (!operation.results.empty()) {
            m_regions[operation.results[0]] = &region;
            noteMoved(operation);
            note(operation);
        }
        for (const ir::Region& inner : operation.regions) {
            note(inner, warps);
        }
    }
    if (tritonWarps > 0) {
        noteChained(region);
        noteFactors(region);
    }
}

void OperandSources::noteFactors(const ir::Region& region)
{
    for (const ir::Operation& operation : region.operations) {
        if (operation.code == OpCode::DotGeneral && !readsShared(operation)) {
            m_factors.insert(moved(operation.operands[0]));
            m_factors.insert(moved(operation.operands[1]));
        }
    }
}

// Products of a region that are joined by what they read and make there, through any of its other
// operations but transposes. docs/machine.md names the source, as for warpGrid().
void OperandSources::noteChained(const ir::Region& region)
{
    std::map<ir::ValueId, std::size_t> makers;
    std::vector<std::size_t> leaders;
    const auto leaderOf = [&](std::size_t operation) {
        while (leaders[operation] != operation) { // shorter for the next one that asks
            operation = leaders[operation] = leaders[leaders[operation]];
        }
        return operation;
    };
    std::map<std::size_t, std::vector<ir::ValueId>> products; // by their leader
    for (const ir::Operation& operation : region.operations) {
        const std::size_t own = leaders.size();
        leaders.push_back(own);
        if (operation.code == OpCode::Transpose) {
            continue;
        }
        for (const ir::ValueId operand : operation.operands) {
            if (const auto maker = makers.find(operand); maker != makers.end()) {
                leaders[leaderOf(maker->second)] = own;
            }
        }
        for (const ir::ValueId result : operation.results) {
            makers[result] = own;
        }
    }
    for (const ir::Operation& operation : region.operations) {
        if (operation.code == OpCode::DotGeneral) {
            const ir::ValueId result = operation.results[0];
            products[leaderOf(makers.at(result))].push_back(result);
        }
    }
    for (const auto& [leader, joined] : products) {
        const Shape& first = m_program.type(joined.front()).shape;
        for (const ir::ValueId product : joined) {
            if (joined.size() > 1 && first.rank() == 2) {
                m_chained.emplace(product, first[0] >= first[1] ? Chained::Rows : Chained::Columns);
            }
        }
    }
}

void OperandSources::noteMoved(const ir::Operation& operation)
{
    const ir::ValueId result = operation.results[0];
    const auto elementsOf = [&](ir::ValueId value) {
        return m_program.type(value).shape.elements();
    };
    const bool isReshaped = ir::opEntry(operation.code).kind == OpKind::Layout
                            && elementsOf(operation.operands[0]) == elementsOf(result);
    if (operation.code == OpCode::Transpose || isReshaped) {
        m_moved.emplace(result, operation.operands[0]);
        if (operation.code == OpCode::Transpose) {
            m_transposed.insert(result);
        }
    } else if (isByOne(operation)) {
        m_moved.emplace(result, operation.operands[isNumber(operation.operands[0], 1) ? 1 : 0]);
    } else if (isMaskedLoad(operation)) {
        m_moved.emplace(result, operation.operands[isLoad(operation.operands[1]) ? 1 : 2]);
    }
}

void OperandSources::note(const ir::Operation& operation)
{
    const ir::ValueId result = operation.results[0];
    const OpKind kind = ir::opEntry(operation.code).kind;
    if (repeatsNumber(operation)) {
        const ir::ValueId number = operation.operands[0];
        const auto& literal = m_program.value(number).literal;
        m_numbers.emplace(result, literal ? *literal : m_numbers.at(number));
    } else if (operation.code == OpCode::Get || operation.code == OpCode::MaskedLoad) {
        const ir::MemorySpace space = *m_program.type(operation.operands[0]).space;
        if (space == ir::MemorySpace::Smem && operation.code == OpCode::Get) {
            m_loads.insert(result);
        } else if (ir::isFar(space)) {
            m_farLoads.insert(result);
        }
    } else if (kind != OpKind::Memory && kind != OpKind::Layout && kind != OpKind::Generate
               && operation.regions.empty() && !m_moved.contains(result)) {
        m_computed.insert(result);
    }
}

// Whether each element of its result is the same number.
bool OperandSources::repeatsNumber(const ir::Operation& operation) const
{
    const bool mayRepeat = operation.code == OpCode::BroadcastInDim
                           || ir::opEntry(operation.code).kind == OpKind::Convert;
    return mayRepeat
           && (m_program.value(operation.operands[0]).literal.has_value()
               || m_numbers.contains(operation.operands[0]));
}

bool OperandSources::isNumber(ir::ValueId value, double number) const
{
    const auto found = m_numbers.find(value);
    return found != m_numbers.end() && found->second == number;
}

bool OperandSources::isByOne(const ir::Operation& operation) const
{
    return operation.code == OpCode::Mul
           && (isNumber(operation.operands[0], 1) || isNumber(operation.operands[1], 1));
}

bool OperandSources::isMaskedLoad(const ir::Operation& operation) const
{
    if (operation.code != OpCode::SelectN || operation.operands.size() != 3) {
        return false;
    }
    const ir::ValueId first = operation.operands[1], second = operation.operands[2];
    return (isLoad(first) && m_numbers.contains(second))
           || (m_numbers.contains(first) && isLoad(second));
}

// wgmma and tcgen05 have at least 64 rows (CUDA PTX ISA), from compute capability 9 on.
bool OperandSources::mayReadShared(const ir::Operation& operation) const
{
    constexpr std::int64_t kRows = 64, kFirst = 9;
    if (operation.code != OpCode::DotGeneral || !m_chip.multiprocessor
        || m_chip.multiprocessor->computeMajor < kFirst
        || isFullPrecision(m_chip, m_program, operation)) {
        return false;
    }
    const Shape& shape = m_program.type(operation.results[0]).shape;
    return shape.rank() == 2 && shape[0] >= kRows;
}

bool OperandSources::readsShared(const ir::Operation& product) const
{
    return product.code == OpCode::DotGeneral && m_fromShared.contains(product.results[0]);
}

bool OperandSources::readsRegisters(const ir::Operation& product) const
{
    if (!readsShared(product)) {
        return false;
    }
    const ir::ValueId left = moved(product.operands[0]);
    return isComputed(left) && isMadeIn(left, *m_regions.at(product.results[0]));
}

bool OperandSources::isMadeIn(ir::ValueId value, const ir::Region& region) const
{
    const auto made = m_regions.find(value);
    return made != m_regions.end() && made->second == &region;
}

std::optional<ir::ValueId> OperandSources::movedFrom(ir::ValueId value) const
{
    const auto from = m_moved.find(value);
    return from == m_moved.end() ? std::nullopt : std::optional(from->second);
}

bool OperandSources::isTransposed(ir::ValueId value) const
{
    for (std::optional<ir::ValueId> at = value; at; at = movedFrom(*at)) {
        if (m_transposed.contains(*at)) {
            return true;
        }
    }
    return false;
}

ir::ValueId OperandSources::moved(ir::ValueId value) const
{
    while (const std::optional<ir::ValueId> from = movedFrom(value)) {
        value = *from;
    }
    return value;
}

} // namespace pallascope::cost
