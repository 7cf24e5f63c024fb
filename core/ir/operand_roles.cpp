#include "core/ir/operand_roles.h"

#include "core/ir/operand_rules.h"
#include "core/ir/program.h"
#include "core/ir/tensor_product.h"

namespace pallascope::ir {

OperandRole roleOf(const Operation& operation, std::size_t operand)
{
    const OperandRoles& roles = opEntry(operation.code).roles;
    return roles.rule != nullptr ? roles.rule(operation, operand) : roleAt(roles, operand);
}

namespace operand_rules {

namespace {

// The weights, operand 2, are loaded from where they are staged if that is named.
bool loadsWeights(const Operation& request)
{
    return request.operands.size() > 3;
}

} // namespace

OperandRole copied(const Operation& copy, std::size_t operand)
{
    const auto* params = std::get_if<DmaParams>(&copy.params);
    const bool adds = params != nullptr && params->add;
    return roleAt(adds ? roles(Read, Updated, Address) : roles(Read, Written, Address), operand);
}

OperandRole accumulated(const Operation& request, std::size_t operand)
{
    return roleAt(loadsWeights(request) ? roles(Updated, Value, Updated, Read)
                                        : roles(Updated, Value, Read),
                  operand);
}

OperandRole queued(const Operation& request, std::size_t operand)
{
    return operand == 0 ? Written : accumulated(request, operand);
}

OperandRole multiplied(const Operation& product, std::size_t operand)
{
    const auto* params = std::get_if<WgmmaParams>(&product.params);
    const bool isValue = params != nullptr && params->lhsInRegisters;
    return roleAt(isValue ? roles(Updated, Value, Read) : roles(Updated, Read, Read), operand);
}

OperandRole tensorProduct(const Operation& product, std::size_t operand)
{
    using namespace tensor_product;
    if (operand == kAccumulates) {
        return Value;
    }
    const bool isSum = operand == kSum || (operand == kSecond && isOfPair(product));
    return isSum ? Updated : Read;
}

// Pairs: where the answer goes, and the barrier on which it arrives.
OperandRole claimed(const Operation&, std::size_t operand)
{
    return operand % 2 == 0 ? Written : Address;
}

// Its arrays, then the extents of dynamic axes of its grid.
OperandRole pipelined(const Operation& pipeline, std::size_t operand)
{
    const auto& specs = std::get<PipelineParams>(pipeline.params).specs;
    if (operand >= specs.size()) {
        return Address;
    }
    switch (specs[operand].direction) {
    case BlockDirection::In:
        return Read;
    case BlockDirection::Out:
        return specs[operand].restores ? Updated : Written;
    case BlockDirection::InOut:
        return Updated;
    }
    return Value;
}

} // namespace operand_rules

} // namespace pallascope::ir
