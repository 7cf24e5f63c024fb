#include "core/cost/product_operands.h"

namespace pallascope::cost {

namespace {

// Everything that operations of the region make, and its arguments, at any depth.
void collectMade(const ir::Region& region, std::set<ir::ValueId>& made)
{
    made.insert(region.arguments.begin(), region.arguments.end());
    for (const ir::Operation& operation : region.operations) {
        made.insert(operation.results.begin(), operation.results.end());
        for (const ir::Region& inner : operation.regions) {
            collectMade(inner, made);
        }
    }
}

} // namespace

// A left operand that was computed stays in registers. What mma.sync reads from registers goes
// through shared memory on its way from GMEM, so it takes room there while it does.
std::set<ir::ValueId> ProductOperands::of(const ir::Operation& product) const
{
    std::set<ir::ValueId> found;
    const ir::ValueId left = m_sources.moved(product.operands[0]),
                      right = m_sources.moved(product.operands[1]);
    if (!m_sources.readsShared(product)) {
        for (const ir::ValueId operand : {left, right}) {
            if (m_sources.isLoadedFactor(operand)) {
                found.insert(operand);
            }
        }
        return found;
    }
    if (!m_sources.isLoad(left) && !m_sources.readsRegisters(product)) {
        found.insert(left);
    }
    if (!m_sources.isLoad(right)) {
        found.insert(right);
    }
    return found;
}

Bytes ProductOperands::sizeOf(ir::ValueId value) const
{
    const ir::Type& type = m_program.type(value);
    return packedBytes(type.dtype, type.shape.elements());
}

Bytes ProductOperands::before(const ir::Operation& loop, const ir::Operation* outer) const
{
    std::set<ir::ValueId> made, around, all;
    if (outer != nullptr) {
        for (const ir::Region& region : outer->regions) {
            collectMade(region, around);
        }
    }
    for (const ir::Region& region : loop.regions) {
        collectMade(region, made);
        ir::forEachOperation(region, [&](const ir::Operation& operation) {
            if (m_sources.readsShared(operation)) {
                const std::set<ir::ValueId> operands = of(operation);
                all.insert(operands.begin(), operands.end());
            }
        });
    }
    Bytes sum;
    for (const ir::ValueId value : all) {
        const bool isCounted = outer != nullptr && !around.contains(value);
        sum += made.contains(value) || isCounted ? Bytes(0) : sizeOf(value);
    }
    return sum;
}

Bytes ProductOperands::beside(const ir::Operation& product, const ir::Region& region) const
{
    Bytes sum;
    for (const ir::ValueId value : of(product)) {
        sum += m_sources.isMadeIn(value, region) ? sizeOf(value) : Bytes(0);
    }
    return sum;
}

} // namespace pallascope::cost
