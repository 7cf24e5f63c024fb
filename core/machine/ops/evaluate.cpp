// Dispatches an operation to its function, and sets how the thread computes with subnormals
// meanwhile.
#include "core/machine/ops/evaluate.h"

#include "core/base/check.h"
#include "core/machine/arith/subnormals.h"
#include "core/machine/ops/ops.h"

namespace pallascope::machine {

namespace ops {

RuntimeValue engine(const Call&)
{
    PALLASCOPE_CHECK(false && "the engine evaluates the grid, memory and control");
}

} // namespace ops

namespace {

using Evaluate = RuntimeValue (*)(const ops::Call&);

constexpr Evaluate kEvaluations[] = {
#define OPERATION(code, name, least, most, roles, types, cost, evaluation) ops::evaluation,
#include "core/ir/operations.inc"
};

// Whether the operation computes with floats, and so treats subnormals as 0. Operations that move,
// select or convert keep subnormals; so do changes of the sign, remainders, and nextafter.
bool computes(ir::OpCode code)
{
    switch (code) {
    case ir::OpCode::Neg:
    case ir::OpCode::Abs:
    case ir::OpCode::Rem: // exact, so it can be subnormal
    case ir::OpCode::Nextafter:
        return false;
    case ir::OpCode::Sort: // it compares its keys
    case ir::OpCode::Scatter:
        return true;
    default:
        break;
    }
    switch (ir::opEntry(code).kind) {
    case ir::OpKind::Elementwise:
    case ir::OpKind::Transcendental:
    case ir::OpKind::Comparison:
    case ir::OpKind::Reduction:
    case ir::OpKind::Dot:
        return true;
    case ir::OpKind::Convert:
    case ir::OpKind::Select:
    case ir::OpKind::Layout:
    case ir::OpKind::Rearrange:
    case ir::OpKind::Crosslane:
    case ir::OpKind::Generate:
    case ir::OpKind::Memory:
    case ir::OpKind::View:
    case ir::OpKind::Request:
    case ir::OpKind::Sync:
    case ir::OpKind::Hint:
    case ir::OpKind::Control:
        break;
    }
    return false;
}

} // namespace

bool isPure(ir::OpCode code)
{
    return kEvaluations[static_cast<std::size_t>(code)] != &ops::engine;
}

RuntimeValue evaluate(const ir::Operation& operation, std::span<RuntimeValue* const> operands,
                      std::uint32_t dying, std::size_t result)
{
    bool ofFloats = false;
    for (const RuntimeValue* operand : operands) {
        PALLASCOPE_CHECK(operand->pitch == 0 || operation.code == ir::OpCode::DotGeneral);
        ofFloats = ofFloats || dtypeEntry(operand->dtype).kind == DTypeKind::Float;
    }
    const arith::Subnormals subnormals(ofFloats && computes(operation.code));
    return kEvaluations[static_cast<std::size_t>(operation.code)](
        {operation, operands, dying, result});
}

} // namespace pallascope::machine
